// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle setup-lldb`: makes LLDB load Chronicle's plugin whenever it
/// starts.

#include "utils/chronicle/Command.h"
#include "lldb-plugin/LldbPlaces.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle {

static int run(ArrayRef<const char *>);
static Command SetupLldb(
    {.Name = "setup-lldb",
     .Summary = "make 'process trace load' known to LLDB",
     .Arguments = "[--undo]",
     .Details = "Adds one line to ~/.lldbinit, which loads Chronicle's plugin; "
                "--undo takes it out again. May be repeated. Exit status: 0, "
                "or 2 if the file cannot be read or written.",
     .Examples = "  chronicle setup-lldb\n"
                 "  chronicle setup-lldb --undo\n",
     .Run = run});
static cl::opt<bool> Undo("undo", cl::sub(SetupLldb),
                          cl::desc("Take the line out again"));

/// The file without lines of ours, those of other installations included.
static std::string withoutOurs(StringRef Text) {
  std::string Result;
  while (!Text.empty()) {
    size_t End = Text.find('\n');
    StringRef Line = Text.substr(0, End == StringRef::npos ? End : End + 1);
    Text = Text.drop_front(Line.size());
    StringRef Bare = Line.trim();
    if (!(Bare.starts_with("plugin load") &&
          Bare.contains("liblldbChronicle.so")))
      Result += Line;
  }
  return Result;
}

static int run(ArrayRef<const char *>) {
  SmallString<128> File;
  if (!sys::path::home_directory(File))
    return fail(SetupLldb, 2, "there is no home directory; set HOME");
  sys::path::append(File, ".lldbinit");
  std::string Before;
  if (sys::fs::exists(File)) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer = MemoryBuffer::getFile(File);
    if (!Buffer)
      return fail(SetupLldb, 2,
                  "cannot read " + File + ": " + Buffer.getError().message());
    Before = (*Buffer)->getBuffer().str();
  }
  std::string After = withoutOurs(Before);
  if (!Undo) {
    Expected<std::string> Plugin = findLldbPlugin();
    if (!Plugin)
      return fail(SetupLldb, 2, Plugin.takeError());
    if (!After.empty() && After.back() != '\n')
      After += '\n';
    After += pluginLoadLine(*Plugin) + "\n";
  }
  if (After == Before) {
    outs() << File << " is as it should be\n";
    return 0;
  }
  // Renamed into place, so that it is never half written.
  if (Error E = writeToOutput(File, [&](raw_ostream &Out) {
        Out << After;
        return Error::success();
      }))
    return fail(SetupLldb, 2, std::move(E));
  outs() << (Undo ? "took Chronicle's line out of " : "LLDB loads Chronicle: ")
         << File << '\n';
  return 0;
}

} // namespace chronicle
