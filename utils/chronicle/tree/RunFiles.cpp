// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/tree/RunFiles.h"
#include "query/processes/RunDirectory.h"
#include "recorder/launch/LaunchError.h"
#include "trace-format/file/TraceReader.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

using namespace llvm;

namespace chronicle::tree {

static Error fileError(const Twine &Text, std::error_code EC) {
  return launch::launchError(launch::StatusOurFailure,
                             Text + ": " + EC.message());
}

RunFiles::RunFiles(std::string Path, StringRef Program)
    : Path(std::move(Path)), FirstName(processes::traceFileName(1, Program)) {}

/// Under a name of its own until it holds the first trace, so that whoever
/// looks finds a file or a directory with traces.
Error RunFiles::makeDirectory() {
  SmallString<128> Real;
  if (std::error_code EC = sys::fs::real_path(Path, Real))
    return fileError("cannot find '" + Path + "'", EC);
  const std::string Temporary = (Real + "." + Twine(getpid()) + ".new").str();
  if (std::error_code EC = sys::fs::create_directory(
          Temporary, /*IgnoreExisting=*/false, sys::fs::owner_all))
    return fileError("cannot create the directory '" + Temporary + "'", EC);
  SmallString<128> First(Temporary);
  sys::path::append(First, FirstName);
  if (std::error_code EC = sys::fs::rename(Real, First)) {
    (void)sys::fs::remove(Temporary);
    return fileError("cannot move '" + Real + "'", EC);
  }
  if (std::error_code EC = sys::fs::rename(Temporary, Real)) {
    (void)sys::fs::rename(First, Real);
    (void)sys::fs::remove(Temporary);
    return fileError("cannot create the directory '" + Real + "'", EC);
  }
  Directory = true;
  return Error::success();
}

Expected<std::string> RunFiles::add(uint32_t Number, StringRef Program) {
  std::lock_guard Lock(Mutex);
  if (!Directory)
    if (Error E = makeDirectory())
      return E;
  SmallString<128> File(Path);
  sys::path::append(File, processes::traceFileName(Number, Program));
  return std::string(File);
}

std::string RunFiles::first() const {
  std::lock_guard Lock(Mutex);
  SmallString<128> File(Path);
  if (Directory)
    sys::path::append(File, FirstName);
  return std::string(File);
}

bool RunFiles::isDirectory() const {
  std::lock_guard Lock(Mutex);
  return Directory;
}

Error RunFiles::remove() {
  std::lock_guard Lock(Mutex);
  if (Directory)
    return processes::removeRun(Path);
  processes::removeBesideTrace(Path);
  if (std::error_code EC = sys::fs::remove(Path))
    return fileError("cannot remove '" + Path + "'", EC);
  return Error::success();
}

Error withoutTrace(StringRef Path, Error Why) {
  const std::string Text = toString(std::move(Why));
  Expected<std::unique_ptr<file::TraceReader>> Left =
      file::TraceReader::open(Path);
  if (Left)
    return launch::launchError(launch::StatusOurFailure,
                               "the trace is not complete: " + Text +
                                   "; it can be read up to instruction " +
                                   Twine((*Left)->instructions()));
  consumeError(Left.takeError());
  (void)sys::fs::remove(Path);
  return launch::launchError(launch::StatusOurFailure,
                             "there is no trace: " + Text);
}

} // namespace chronicle::tree
