// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where the program was, with names.

#ifndef CHRONICLE_QUERY_QUESTIONS_PLACE_H
#define CHRONICLE_QUERY_QUESTIONS_PLACE_H

#include "query/Trace.h"
#include "query/symbols/Symbols.h"

namespace chronicle::questions {

/// An instruction, with the function and the source line it belongs to.
struct Place {
  uint64_t Pc = 0;
  std::optional<symbols::CodeSymbol> Symbol; ///< nothing: in no module
};

/// Costs what Symbols::find() costs.
Place placeAt(const query::Trace &T, uint64_t Pc, Timestamp At);

/// Returns the thread if it is alive at that moment; for 0, the one that runs
/// then.
llvm::Expected<uint32_t> liveThread(const query::Trace &T, uint32_t Thread,
                                    Timestamp At);

} // namespace chronicle::questions

#endif
