// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Memory that a debugger has allocated for itself in a process.

#ifndef CHRONICLE_LLDB_PLUGIN_DIVERSION_SCRATCH_H
#define CHRONICLE_LLDB_PLUGIN_DIVERSION_SCRATCH_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace chronicle::diversion {

/// Compiled expressions, their arguments and results, and the debugger's own
/// variables. It belongs to no moment: a debugger keeps it while the process
/// moves. Its addresses are where recorded programs have nothing.
class Scratch {
public:
  struct Area {
    int Protection = 0;
    std::vector<uint8_t> Bytes;
  };
  /// Where the memory is. Nothing: there is no more room.
  std::optional<uint64_t> allocate(uint64_t Length, int Protection);
  /// False: there is no such area.
  bool release(uint64_t Address) { return Areas.erase(Address) != 0; }

  /// The bytes from the address to the end of its area; empty: it is in none.
  llvm::MutableArrayRef<uint8_t> find(uint64_t Address);
  std::map<uint64_t, Area> &areas() { return Areas; }

private:
  std::map<uint64_t, Area> Areas;
};

} // namespace chronicle::diversion

#endif
