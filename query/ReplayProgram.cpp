// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ReplayProgram.h"
#include "query/ProgramBuilder.h"
#include "trace-format/TraceReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <numeric>

using namespace llvm;

namespace chronicle {

uint32_t ReplayProgram::checksum() const {
  return static_cast<uint32_t>(
      xxh3_64bits(bytes().drop_front(sizeof(Checksum))));
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
  P->Checksum = P->checksum();
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

ProgramCache::ProgramCache(uint32_t Count, DefinitionLookup Lookup)
    : Lookup(std::move(Lookup)), Checked(divideCeil(Count, 64)), Fast(Count),
      Exact(Count) {}

ProgramCache::ProgramCache(const TraceReader &Trace)
    : ProgramCache(Trace.superblockCount(), [&Trace](uint32_t Id) {
        return Trace.definition(Id).Bytes;
      }) {
  Stored = StoredPrograms::create(Trace.programs(), ReplayProgram::version());
  Addresses = Trace.superblockAddresses();
}

ProgramCache::~ProgramCache() {
  for (uint32_t Superblock : Built)
    for (ProgramForm Form : {ProgramForm::Fast, ProgramForm::Exact})
      delete table(Form)[Superblock].exchange(nullptr);
}

Error ProgramCache::none(uint32_t Superblock) {
  return createStringError("superblock " + Twine(Superblock) +
                           " has no definition");
}

/// A stored program that is damaged is built instead: whoever wants to know
/// about damage verifies the trace.
Expected<const ReplayProgram *> ProgramCache::find(uint32_t Superblock,
                                                   ProgramForm Form) {
  if (Form == ProgramForm::Fast) {
    ArrayRef<uint8_t> Bytes = Stored.find(Superblock);
    if (!Bytes.empty())
      if (auto *P = ReplayProgram::at(Bytes, Addresses[Superblock])) {
        Checked[Superblock / 64].fetch_or(uint64_t(1) << Superblock % 64,
                                          std::memory_order_relaxed);
        return P;
      }
  }
  return build(Superblock, Form);
}

Expected<const ReplayProgram *> ProgramCache::build(uint32_t Superblock,
                                                    ProgramForm Form) {
  ArrayRef<uint8_t> Definition = Lookup(Superblock);
  if (Definition.empty())
    return none(Superblock);
  std::unique_ptr<ProgramBuilder> Builder;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (!Builders.empty())
      Builder = Builders.pop_back_val();
  }
  if (!Builder)
    Builder = std::make_unique<ProgramBuilder>();
  Expected<std::unique_ptr<ReplayProgram>> Program =
      Builder->build(Definition, Form);
  std::lock_guard<std::mutex> Guard(Lock);
  Builders.push_back(std::move(Builder));
  if (!Program)
    return createStringError("superblock " + Twine(Superblock) + ": " +
                             toString(Program.takeError()));
  Slot &S = table(Form)[Superblock];
  if (const ReplayProgram *Others = S.load(std::memory_order_relaxed))
    return Others;
  Built.push_back(Superblock);
  S.store(Program->get(), std::memory_order_release);
  return Program->release();
}

} // namespace chronicle
