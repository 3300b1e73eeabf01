// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle setup-lldb`: makes LLDB load Chronicle's plugin at every start.

#include "lldb-plugin/places/LldbPlaces.h"
#include "trace-format/PrivateFile.h"
#include "utils/chronicle/Subcommand.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command SetupLldb(
    {.Name = "setup-lldb",
     .Summary = "make LLDB load Chronicle's commands at every start",
     .Arguments = "[options]",
     .Details = "Adds a line to ~/.lldbinit that loads Chronicle's plugin. "
                "Running it again changes nothing.",
     .Examples = "  chronicle setup-lldb\n"
                 "  chronicle setup-lldb --undo\n",
     .Statuses = {{"0", "The line is there, or was removed."},
                  {"2", "The file cannot be read or written, or an option is "
                        "wrong."}},
     .Run = run});
static cl::opt<bool> Undo("undo", cl::sub(SetupLldb),
                          cl::desc("Remove the line again"));

/// The text without the lines that this or another installation added.
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
    return fail(SetupLldb, 2, "no home directory: set HOME");
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
    Expected<std::string> Plugin = places::findLldbPlugin();
    if (!Plugin)
      return fail(SetupLldb, 2, Plugin.takeError());
    if (!After.empty() && After.back() != '\n')
      After += '\n';
    After += places::pluginLoadLine(*Plugin) + "\n";
  }
  if (After == Before) {
    outs() << File << " is up to date\n";
    return 0;
  }
  // A file that had nothing but our line is removed with it.
  if (After.empty() && !sys::fs::is_symlink_file(File)) {
    if (std::error_code Code = sys::fs::remove(File))
      return fail(SetupLldb, 2,
                  "cannot remove " + File + ": " + Code.message());
    outs() << "removed " << File << ", which had nothing else\n";
    return 0;
  }
  if (Error E = replaceFile(File, /*Mode=*/0644,
                            [&](raw_ostream &Out) { Out << After; }))
    return fail(SetupLldb, 2, std::move(E));
  outs() << (Undo ? "removed Chronicle from " : "added Chronicle to ") << File
         << '\n';
  return 0;
}

} // namespace chronicle::cli
