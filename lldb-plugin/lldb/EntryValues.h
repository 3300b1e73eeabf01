// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Makes LLDB take the values that registers had at the entry of a function
/// from history.
///
/// Optimized code often keeps a parameter nowhere. Its debug info then says
/// "what this register had at the entry" (DW_OP_entry_value), and LLDB can
/// compute that only if the caller's debug info has an expression for it. That
/// is not so for many calls, and never if the caller has no debug info.
///
/// LLDB evaluates such a location with functions that it does not export. But
/// it hands operations that it does not know to the debug info's compile unit,
/// through a virtual function. So a new location is put before the old one:
///
///     DW_OP_const8u 0, DW_OP_lit0, <ours> register, DW_OP_bra known,
///     DW_OP_drop, DW_OP_entry_value(…), known: …
///
/// Our operation replaces the 0 by the register and the other 0 by 1 if the
/// frame is of a trace and history knows the register. Otherwise LLDB does what
/// it always does: modules are shared between a trace and a live process.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDB_ENTRYVALUES_H
#define CHRONICLE_LLDB_PLUGIN_LLDB_ENTRYVALUES_H

#include "lldb/API/LLDB.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <vector>

namespace lldb_private {
class RegisterContext;
class StackFrame;
} // namespace lldb_private

namespace chronicle::internals {

/// The value that a register, by DWARF's number, had when the function of the
/// frame was entered. Nothing: the registers are not of a trace, or history
/// does not know.
std::optional<llvm::APInt>
registerAtEntry(lldb_private::RegisterContext &Registers, unsigned Number);

/// Prepares the variables of the frame's function, once. Makes LLDB read their
/// debug info.
void useEntryValues(lldb_private::StackFrame &Frame);

/// The location with our operations in it. Nothing: it has no entry values, or
/// it cannot be changed.
std::optional<std::vector<uint8_t>>
withEntryValues(llvm::ArrayRef<uint8_t> Location);

} // namespace chronicle::internals

#endif
