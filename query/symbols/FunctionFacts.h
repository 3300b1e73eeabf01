// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What debug info says of a function's calls.

#ifndef CHRONICLE_QUERY_SYMBOLS_FUNCTIONFACTS_H
#define CHRONICLE_QUERY_SYMBOLS_FUNCTIONFACTS_H

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include <optional>
#include <string>
#include <vector>

namespace chronicle::symbols {

struct FunctionFacts {
  /// The compiler does not follow the ABI here (DW_CC_nocall): it may have
  /// dropped parameters, or the result.
  bool OwnConvention = false;
  /// Whether the result is an object that is passed in memory because copying
  /// or destroying one takes a function. Nothing: it is no object, or debug
  /// info does not say.
  std::optional<bool> ResultInMemory;
  struct Parameter {
    std::string Name;
    /// Its place at the function's first instruction is known, as in optimized
    /// code: the location depends on the pc, or is the register that the ABI
    /// passes the parameter in. Otherwise the prologue puts the parameter into
    /// its place, or it has none.
    bool KnownAtEntry = false;
  };
  std::vector<Parameter> Parameters;
};

/// Nothing: no function starts at the address, or it has no debug info. Reads
/// the function's compile unit.
std::optional<FunctionFacts> functionFacts(llvm::DWARFContext &Dwarf,
                                           uint64_t Address);

} // namespace chronicle::symbols

#endif
