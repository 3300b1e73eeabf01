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

/// Whether it is a library in the system's folders.
bool isSystemLibrary(llvm::StringRef Path);

/// Whether the innermost frame of the place is the system's: code of a library
/// in the system's folders, or a function of a header there that was compiled
/// into the program.
bool isSystemCode(const Place &Where);

/// Who called the system's code: the innermost frame outside of it, at the
/// thread's place Where at that moment. The same for a place in no module, such
/// as code that was made at run time or the target of a null pointer: the
/// innermost frame in a module. Nothing: the place itself is outside, or no
/// frame is. Costs a call stack.
llvm::Expected<std::optional<Place>> callerOfSystemCode(const query::Trace &T,
                                                        const Place &Where,
                                                        uint32_t Thread,
                                                        Timestamp At);

/// The same for a place that one of the calls under way is at: Callers are
/// those around it, innermost first. Costs a look for a symbol per call.
std::optional<Place>
callerOfSystemCode(const query::Trace &T, const Place &Where,
                   llvm::ArrayRef<answers::Activation> Callers, Timestamp At);

/// Returns the thread if it is alive at that moment; for 0, the one that runs
/// then.
llvm::Expected<uint32_t> liveThread(const query::Trace &T, uint32_t Thread,
                                    Timestamp At);

} // namespace chronicle::questions

#endif
