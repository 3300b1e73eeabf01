// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The ELF files that were mapped into the program: where, and from when to
/// when.

#ifndef CHRONICLE_QUERY_STATE_MODULEHISTORY_H
#define CHRONICLE_QUERY_STATE_MODULEHISTORY_H

#include "query/answers/Module.h"
#include "trace-format/file/TraceReader.h"

namespace chronicle::state {

/// A module that is in memory for some time. A library that is unloaded and
/// loaded again has two of these.
struct ModuleLoad {
  answers::Module Info;
  /// In memory for Loaded <= T < Unloaded.
  Timestamp Loaded = 0, Unloaded = ~Timestamp(0);
  /// What is added to the file's own addresses: 0 unless it is position
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
/// files' first pages. Works for a trace that was cut off, and for libraries
/// that come and go. Making it costs one pass over the timeline and one or two
/// page chunks per load. find() costs two binary searches, however often
/// libraries come and go, unless modules of different times overlap in memory.
class ModuleHistory {
public:
  explicit ModuleHistory(const file::TraceReader &Reader);
  explicit ModuleHistory(std::vector<ModuleLoad> Loads);

  /// In order of their loading.
  llvm::ArrayRef<ModuleLoad> loads() const { return Loads; }
  /// The one in memory there at T, or null. If one was put into another, it is
  /// the inner one.
  const ModuleLoad *find(uint64_t Address, Timestamp T) const;
  /// Those in memory at T, by address.
  std::vector<answers::Module> at(Timestamp T) const;

private:
  /// The loads that begin at one address, one after the other.
  struct Place {
    uint64_t Address;
    uint64_t End; ///< the largest end of all modules here and below
    std::vector<uint32_t> Loads;
  };
  void addPlaces();
  const ModuleLoad *loadedAt(const Place &P, Timestamp T) const;

  std::vector<ModuleLoad> Loads;
  std::vector<Place> Places; ///< by address
};

/// Reads private memory as it was at the start of block N. Memory that was
/// never written is zero.
llvm::Error readRecordedMemory(const file::TraceReader &Reader,
                               uint64_t Address, BlockNumber N,
                               llvm::MutableArrayRef<uint8_t> Into);

} // namespace chronicle::state

#endif
