// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The replay programs of a trace, stored and built.

#ifndef CHRONICLE_QUERY_REPLAY_PROGRAM_PROGRAMCACHE_H
#define CHRONICLE_QUERY_REPLAY_PROGRAM_PROGRAMCACHE_H

#include "query/replay/program/ReplayProgram.h"
#include "trace-format/ZeroedTable.h"
#include "trace-format/pieces/ProgramFormat.h"
#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

namespace chronicle::file {
class TraceReader;
}

namespace chronicle::program {

class ProgramBuilder;

/// The programs of a trace. A program that the trace holds is checked when it
/// is first asked for; the others are built then, and kept. Several threads may
/// ask at once.
class ProgramCache {
public:
  explicit ProgramCache(const file::TraceReader &Trace);
  /// For tests: the definitions of superblocks 0, 1, ...; an empty one means
  /// that there is no such superblock.
  using DefinitionLookup =
      std::function<llvm::ArrayRef<uint8_t>(uint32_t Superblock)>;
  ProgramCache(uint32_t Count, DefinitionLookup Lookup);
  ~ProgramCache();

  llvm::Expected<const ReplayProgram *> get(uint32_t Superblock,
                                            ProgramForm Form) {
    if (LLVM_UNLIKELY(Superblock >= Fast.size()))
      return none(Superblock);
    if (Form == ProgramForm::Fast && isChecked(Superblock))
      return reinterpret_cast<const ReplayProgram *>(
          Stored.find(Superblock).data());
    if (const ReplayProgram *P =
            table(Form)[Superblock].load(std::memory_order_acquire))
      return P;
    return find(Superblock, Form);
  }

private:
  using Slot = std::atomic<const ReplayProgram *>;
  ZeroedTable<Slot> &table(ProgramForm Form) {
    return Form == ProgramForm::Fast    ? Fast
           : Form == ProgramForm::Exact ? Exact
                                        : AllLoads;
  }
  bool isChecked(uint32_t Superblock) {
    return Checked[Superblock / 64].load(std::memory_order_relaxed) >>
               Superblock % 64 &
           1;
  }
  llvm::Expected<const ReplayProgram *> find(uint32_t Superblock,
                                             ProgramForm Form);
  llvm::Expected<const ReplayProgram *> build(uint32_t Superblock,
                                              ProgramForm Form);
  static llvm::Error none(uint32_t Superblock);

  DefinitionLookup Lookup;
  pieces::StoredPrograms Stored;
  llvm::ArrayRef<uint64_t> Addresses; ///< of superblocks, if Stored has any
  std::function<uint32_t(uint32_t)> Exits; ///< of a superblock, likewise
  /// One bit per superblock: the trace has its program, and it is sound. Apart
  /// from the tables below, so that an answer touches few pages of them.
  ZeroedTable<std::atomic<uint64_t>> Checked;
  ZeroedTable<Slot> Fast, Exact, AllLoads;
  /// Builders keep their memory from one program to the next.
  std::mutex Lock;
  llvm::SmallVector<std::unique_ptr<ProgramBuilder>, 2> Builders;
  std::vector<uint32_t> Built; ///< superblocks, in any form
};

} // namespace chronicle::program

#endif
