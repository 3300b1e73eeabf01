// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The steps of a value as text.

#ifndef CHRONICLE_LLDB_PLUGIN_CAUSES_STEPTEXT_H
#define CHRONICLE_LLDB_PLUGIN_CAUSES_STEPTEXT_H

#include "lldb-plugin/target/Style.h"
#include "query/variables/OriginQuestions.h"

namespace chronicle::causes {

/// "eax", "Accounts + 40", "0x1fff000640".
std::string placeName(const query::Trace &T, const answers::ValuePlace &P,
                      Timestamp At);
/// The instruction as LLDB disassembles it; empty: it cannot.
std::string instructionText(lldb::SBTarget Target, uint64_t Pc);
/// What the step did: "to rax in sum at a.c:11", "computed: addl …".
std::string stepText(const query::Trace &T, lldb::SBTarget Target,
                     const variables::OriginStepAnswer &S,
                     const target::Style &How);

/// The text of a line; nothing: the source is not there.
std::optional<std::string> sourceText(lldb::SBDebugger Debugger,
                                      llvm::StringRef File, uint32_t Line);

} // namespace chronicle::causes

#endif
