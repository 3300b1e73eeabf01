// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The lldb-dap process that chronicle-dap runs.

#ifndef CHRONICLE_LLDB_PLUGIN_DAP_LLDBDAP_H
#define CHRONICLE_LLDB_PLUGIN_DAP_LLDBDAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <sys/types.h>

namespace chronicle::dap {

/// The path of lldb-dap: \p Asked (--lldb-dap) if it is not empty, otherwise
/// $CHRONICLE_LLDB_DAP, otherwise where packages install lldb-dap 22.
llvm::Expected<std::string> findLldbDap(llvm::StringRef Asked);

/// A running lldb-dap. Its standard input and output are pipes to this process,
/// and it shares this process's standard error. It ends when its input ends or
/// when this process dies.
class LldbDap {
public:
  static llvm::Expected<LldbDap> start(llvm::StringRef Program,
                                       llvm::ArrayRef<std::string> Arguments);
  LldbDap(LldbDap &&Other);
  LldbDap(const LldbDap &) = delete;
  /// Ends the process if it still runs, and reaps it.
  ~LldbDap();

  int input() const { return Input; }
  int output() const { return Output; }
  void closeInput();
  /// Waits up to \p Seconds for the process to end by itself, then kills it.
  /// \return the status from waitpid.
  int end(int Seconds);

private:
  LldbDap(pid_t Pid, int Input, int Output)
      : Pid(Pid), Input(Input), Output(Output) {}

  pid_t Pid;
  int Input, Output;
  int Status = 0;
};

/// A status from waitpid as text: "was killed by SIGSEGV", "ended with status
/// 1".
std::string describeStatus(int Status);

} // namespace chronicle::dap

#endif
