// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What wrote a value before the process was forked, as text.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_PARENTWRITETEXT_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_PARENTWRITETEXT_H

#include "lldb-plugin/target/Describe.h"
#include "query/ancestry/ParentWrite.h"

namespace chronicle::values {

/// If the write found in T is only what the process began with when it was
/// forked: "written by the parent (pid 12), at time 3,000 of its trace (#1):
/// instruction 0x401136 in main at demo.c:26", and members of the answer in
/// JSON. Else empty.
llvm::Expected<std::string>
writeBeforeFork(const query::Trace &T, const questions::WriteAnswer &Found,
                const target::Style &How, llvm::json::Object &Answer,
                const answers::Cancellation &Cancel);

} // namespace chronicle::values

#endif
