// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/recording/SummaryFile.h"
#include "recorder/launch/LaunchError.h"
#include "trace-format/PrivateFile.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace chronicle::recording {

SummaryFile::~SummaryFile() {
  if (File && !Written)
    (void)sys::fs::remove(Path);
}

Error SummaryFile::failure(std::error_code EC) const {
  return launch::launchError(launch::StatusOurFailure,
                             "cannot write the summary to '" + Path +
                                 "': " + EC.message());
}

Error SummaryFile::open() {
  if (Path.empty())
    return Error::success();
  int Descriptor;
  if (std::error_code EC =
          sys::fs::openFileForWrite(Path, Descriptor, sys::fs::CD_CreateAlways,
                                    sys::fs::OF_None, PrivateMode))
    return failure(EC);
  File = std::make_unique<raw_fd_ostream>(Descriptor, /*shouldClose=*/true);
  return Error::success();
}

Error SummaryFile::write(json::Object Summary) {
  if (!File)
    return Error::success();
  *File << json::Value(std::move(Summary)) << '\n';
  File->close();
  std::error_code EC = File->error();
  File->clear_error();
  Written = !EC;
  return EC ? failure(EC) : Error::success();
}

} // namespace chronicle::recording
