// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which ELF files were mapped into the program, where, and from when to when.

#ifndef CHRONICLE_QUERY_MODULEHISTORY_H
#define CHRONICLE_QUERY_MODULEHISTORY_H

#include "query/Trace.h"

namespace chronicle {

/// One stay of a module in memory. A library that is unloaded and loaded again
/// has two.
struct ModuleLoad {
  Module Info;
  /// In memory for Loaded <= T < Unloaded.
  Timestamp Loaded = 0, Unloaded = ~Timestamp(0);
  /// What the file's own addresses are moved by: 0 unless it is position
  /// independent.
  uint64_t Bias = 0;
  /// The first block at whose start its contents are complete.
  BlockNumber Contents = 0;
  bool HeaderRead = false; ///< Bias and BuildId come from recorded memory

  bool isThere(Timestamp T) const { return T >= Loaded && T < Unloaded; }
  bool contains(uint64_t Address, Timestamp T) const {
    return Address - Info.Address < Info.Size && isThere(T);
  }
};

/// Every module of a run, from the timeline and the recorded contents of the
/// files' first pages: works for a trace that was cut off, and for libraries
/// that come and go. Making it costs one pass over the timeline and one or two
/// page chunks a module; asking costs nothing.
class ModuleHistory {
public:
  explicit ModuleHistory(const TraceReader &Reader);

  /// In order of their loading.
  llvm::ArrayRef<ModuleLoad> loads() const { return Loads; }
  /// Those in memory at T, by address.
  std::vector<Module> at(Timestamp T) const;

private:
  std::vector<ModuleLoad> Loads;
};

/// Private memory as it was at the start of block N; what was never written is
/// zero.
llvm::Error readRecordedMemory(const TraceReader &Reader, uint64_t Address,
                               BlockNumber N,
                               llvm::MutableArrayRef<uint8_t> Into);

} // namespace chronicle

#endif
