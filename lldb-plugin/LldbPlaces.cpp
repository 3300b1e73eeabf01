// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/LldbPlaces.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace chronicle {

Expected<std::string> findLldb() {
  for (StringRef Name : {"lldb-22", "lldb"})
    if (ErrorOr<std::string> Found = sys::findProgramByName(Name))
      return *Found;
  return createStringError("LLDB was not found; on Debian install lldb-22");
}

Expected<std::string> findLldbPlugin() {
  std::string Own = sys::fs::getMainExecutable(nullptr, nullptr);
  SmallString<256> Prefix(sys::path::parent_path(sys::path::parent_path(Own)));
  for (StringRef Directory : {"lib", CHRONICLE_LIBDIR}) {
    SmallString<256> Plugin(Prefix);
    sys::path::append(Plugin, Directory, "liblldbChronicle.so");
    if (sys::fs::exists(Plugin))
      return std::string(Plugin);
  }
  return createStringError("liblldbChronicle.so is not beside " + Own +
                           ": build or install Chronicle as a whole");
}

std::string quoteForLldb(StringRef Word) {
  std::string Result = "\"";
  for (char C : Word) {
    if (C == '"' || C == '\\' || C == '`')
      Result += '\\';
    Result += C;
  }
  return Result + '"';
}

std::string pluginLoadLine(StringRef Plugin) {
  return "plugin load " + quoteForLldb(Plugin);
}

} // namespace chronicle
