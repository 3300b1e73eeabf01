// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/recording/OutputFile.h"
#include "query/processes/RunDirectory.h"
#include "recorder/launch/LaunchError.h"
#include "trace-format/PrivateFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace chronicle::recording {

static Error outputError(const Twine &Text) {
  return launch::launchError(launch::StatusOurFailure, Text);
}

Error OutputFile::check(const launch::ProgramFile &Program) const {
  sys::fs::file_status Status;
  if (sys::fs::status(Path, Status) || !sys::fs::exists(Status))
    return Error::success(); // creating the file reports other errors
  const bool Run = processes::isRunDirectory(Path);
  if (sys::fs::is_directory(Status) && !Run)
    return outputError("'" + Path + "' is a directory");
  if (!sys::fs::is_regular_file(Status) && !Run)
    return outputError("'" + Path +
                       "' is not a regular file, which a trace must be");
  if (!Replace)
    return outputError("'" + Path +
                       "' exists: use --force to replace it, or -o to name "
                       "another file");
  if (sys::fs::equivalent(Path, Program.Path))
    return outputError("'" + Path + "' is the program itself");
  return Error::success();
}

Expected<OutputFile> OutputFile::inDirectory(StringRef Directory,
                                             StringRef Program) {
  if (std::error_code EC = sys::fs::create_directories(
          Directory, /*IgnoreExisting=*/true, sys::fs::owner_all))
    return outputError("cannot create the directory '" + Directory +
                       "': " + EC.message());
  const std::string Name =
      (sys::path::filename(Program) + "-" + Twine(sys::Process::getProcessId()))
          .str();
  for (unsigned Number = 1;; ++Number) {
    SmallString<128> Path(Directory);
    sys::path::append(Path, Number == 1 ? Name + ".db"
                                        : Name + "-" + utostr(Number) + ".db");
    int Descriptor;
    std::error_code EC = sys::fs::openFileForWrite(
        Path, Descriptor, sys::fs::CD_CreateNew, sys::fs::OF_None, PrivateMode);
    if (EC == std::errc::file_exists)
      continue;
    if (EC)
      return outputError("cannot create '" + Path + "': " + EC.message());
    (void)sys::Process::SafelyCloseFileDescriptor(Descriptor);
    return OutputFile{std::string(Path), /*Replace=*/true};
  }
}

} // namespace chronicle::recording
