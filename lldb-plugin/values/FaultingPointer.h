// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which pointer of the program a fault followed.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_FAULTINGPOINTER_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_FAULTINGPOINTER_H

#include "lldb/API/LLDB.h"
#include <optional>
#include <string>

namespace chronicle::values {

struct FaultingPointer {
  std::string Expression;
  bool InMemory = false; ///< otherwise it is in a register
};

/// The pointer that the frame's line followed to the address: a variable, or a
/// member that is reached from one, whose object the address would be in.
/// Nothing if there is none, or if several fit equally well. Reads variables,
/// but no more than a few hundred.
std::optional<FaultingPointer> faultingPointer(lldb::SBFrame Frame,
                                               uint64_t Address);

} // namespace chronicle::values

#endif
