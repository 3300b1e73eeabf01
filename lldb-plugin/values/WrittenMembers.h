// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The members of a structure that a write touched.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_WRITTENMEMBERS_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_WRITTENMEMBERS_H

#include "lldb/API/LLDB.h"
#include "query/Trace.h"
#include "query/answers/Ranges.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace chronicle::values {

/// A member, with its path from the structure: "Balance", "Corner.X", "[3].Y".
struct MemberText {
  std::string Name, Text;
};

/// Whether the value is shown as a list of members: a structure, union or array
/// without a summary of its own.
bool hasMembers(lldb::SBValue Value);

/// The innermost members whose bytes are in the range, in order of their
/// declaration. VtableText returns the text of a pointer to a table of virtual
/// functions, which is a member without a name. Stops at 256 members.
std::vector<MemberText>
writtenMembers(lldb::SBValue Value, answers::AddressRange Written,
               llvm::function_ref<std::string(lldb::SBValue)> VtableText);

/// A member before and after a write.
struct MemberChange {
  std::string Name, Old, New;
};
/// The members that changed; if none did, all that were written. Both lists are
/// of the same value.
std::vector<MemberChange> changedMembers(std::vector<MemberText> Old,
                                         std::vector<MemberText> New);
/// "{X = 1, Y = 2}": the first eight.
std::string oldText(const std::vector<MemberChange> &Changes);
std::string newText(const std::vector<MemberChange> &Changes);

/// "vtable for Circle + 16", if the pointer at an address points into such a
/// table; else empty.
llvm::Expected<std::string> vtableNameAt(const query::Trace &T,
                                         uint64_t Address, Timestamp At);

} // namespace chronicle::values

#endif
