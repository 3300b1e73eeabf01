// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Values as LLDB shows them, on one line.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_VALUETEXT_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_VALUETEXT_H

#include "lldb/API/LLDB.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>

namespace chronicle::values {

/// What went wrong, in one line.
std::string errorText(const lldb::SBError &E);
/// Whether LLDB compiled the expression and could have interpreted it, so that
/// it failed because of the values at one moment.
bool isCompiled(const lldb::SBError &E);

/// The value, its summary, the members.
std::string valueText(lldb::SBValue Value);

/// Nothing: neither a whole number, nor an enumerator, nor a pointer.
std::optional<llvm::APSInt> wholeNumber(lldb::SBValue Value);

/// Whether the text of such a value depends on its bytes alone.
bool isPlain(lldb::SBType Type);

/// Whether the value is in the program's memory. That may not be mapped now.
bool isInMemory(lldb::SBValue Value);

lldb::SBValue valueOf(lldb::SBTarget Target, llvm::ArrayRef<uint8_t> Bytes,
                      lldb::SBType Type);

} // namespace chronicle::values

#endif
