// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The file of `chronicle record --summary`.

#ifndef CHRONICLE_UTILS_CHRONICLE_RECORDING_SUMMARYFILE_H
#define CHRONICLE_UTILS_CHRONICLE_RECORDING_SUMMARYFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <string>

namespace chronicle::recording {

/// A file for the summary of a recording. It is opened before the program
/// starts, so that a wrong name is reported at once, and removed again if
/// nothing is written to it.
class SummaryFile {
public:
  /// With an empty path all calls succeed and do nothing.
  explicit SummaryFile(std::string Path) : Path(std::move(Path)) {}
  ~SummaryFile();
  SummaryFile(const SummaryFile &) = delete;
  SummaryFile &operator=(const SummaryFile &) = delete;

  llvm::Error open();
  llvm::Error write(llvm::json::Object Summary);

private:
  llvm::Error failure(std::error_code EC) const;

  std::string Path;
  std::unique_ptr<llvm::raw_fd_ostream> File;
  bool Written = false;
};

} // namespace chronicle::recording

#endif
