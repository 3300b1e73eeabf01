// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// System calls as strace prints them.

#ifndef CHRONICLE_QUERY_SYSTEMCALLS_SYSTEMCALLTEXT_H
#define CHRONICLE_QUERY_SYSTEMCALLS_SYSTEMCALLTEXT_H

#include "query/Trace.h"
#include "query/answers/SystemCall.h"

namespace chronicle::systemcalls {

/// "openat(AT_FDCWD, \"x\", O_RDONLY) = -1 ENOENT (No such file or directory)".
/// Reads what the arguments point to, before the call and after it: each costs
/// a read of memory at that moment. Where memory cannot be read, the address is
/// shown.
llvm::Expected<std::string> systemCallText(const query::Trace &T,
                                           const answers::SystemCall &Call);

} // namespace chronicle::systemcalls

#endif
