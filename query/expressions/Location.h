// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where a variable is at an instruction, as debug info says it.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_LOCATION_H
#define CHRONICLE_QUERY_EXPRESSIONS_LOCATION_H

#include "query/expressions/StateReader.h"
#include "query/symbols/Symbols.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/DebugInfo/DWARF/DWARFDie.h"

namespace chronicle::expressions {

/// Where an object is: in memory, or its bytes if it is elsewhere.
struct Place {
  std::optional<uint64_t> Address;
  llvm::SmallVector<uint8_t, 16> Bytes; ///< if it has no address
};

/// A location of DWARF that needs no debug info any more. To evaluate one takes
/// less than a microsecond, and a call stack if it depends on the frame.
class Location {
public:
  /// The location of a variable at an address of its file, within Function. An
  /// EvaluationError if it has none there, or one that is not evaluated here.
  static llvm::Expected<Location> of(const llvm::DWARFDie &Variable,
                                     const llvm::DWARFDie &Function,
                                     uint64_t Address,
                                     const state::ModuleLoad &Module);
  /// At an address of the program.
  static Location atAddress(uint64_t Address);

  llvm::Expected<Place> evaluate(StateReader &State) const;

private:
  std::vector<uint8_t> Operations, FrameBase;
  const state::ModuleLoad *Module = nullptr;
};

} // namespace chronicle::expressions

#endif
