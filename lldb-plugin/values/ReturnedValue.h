// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a function returned, as LLDB shows it.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_RETURNEDVALUE_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_RETURNEDVALUE_H

#include "lldb-plugin/target/Scout.h"

namespace chronicle::values {

/// The result of a call from Entry to Return, in the registers or the memory
/// that the System V ABI returns that type in. InMemory is what debug info says
/// about objects of its class, as in FunctionFacts. Empty: nothing, or it is
/// not known where it is. Long double has the 64 bits that Valgrind computes
/// with. Costs the registers at both moments, and for what is not a number a
/// move of the scout.
llvm::Expected<std::string>
returnedValue(const query::Trace &T, target::Scout &There, lldb::SBType Type,
              std::optional<bool> InMemory, uint32_t Thread, Timestamp Entry,
              Timestamp Return);

} // namespace chronicle::values

#endif
