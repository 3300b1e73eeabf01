// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/program/ReplayProgram.h"
#include "query/replay/program/ProgramBuilder.h"
#include "query/replay/program/ProgramSoundness.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <numeric>

using namespace llvm;

namespace chronicle::program {

uint32_t ReplayProgram::checksum(uint32_t Superblock) const {
  return static_cast<uint32_t>(xxh3_64bits(body())) + Superblock;
}

SmallVector<uint8_t, 0> ReplayProgram::stored(uint32_t Superblock) const {
  SmallVector<uint8_t, 0> Result;
  Result.resize_for_overwrite(Size);
  support::endian::write32le(Result.data(), checksum(Superblock));
  llvm::copy(body(), Result.begin() + sizeof(Checksum));
  return Result;
}

Expected<std::unique_ptr<ReplayProgram>>
ReplayProgram::create(uint64_t Start, ArrayRef<ReplayOp> Ops,
                      ArrayRef<uint16_t> Passed, ArrayRef<uint8_t> Lengths) {
  const size_t Used = totalSizeToAlloc<ReplayOp, uint16_t, uint8_t>(
      Ops.size(), Passed.size(), Lengths.size());
  const size_t Size = alignTo(Used, 8);
  if (Passed.size() > UINT16_MAX || Lengths.size() > UINT16_MAX ||
      Size > UINT32_MAX)
    return createStringError("the program is too long");
  auto *Memory = static_cast<uint8_t *>(::operator new(Size));
  std::unique_ptr<ReplayProgram> P(new (Memory) ReplayProgram());
  P->Size = static_cast<uint32_t>(Size);
  P->Start = Start;
  P->OpCount = static_cast<uint32_t>(Ops.size());
  P->ExitCount = static_cast<uint16_t>(Passed.size());
  P->InstructionCount = static_cast<uint16_t>(Lengths.size());
  std::uninitialized_copy(Ops.begin(), Ops.end(),
                          P->getTrailingObjects<ReplayOp>());
  std::uninitialized_copy(Passed.begin(), Passed.end(),
                          P->getTrailingObjects<uint16_t>());
  std::uninitialized_copy(Lengths.begin(), Lengths.end(),
                          P->getTrailingObjects<uint8_t>());
  std::fill(Memory + Used, Memory + Size, 0);
  P->Checksum = 0;
  return P;
}

uint64_t ReplayProgram::address(uint32_t Instruction) const {
  ArrayRef<uint8_t> Before = lengths().take_front(Instruction);
  return std::accumulate(Before.begin(), Before.end(), Start);
}

int ReplayProgram::instructionAt(uint64_t Address) const {
  uint64_t At = Start;
  for (auto [I, Length] : enumerate(lengths())) {
    if (At == Address)
      return static_cast<int>(I);
    At += Length;
  }
  return -1;
}

Expected<std::unique_ptr<ReplayProgram>>
ReplayProgram::create(ArrayRef<uint8_t> Definition, ProgramForm Form) {
  return ProgramBuilder().build(Definition, Form);
}

/// Must be raised when an operation comes to mean something else, or when the
/// builder is found to have made wrong programs, or when they are stored
/// differently.
static constexpr unsigned Meaning = 2;

uint64_t ReplayProgram::version() {
  static const uint64_t Version = [] {
    // In the order of their numbers.
    static constexpr char Names[] =
#define CH_FUSED_COMPARE(Name) #Name " "
#include "query/replay/program/FusedCompares.def"
#undef CH_FUSED_COMPARE
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D)                          \
  #Name " " #Result #Arity #A #B #C #D " "
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
#define CH_HELPER(Name) #Name " "
#include "trace-format/ReplayHelpers.def"
#undef CH_HELPER
        ;
    const uint64_t All[] = {xxh3_64bits(StringRef(Names)),
                            static_cast<uint64_t>(Code::First),
                            CH_GUEST_STATE_SIZE,
                            FrameZero,
                            FrameTemps,
                            Meaning};
    return xxh3_64bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(All), sizeof(All)));
  }();
  return Version;
}

const ReplayProgram *ReplayProgram::at(ArrayRef<uint8_t> Bytes,
                                       uint32_t Superblock, uint64_t Address,
                                       uint32_t Exits) {
  if (Bytes.size() < sizeof(ReplayProgram))
    return nullptr;
  const auto *P = reinterpret_cast<const ReplayProgram *>(Bytes.data());
  if (P->Size > Bytes.size() || P->Start != Address || P->ExitCount != Exits)
    return nullptr;
  const uint64_t Used =
      sizeof(ReplayProgram) + uint64_t(P->OpCount) * sizeof(ReplayOp) +
      uint64_t(P->ExitCount) * sizeof(uint16_t) + P->InstructionCount;
  if (Used > P->Size || P->Checksum != P->checksum(Superblock))
    return nullptr;
  const auto *Passed = P->getTrailingObjects<uint16_t>();
  if (any_of(ArrayRef(Passed, P->ExitCount),
             [&](uint16_t N) { return N > P->InstructionCount; }))
    return nullptr;
  return isSoundProgram(P->ops(), P->ExitCount) ? P : nullptr;
}

} // namespace chronicle::program
