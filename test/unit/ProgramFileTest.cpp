// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/ProgramFile.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace chronicle;
using namespace llvm;

namespace {

class ProgramFileTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(
        sys::fs::createUniqueDirectory("chronicle-program", Directory));
  }
  void TearDown() override { (void)sys::fs::remove_directories(Directory); }

  std::string path(StringRef Name) {
    SmallString<128> Path(Directory);
    sys::path::append(Path, Name);
    return std::string(Path);
  }
  std::string make(StringRef Name, StringRef Contents, mode_t Mode = 0755) {
    std::string Path = path(Name);
    std::error_code EC;
    raw_fd_ostream(Path, EC) << Contents;
    chmod(Path.c_str(), Mode);
    return Path;
  }
  std::string makeElf(StringRef Name, unsigned char Class, uint16_t Machine,
                      uint16_t Type = ET_DYN, mode_t Mode = 0755) {
    struct {
      Elf64_Ehdr Header;
      Elf64_Phdr Segment;
    } File = {};
    memcpy(File.Header.e_ident, ELFMAG, SELFMAG);
    File.Header.e_ident[EI_CLASS] = Class;
    File.Header.e_ident[EI_DATA] = ELFDATA2LSB;
    File.Header.e_machine = Machine;
    File.Header.e_type = Type;
    File.Header.e_phoff = sizeof(File.Header);
    File.Header.e_phentsize = sizeof(File.Segment);
    File.Header.e_phnum = 1;
    File.Segment.p_type = PT_LOAD;
    return make(Name, StringRef(reinterpret_cast<char *>(&File), sizeof(File)),
                Mode);
  }

  /// "status: message", or "" for success.
  static std::string failure(StringRef Typed,
                             std::optional<StringRef> SearchPath = "/usr/bin") {
    Expected<launch::ProgramFile> File =
        launch::findProgramFile(Typed, SearchPath);
    if (File)
      return "";
    std::string Text;
    handleAllErrors(File.takeError(), [&](const launch::LaunchError &E) {
      Text = std::to_string(E.status()) + ": " + E.message();
    });
    return Text;
  }

  SmallString<128> Directory;
};

TEST_F(ProgramFileTest, FindsInPath) {
  std::string Second = makeElf("tool", ELFCLASS64, EM_X86_64);
  launch::ProgramFile File = cantFail(launch::findProgramFile(
      "tool", StringRef("/nonexistent:" + Directory.str().str())));
  EXPECT_EQ(File.Path, Second);
  EXPECT_EQ(File.Typed, "tool");
  EXPECT_EQ(File.Interpreter, "");
  EXPECT_FALSE(File.NeedsPath);
}

TEST_F(ProgramFileTest, SkipsWhatCannotBeExecuted) {
  ASSERT_FALSE(sys::fs::create_directory(path("a")));
  ASSERT_FALSE(sys::fs::create_directory(path("b")));
  makeElf("a/tool", ELFCLASS64, EM_X86_64, ET_DYN, 0644);
  std::string Good = makeElf("b/tool", ELFCLASS64, EM_X86_64);
  launch::ProgramFile File = cantFail(
      launch::findProgramFile("tool", StringRef(path("a") + ":" + path("b"))));
  EXPECT_EQ(File.Path, Good);
}

TEST_F(ProgramFileTest, WithoutPathSearchesTheDefault) {
  launch::ProgramFile File =
      cantFail(launch::findProgramFile("true", std::nullopt));
  EXPECT_TRUE(File.NeedsPath);
  EXPECT_TRUE(StringRef(File.Path).ends_with("/bin/true")) << File.Path;
}

TEST_F(ProgramFileTest, NotFound) {
  EXPECT_EQ(failure("no-such-program"),
            "127: 'no-such-program' was not found in PATH; type "
            "./no-such-program for a program in this directory");
  EXPECT_EQ(failure("/no/such"), "127: '/no/such' does not exist");
  EXPECT_EQ(failure(""), "127: the program's name is empty");
}

TEST_F(ProgramFileTest, NotExecutable) {
  std::string Path = makeElf("plain", ELFCLASS64, EM_X86_64, ET_DYN, 0644);
  EXPECT_EQ(failure(Path),
            "126: '" + Path + "' cannot be executed: Permission denied");
  EXPECT_EQ(failure(Directory),
            "126: '" + Directory.str().str() + "' is a directory");
}

TEST_F(ProgramFileTest, OtherMachines) {
  std::string Path = makeElf("p32", ELFCLASS32, EM_386);
  EXPECT_EQ(failure(Path),
            "126: '" + Path +
                "' is a 32-bit program; Chronicle records 64-bit "
                "x86-64 programs only");
  Path = makeElf("arm", ELFCLASS64, EM_AARCH64);
  EXPECT_EQ(failure(Path),
            "126: '" + Path +
                "' is a program for another processor; Chronicle "
                "records x86-64 programs only");
  Path = makeElf("object", ELFCLASS64, EM_X86_64, ET_REL);
  EXPECT_EQ(failure(Path),
            "126: '" + Path +
                "' is an object file or core dump, not a program");
}

TEST_F(ProgramFileTest, NotPrograms) {
  std::string Path = make("junk", StringRef("\1\2\0\3", 4));
  EXPECT_EQ(failure(Path),
            "126: '" + Path + "' is neither an ELF program nor a script");
  Path = make("empty", "");
  EXPECT_EQ(failure(Path),
            "126: '" + Path + "' is not a program: the file is empty");
  Path = make("short", StringRef("\177ELF\2\1", 6));
  EXPECT_EQ(failure(Path),
            "126: '" + Path + "' is not a program: the file is truncated");
}

TEST_F(ProgramFileTest, SetUid) {
  for (mode_t Mode : {04755, 02755}) {
    std::string Path = makeElf("setuid", ELFCLASS64, EM_X86_64, ET_DYN, 0755);
    ASSERT_EQ(chmod(Path.c_str(), Mode), 0);
    EXPECT_EQ(failure(Path),
              "126: '" + Path +
                  "' is set-uid or set-gid, which has no effect while "
                  "recording; record a copy without that bit");
  }
}

TEST_F(ProgramFileTest, Scripts) {
  std::string Interpreter = makeElf("interpreter", ELFCLASS64, EM_X86_64);
  std::string Script = make("script", "#! " + Interpreter + " -x\nbody\n");
  EXPECT_EQ(cantFail(launch::findProgramFile(Script, std::nullopt)).Interpreter,
            Interpreter);
  // What execvp gives to the shell.
  std::string Plain = make("plain", "echo hello\n");
  EXPECT_EQ(cantFail(launch::findProgramFile(Plain, std::nullopt)).Interpreter,
            "/bin/sh");
}

TEST_F(ProgramFileTest, ScriptsWithBadInterpreters) {
  std::string Script = make("script", "#!/no/interpreter\n");
  EXPECT_EQ(failure(Script), "127: '/no/interpreter', the interpreter of '" +
                                 Script + "', does not exist");
  std::string Old = makeElf("p32", ELFCLASS32, EM_386);
  Script = make("script", "#!" + Old + "\n");
  EXPECT_EQ(failure(Script),
            "126: '" + Old + "', the interpreter of '" + Script +
                "', is a 32-bit program; Chronicle records 64-bit x86-64 "
                "programs only");
  std::string Loop = path("loop");
  make("loop", "#!" + Loop + "\n");
  EXPECT_NE(failure(Loop).find("too many times in a row"), std::string::npos);
}

} // namespace
