// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The lldb-dap that chronicle-dap stands in front of.

#ifndef CHRONICLE_LLDBPLUGIN_DAP_LLDBDAP_H
#define CHRONICLE_LLDBPLUGIN_DAP_LLDBDAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <sys/types.h>

namespace chronicle::dap {

/// \p Asked (--lldb-dap), or $CHRONICLE_LLDB_DAP, or lldb-dap 22 where packages
/// put it.
llvm::Expected<std::string> findLldbDap(llvm::StringRef Asked);

/// A running lldb-dap: its standard input and output are pipes of ours, its
/// standard error is ours. It ends when its input does, and when we die.
class LldbDap {
public:
  static llvm::Expected<LldbDap> start(llvm::StringRef Program,
                                       llvm::ArrayRef<std::string> Arguments);
  LldbDap(LldbDap &&Other);
  LldbDap(const LldbDap &) = delete;
  /// Reaps it, after ending it where that is still needed.
  ~LldbDap();

  int input() const { return Input; }
  int output() const { return Output; }
  void closeInput();
  /// Waits for its end, and makes it end if it does not within \p Seconds.
  /// Returns the status that waitpid gave.
  int end(int Seconds);

private:
  LldbDap(pid_t Pid, int Input, int Output)
      : Pid(Pid), Input(Input), Output(Output) {}

  pid_t Pid;
  int Input, Output;
  int Status = 0;
};

/// "was killed by SIGSEGV", "ended with status 1".
std::string describeStatus(int Status);

} // namespace chronicle::dap

#endif
