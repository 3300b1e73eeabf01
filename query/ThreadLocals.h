// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where a thread's own copy of a thread-local variable is.

#ifndef CHRONICLE_QUERY_THREADLOCALS_H
#define CHRONICLE_QUERY_THREADLOCALS_H

#include "query/state/StateCache.h"
#include "query/symbols/Symbols.h"

namespace chronicle::query {

/// Finds thread-local variables at a moment. An address costs the registers of
/// the thread and a few words of memory at that moment.
///
/// A variable of the executable is found from the thread's fs base, as the code
/// of the executable finds it. A variable of a library is found from what the
/// dynamic linker stored for the library's code, which is read from recorded
/// memory: an offset from the fs base, or an index in the thread's table of
/// blocks (as glibc has it).
class ThreadLocals {
public:
  ThreadLocals(state::StateCache &States, const symbols::Symbols &Symbols,
               Timestamp T)
      : States(States), Symbols(Symbols), T(T) {}

  /// Fails if the thread does not have the variable yet, or if recorded memory
  /// does not say for certain where it is.
  llvm::Expected<uint64_t> address(const symbols::SymbolAt &Variable,
                                   uint32_t Thread);

private:
  llvm::Expected<uint64_t> wordAt(uint64_t Address);
  llvm::Expected<uint64_t> blockInTable(const state::ModuleLoad &Load,
                                        uint64_t Index, uint64_t FsBase,
                                        llvm::StringRef None);

  state::StateCache &States;
  const symbols::Symbols &Symbols;
  const Timestamp T;
};

} // namespace chronicle::query

#endif
