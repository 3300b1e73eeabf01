// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the code of a diversion gets instead of the kernel.

#ifndef CHRONICLE_LLDB_PLUGIN_DIVERSION_KERNELANSWERS_H
#define CHRONICLE_LLDB_PLUGIN_DIVERSION_KERNELANSWERS_H

#include "lldb-plugin/diversion/Diversion.h"

namespace chronicle::diversion {

struct KernelAnswer {
  int64_t Result = 0; ///< or a negative error number
  /// Instead of an answer: the call ends here.
  std::optional<DivertedStop> Stop;
};

struct KernelContext {
  MomentMemory &Memory;
  uint64_t Process, Thread;
  llvm::function_ref<void(llvm::StringRef)> Print;
};

/// Answers the system call in the registers. Calls about memory change the
/// process's own; time, the process's number and the like are answered here;
/// writes to standard output and error are printed; locks that would have to
/// wait and everything that would reach other files, processes or machines end
/// the run with a sentence that names the call.
llvm::Expected<KernelAnswer> answerSystemCall(KernelContext Context,
                                              const user_regs_struct &R);

} // namespace chronicle::diversion

#endif
