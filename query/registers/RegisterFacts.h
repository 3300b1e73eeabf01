// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which registers each superblock of a trace writes, known without replay.

#ifndef CHRONICLE_QUERY_REGISTERS_REGISTERFACTS_H
#define CHRONICLE_QUERY_REGISTERS_REGISTERFACTS_H

#include "query/answers/RegisterWrite.h"
#include "trace-format/ZeroedTable.h"
#include "trace-format/file/TraceReader.h"
#include <array>
#include <atomic>
#include <mutex>

namespace chronicle::registers {

/// The writes of one superblock to the guest state, in order.
class RegisterFacts {
public:
  struct Write {
    uint16_t Instruction;
    uint16_t Exit; ///< side exits before it: happens if the ordinal is greater
    uint16_t Offset, Size;
  };
  /// A bit for each 8 bytes of the guest state.
  using Words = std::array<uint64_t, 2>;

  static llvm::Expected<std::unique_ptr<const RegisterFacts>>
  create(llvm::ArrayRef<uint8_t> Definition);

  llvm::ArrayRef<Write> writes() const { return Writes; }
  bool mayWrite(const Words &Any) const {
    return (Written[0] & Any[0]) | (Written[1] & Any[1]);
  }
  static void add(Words &To, uint32_t Offset, uint32_t Size);

private:
  RegisterFacts() = default;
  std::vector<Write> Writes;
  Words Written = {};
};

/// All superblocks of a trace. The facts about one are worked out when they are
/// first asked for, which reads its definition once (about 40 processor
/// instructions per statement), and kept. May be used from several threads at
/// once.
class RegisterTable {
public:
  explicit RegisterTable(const file::TraceReader &Trace)
      : Trace(Trace), Known(Trace.superblockCount()) {}
  /// Fails if the definition is damaged.
  llvm::Expected<const RegisterFacts *> facts(uint32_t Superblock) const;

private:
  const file::TraceReader &Trace;
  using Slot = std::atomic<const RegisterFacts *>;
  mutable ZeroedTable<Slot> Known;
  mutable std::mutex Lock;
  mutable std::vector<std::unique_ptr<const RegisterFacts>> Made;
};

} // namespace chronicle::registers

#endif
