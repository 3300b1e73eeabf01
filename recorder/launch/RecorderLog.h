// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The messages that Valgrind prints while it runs the program, kept apart from
/// the program's standard error.

#ifndef CHRONICLE_RECORDER_LAUNCH_RECORDERLOG_H
#define CHRONICLE_RECORDER_LAUNCH_RECORDERLOG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace chronicle::launch {

/// An unnamed file in memory that the recorder writes its messages to.
class RecorderLog {
public:
  static llvm::Expected<RecorderLog> create();
  ~RecorderLog();
  RecorderLog(RecorderLog &&Other);
  RecorderLog &operator=(RecorderLog &&) = delete;

  int descriptor() const { return Descriptor; } ///< close-on-exec
  /// The messages so far, as logMessages() returns them.
  std::vector<std::string> messages() const;

private:
  RecorderLog() = default;
  int Descriptor = -1;
};

/// The lines of a Valgrind log, without the process number or name that
/// Valgrind puts before each, and without empty lines.
std::vector<std::string> logMessages(llvm::StringRef Log);

/// Of the messages of a recorder that failed, the one that says why. There may
/// be warnings before it, and a stack of the recorder after it.
std::string fatalMessage(llvm::ArrayRef<std::string> Messages);

/// Whether the messages of a recorder that ended are those of one that failed.
bool reportsFailure(llvm::ArrayRef<std::string> Messages);

} // namespace chronicle::launch

#endif
