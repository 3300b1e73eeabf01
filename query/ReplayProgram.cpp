// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ReplayProgram.h"
#include "query/ProgramBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace chronicle {

std::unique_ptr<ReplayProgram>
ReplayProgram::create(const DefinitionHeader &Header, ArrayRef<ReplayOp> Ops,
                      ArrayRef<uint32_t> Instructions,
                      ArrayRef<uint32_t> Offsets) {
  assert(Instructions.size() == Header.Exits + 1 &&
         Offsets.size() == Header.Instructions);
  void *Memory =
      ::operator new(totalSizeToAlloc<ReplayOp, ReplayExit, uint32_t>(
          Ops.size(), Instructions.size(), Offsets.size()));
  std::unique_ptr<ReplayProgram> P(
      new (Memory) ReplayProgram(Header, static_cast<uint32_t>(Ops.size())));
  std::uninitialized_copy(Ops.begin(), Ops.end(),
                          P->getTrailingObjects<ReplayOp>());
  for (uint32_t I = 0; I < Instructions.size(); ++I)
    new (P->getTrailingObjects<ReplayExit>() + I)
        ReplayExit{P->code(), Header.Address, I + 1, Instructions[I]};
  std::uninitialized_copy(Offsets.begin(), Offsets.end(),
                          P->getTrailingObjects<uint32_t>());
  return P;
}

int ReplayProgram::instructionAt(uint64_t Address) const {
  auto It = llvm::find(offsets(), Address - Header.Address);
  return It == offsets().end() ? -1 : static_cast<int>(It - offsets().begin());
}

Expected<std::unique_ptr<ReplayProgram>>
ReplayProgram::create(ArrayRef<uint8_t> Definition, ProgramForm Form) {
  return ProgramBuilder().build(Definition, Form);
}

ProgramCache::ProgramCache(uint32_t Count, DefinitionLookup Lookup)
    : Lookup(std::move(Lookup)), Fast(Count), Exact(Count) {}

ProgramCache::~ProgramCache() {
  for (uint32_t Superblock : Decoded)
    for (ProgramForm Form : {ProgramForm::Fast, ProgramForm::Exact})
      delete table(Form)[Superblock].exchange(nullptr);
}

Expected<const ReplayProgram *> ProgramCache::decode(uint32_t Superblock,
                                                     ProgramForm Form) {
  ArrayRef<uint8_t> Definition;
  if (Superblock < Fast.size())
    Definition = Lookup(Superblock);
  if (Definition.empty())
    return createStringError("superblock " + Twine(Superblock) +
                             " has no definition");
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
  Decoded.push_back(Superblock);
  S.store(Program->get(), std::memory_order_release);
  return Program->release();
}

} // namespace chronicle
