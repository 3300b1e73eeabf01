// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where functions were inlined into others.

#ifndef CHRONICLE_QUERY_SYMBOLS_INLINEDCODE_H
#define CHRONICLE_QUERY_SYMBOLS_INLINEDCODE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include <string>
#include <vector>

namespace chronicle::symbols {

/// One place at which the compiler put a function's code instead of a call.
struct InlinedCode {
  std::string LinkageName; ///< of the function that was inlined
  /// Where its code begins. An unrolled loop has several copies of the code
  /// that debug info describes as one.
  llvm::SmallVector<uint64_t, 1> Entries;
  /// All of its code, as [first, last).
  llvm::SmallVector<std::pair<uint64_t, uint64_t>, 1> Ranges;
  bool contains(uint64_t Address) const;
};

/// The places at which functions whose name fits were inlined, by address.
/// IsCode says which addresses the linker has kept. Reads all debug info.
std::vector<InlinedCode>
findInlined(llvm::DWARFContext &Dwarf,
            llvm::function_ref<bool(llvm::StringRef)> NameFits,
            llvm::function_ref<bool(uint64_t)> IsCode);

} // namespace chronicle::symbols

#endif
