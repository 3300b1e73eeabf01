// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/ProgramFile.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::launch {

namespace {

// Linux's own limits for "#!" lines.
constexpr size_t ScriptLineBytes = 256;
constexpr unsigned MaxScriptDepth = 4;

constexpr const char DefaultShell[] = "/bin/sh";
/// What execvp searches when PATH is not set.
constexpr const char DefaultPath[] = "/bin:/usr/bin";

class OpenFile {
public:
  explicit OpenFile(const std::string &Path)
      : Fd(open(Path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (Fd >= 0)
      close(Fd);
  }
  bool isOpen() const { return Fd >= 0; }
  size_t read(void *Bytes, size_t Size, off_t At) const {
    ssize_t Done = pread(Fd, Bytes, Size, At);
    return Done < 0 ? 0 : size_t(Done);
  }

private:
  int Fd;
};

std::string quoted(StringRef Path) { return ("'" + Path + "'").str(); }

} // namespace

/// The interpreter that a "#!" line names, or empty.
static StringRef scriptInterpreter(StringRef Start) {
  if (!Start.consume_front("#!"))
    return "";
  StringRef Line = Start.take_until([](char C) { return C == '\n' || !C; });
  return Line.ltrim(" \t").take_until(
      [](char C) { return C == ' ' || C == '\t' || C == '\r'; });
}

/// Checks an ELF file. Name is what messages call it.
static Error checkElf(const OpenFile &File, StringRef Name) {
  Elf64_Ehdr Header;
  size_t Size = File.read(&Header, sizeof(Header), 0);
  if (Size > EI_CLASS && Header.e_ident[EI_CLASS] == ELFCLASS32)
    return launchError(StatusCannotRun,
                       Name + " is a 32-bit program; Chronicle records 64-bit "
                              "x86-64 programs only");
  if (Size < sizeof(Header))
    return launchError(StatusCannotRun,
                       Name + " is not a program: the file is truncated");
  if (Header.e_ident[EI_DATA] != ELFDATA2LSB || Header.e_machine != EM_X86_64)
    return launchError(StatusCannotRun,
                       Name + " is a program for another processor; Chronicle "
                              "records x86-64 programs only");
  if (Header.e_type != ET_EXEC && Header.e_type != ET_DYN)
    return launchError(StatusCannotRun,
                       Name + " is an object file or core dump, not a program");
  if (Header.e_phentsize != sizeof(Elf64_Phdr) || Header.e_phnum == 0)
    return launchError(StatusCannotRun,
                       Name + " is not a program: it has no program headers");
  SmallVector<Elf64_Phdr, 16> Segments(Header.e_phnum);
  size_t Bytes = Segments.size() * sizeof(Elf64_Phdr);
  if (File.read(Segments.data(), Bytes, Header.e_phoff) != Bytes)
    return launchError(StatusCannotRun,
                       Name + " is not a program: the file is truncated");
  for (const Elf64_Phdr &Segment : Segments) {
    if (Segment.p_type != PT_INTERP)
      continue;
    SmallString<256> Loader;
    Loader.resize(std::min<uint64_t>(Segment.p_filesz, PATH_MAX));
    Loader.resize(File.read(Loader.data(), Loader.size(), Segment.p_offset));
    if (access(Loader.c_str(), F_OK) != 0)
      return launchError(StatusNotFound, Name + " needs the dynamic loader " +
                                             quoted(Loader.c_str()) +
                                             ", which does not exist");
  }
  return Error::success();
}

static Error checkPermissions(const std::string &Path, StringRef Name) {
  struct stat Status;
  if (stat(Path.c_str(), &Status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return launchError(StatusNotFound, Name + " does not exist");
    return launchErrorFromErrno(StatusCannotRun, Name + " cannot be reached");
  }
  if (S_ISDIR(Status.st_mode))
    return launchError(StatusCannotRun, Name + " is a directory");
  if (!S_ISREG(Status.st_mode))
    return launchError(StatusCannotRun, Name + " is not a regular file");
  if (faccessat(AT_FDCWD, Path.c_str(), X_OK, AT_EACCESS) != 0)
    return launchErrorFromErrno(StatusCannotRun, Name + " cannot be executed");
  if (faccessat(AT_FDCWD, Path.c_str(), R_OK, AT_EACCESS) != 0)
    return launchErrorFromErrno(
        StatusCannotRun, Name + " cannot be read, which recording needs");
  if (Status.st_mode & (S_ISUID | S_ISGID))
    return launchError(StatusCannotRun,
                       Name + " is set-uid or set-gid, which has no effect "
                              "while recording; record a copy without that "
                              "bit");
  if (getxattr(Path.c_str(), "security.capability", nullptr, 0) > 0)
    return launchError(StatusCannotRun,
                       Name + " has file capabilities, which have no effect "
                              "while recording; record a copy without them");
  return Error::success();
}

static Error noWorkingDirectory(std::error_code EC) {
  return launchError(StatusOurFailure,
                     "cannot find the working directory: " + EC.message());
}

/// Checks the file and, for a script, its interpreter, which it returns.
static Expected<std::string> checkFile(const std::string &Path, StringRef Name,
                                       unsigned Depth) {
  if (Error E = checkPermissions(Path, Name))
    return E;
  OpenFile File(Path);
  if (!File.isOpen())
    return launchErrorFromErrno(StatusCannotRun, Name + " cannot be opened");
  char Start[ScriptLineBytes];
  StringRef Text(Start, File.read(Start, sizeof(Start), 0));
  if (Text.starts_with(StringRef(ELFMAG, SELFMAG))) {
    if (Error E = checkElf(File, Name))
      return E;
    return "";
  }
  if (Text.empty())
    return launchError(StatusCannotRun,
                       Name + " is not a program: the file is empty");
  StringRef Interpreter = scriptInterpreter(Text);
  if (Interpreter.empty()) {
    // execvp has the shell run a file whose format the kernel does not know.
    // Here that is done only for text.
    if (Text.contains('\0'))
      return launchError(StatusCannotRun,
                         Name + " is neither an ELF program nor a script");
    Interpreter = DefaultShell;
  }
  if (Depth == MaxScriptDepth)
    return launchError(StatusCannotRun,
                       Name + " is a script whose interpreter is a script "
                              "in turn, too many times in a row");
  SmallString<128> Absolute(Interpreter);
  if (std::error_code EC = sys::fs::make_absolute(Absolute))
    return noWorkingDirectory(EC);
  std::string InterpreterName =
      (quoted(Interpreter) + ", the interpreter of " + Name + ",").str();
  Expected<std::string> Last =
      checkFile(std::string(Absolute), InterpreterName, Depth + 1);
  if (!Last)
    return Last.takeError();
  return std::string(Absolute);
}

/// The first file of that name in the directories that may be executed. If
/// there is none, the first that may not, so that the message can say why.
static std::optional<std::string> search(StringRef Name,
                                         StringRef Directories) {
  std::optional<std::string> Unusable;
  SmallVector<StringRef, 16> List;
  Directories.split(List, ':');
  for (StringRef Directory : List) {
    SmallString<128> Path(Directory.empty() ? "." : Directory);
    sys::path::append(Path, Name);
    struct stat Status;
    if (stat(Path.c_str(), &Status) != 0 || S_ISDIR(Status.st_mode))
      continue;
    if (faccessat(AT_FDCWD, Path.c_str(), X_OK, AT_EACCESS) == 0)
      return std::string(Path);
    if (!Unusable)
      Unusable = std::string(Path);
  }
  return Unusable;
}

Expected<ProgramFile> findProgramFile(StringRef Typed,
                                      std::optional<StringRef> SearchPath) {
  ProgramFile File;
  File.Typed = Typed.str();
  if (Typed.empty())
    return launchError(StatusNotFound, "the program's name is empty");
  SmallString<128> Path(Typed);
  if (!Typed.contains('/')) {
    std::optional<std::string> Found =
        search(Typed, SearchPath.value_or(DefaultPath));
    if (!Found)
      return launchError(StatusNotFound,
                         quoted(Typed) + " was not found in PATH; type ./" +
                             Typed + " for a program in this directory");
    Path = *Found;
    File.NeedsPath = !SearchPath;
  }
  if (std::error_code EC = sys::fs::make_absolute(Path))
    return noWorkingDirectory(EC);
  sys::path::remove_dots(Path);
  File.Path = std::string(Path);
  Expected<std::string> Interpreter = checkFile(File.Path, quoted(Typed), 0);
  if (!Interpreter)
    return Interpreter.takeError();
  File.Interpreter = std::move(*Interpreter);
  return File;
}

Expected<ProgramFile> findProgramInPath(StringRef Typed) {
  const char *SearchPath = getenv("PATH");
  return findProgramFile(
      Typed, SearchPath ? std::optional<StringRef>(SearchPath) : std::nullopt);
}

} // namespace chronicle::launch
