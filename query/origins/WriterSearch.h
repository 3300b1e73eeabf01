// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds what wrote the bytes that a place holds.

#ifndef CHRONICLE_QUERY_ORIGINS_WRITERSEARCH_H
#define CHRONICLE_QUERY_ORIGINS_WRITERSEARCH_H

#include "query/answers/Cancellation.h"
#include "query/answers/Origin.h"
#include "query/origins/SuperblockRun.h"
#include "query/registers/RegisterSearch.h"
#include <list>

namespace chronicle::origins {

/// Bytes whose writer is looked for.
struct Strand {
  answers::ValuePlace Place;
  std::vector<uint8_t> Value; ///< what the place holds then
  /// Within this execution, before statement Before; null: at At.
  std::shared_ptr<const SuperblockRun> Run;
  uint32_t Before = 0;
  Timestamp At = 0;

  /// The bytes [First, First + Size) of it.
  Strand part(uint32_t First, uint32_t Size) const;
};

/// What wrote the bytes [First, First + Size) of a strand: a statement of an
/// execution, or, if Run is null, something else than an instruction.
struct Writer {
  uint32_t First = 0, Size = 0;
  std::shared_ptr<const SuperblockRun> Run;
  uint32_t Statement = 0;
  // If Run is null:
  answers::OriginKind Kind = answers::OriginKind::Unknown;
  Timestamp Time = 0;
  uint32_t Thread = 0;
  uint64_t Pc = 0;
  uint32_t SystemCall = 0;
};

/// Each answer costs one search, in memory as search::findWrites(), for a
/// register as RegisterSearch, and one execution of a superblock; within a
/// superblock it only costs a look through it. Executions are kept for the next
/// questions.
class WriterSearch {
public:
  WriterSearch(state::StateCache &States, const code::CodeTable &Code,
               const registers::RegisterSearch &Registers,
               const answers::Cancellation *Cancel)
      : States(States), Code(Code), Registers(Registers), Cancel(Cancel) {}

  /// The newest write to bytes of the strand. Moves the strand to before that
  /// write: there the search for its other bytes goes on. Nothing: cancelled.
  llvm::Expected<std::optional<Writer>> find(Strand &S);
  /// The value of a place at a moment.
  llvm::Expected<std::vector<uint8_t>> valueAt(const answers::ValuePlace &P,
                                               Timestamp T) const;
  /// The execution that holds the instruction at T, of block N.
  llvm::Expected<std::shared_ptr<const SuperblockRun>> run(BlockNumber N,
                                                           Timestamp T);

  const file::TraceReader &reader() const { return States.reader(); }
  bool cancelled() const { return Cancel && Cancel->Cancelled; }

private:
  std::optional<Writer> inside(Strand &S) const;
  llvm::Error enter(Strand &S, BlockNumber N, Timestamp T);
  llvm::Expected<std::optional<Writer>> fromMemory(Strand &S);
  llvm::Expected<std::optional<Writer>> fromRegister(Strand &S);
  const TimelineEvent *mappedSince(const answers::ValuePlace &P,
                                   Timestamp After, Timestamp Until) const;

  state::StateCache &States;
  const code::CodeTable &Code;
  const registers::RegisterSearch &Registers;
  const answers::Cancellation *Cancel;
  std::list<std::shared_ptr<const SuperblockRun>> Recent;
};

} // namespace chronicle::origins

#endif
