// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Follows a value backward to where it was made.

#ifndef CHRONICLE_QUERY_ORIGINS_ORIGINSEARCH_H
#define CHRONICLE_QUERY_ORIGINS_ORIGINSEARCH_H

#include "query/answers/Cancellation.h"
#include "query/answers/Origin.h"
#include "query/origins/SuperblockRun.h"
#include "query/registers/RegisterSearch.h"
#include <list>

namespace chronicle::origins {

/// Follows one value. Each step finds the last write to where the value is: in
/// memory as search::findWrites(), in a register as RegisterSearch, and within
/// a superblock by looking through it. A step between superblocks costs one
/// such search and one execution of a superblock.
class OriginSearch {
public:
  OriginSearch(state::StateCache &States, const code::CodeTable &Code,
               const registers::RegisterSearch &Registers,
               const answers::Cancellation *Cancel)
      : States(States), Code(Code), Registers(Registers), Cancel(Cancel) {}

  /// Follows what the place holds at a moment, for no more than Limit steps. A
  /// step whose value is not what was read from its place ends the way with
  /// OriginKind::Unknown: something wrote there that the trace does not have.
  llvm::Expected<answers::OriginTrail> follow(const answers::ValuePlace &Place,
                                              Timestamp At, uint64_t Limit);

private:
  /// Bytes whose writer is looked for.
  struct Strand {
    answers::ValuePlace Place;
    std::vector<uint8_t> Value; ///< what the place holds then
    uint32_t PartOffset = 0;
    std::optional<size_t> Next;
    /// Within this execution, before statement Before; null: at At.
    std::shared_ptr<const SuperblockRun> Run;
    uint32_t Before = 0;
    Timestamp At = 0;
  };

  llvm::Error step(Strand S);
  llvm::Error stepInside(Strand S);
  llvm::Error fromMemory(Strand S);
  const TimelineEvent *mappedSince(const answers::ValuePlace &P,
                                   Timestamp After, Timestamp Until) const;
  llvm::Error fromRegister(Strand S);
  llvm::Error fromStart(const Strand &S);
  void written(const Strand &S, uint32_t Statement, uint32_t First,
               uint32_t Size);
  /// The part [First, First + Size) of the strand; the rest is kept for later.
  Strand split(const Strand &S, uint32_t First, uint32_t Size);
  llvm::Error enter(Strand S, BlockNumber N, Timestamp T);
  llvm::Error end(const Strand &S, answers::OriginKind Kind, Timestamp Time,
                  uint32_t Thread, uint64_t Pc, uint32_t SystemCall = 0);
  llvm::Expected<std::shared_ptr<const SuperblockRun>> run(BlockNumber N,
                                                           Timestamp T);

  state::StateCache &States;
  const code::CodeTable &Code;
  const registers::RegisterSearch &Registers;
  const answers::Cancellation *Cancel;
  std::vector<Strand> Strands; ///< the next one is last
  std::list<std::shared_ptr<const SuperblockRun>> Recent;
  answers::OriginTrail Trail;
};

} // namespace chronicle::origins

#endif
