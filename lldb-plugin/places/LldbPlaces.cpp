// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/places/LldbPlaces.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

/// The version of LLDB that the plugin is built for.
#define TEXT_OF_MACRO(X) TEXT_OF(X)
#define TEXT_OF(X) #X
#define LLDB_MAJOR TEXT_OF_MACRO(LLVM_VERSION_MAJOR)

namespace chronicle::places {

/// The first line that `PROGRAM --version` prints, or an empty string.
static std::string versionOf(StringRef Program) {
  SmallString<64> Output;
  if (sys::fs::createTemporaryFile("lldb-version", "", Output))
    return "";
  FileRemover Remover(Output);
  std::optional<StringRef> Redirects[] = {StringRef(""), StringRef(Output),
                                          StringRef("")};
  sys::ExecuteAndWait(Program, {Program, "--version"}, std::nullopt, Redirects);
  ErrorOr<std::unique_ptr<MemoryBuffer>> Text = MemoryBuffer::getFile(Output);
  return Text ? (*Text)->getBuffer().split('\n').first.trim().str() : "";
}

Expected<std::string> findLldb() {
  if (ErrorOr<std::string> Found = sys::findProgramByName("lldb-22"))
    return *Found;
  ErrorOr<std::string> Found = sys::findProgramByName("lldb");
  if (!Found)
    return createStringError(
        "LLDB was not found: on Debian, install the package lldb-" LLDB_MAJOR);
  // Other versions fail to load the plugin with obscure errors.
  std::string Version = versionOf(*Found);
  if (!StringRef(Version).contains("version " LLDB_MAJOR "."))
    return createStringError(
        *Found + " is " + (Version.empty() ? "of unknown version" : Version) +
        ", but Chronicle needs LLDB " LLDB_MAJOR
        ": on Debian, install the package lldb-" LLDB_MAJOR);
  return *Found;
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
  return createStringError(
      "liblldbChronicle.so was not found in the lib folder "
      "beside " +
      Own + ": build or install all of Chronicle");
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

} // namespace chronicle::places
