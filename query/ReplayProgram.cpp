// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ReplayProgram.h"
#include "query/ProgramBuilder.h"
#include <algorithm>

using namespace llvm;

namespace chronicle {

int ReplayProgram::instructionAt(uint64_t Address) const {
  auto It = std::find(Addresses.begin(), Addresses.end(), Address);
  return It == Addresses.end() ? -1 : It - Addresses.begin();
}

Expected<std::unique_ptr<ReplayProgram>>
ReplayProgram::create(ArrayRef<uint8_t> Definition, ProgramForm Form) {
  ProgramBuilder Builder(Form);
  return Builder.build(Definition);
}

ProgramCache::ProgramCache(uint32_t Count, DefinitionLookup Lookup)
    : Count(Count), Lookup(std::move(Lookup)), Fast(new Slot[Count]()),
      Exact(new Slot[Count]()) {}

ProgramCache::~ProgramCache() {
  for (uint32_t I = 0; I < Count; ++I) {
    delete Fast[I].load();
    delete Exact[I].load();
  }
}

Expected<const ReplayProgram *> ProgramCache::decode(uint32_t Superblock,
                                                     ProgramForm Form) {
  ArrayRef<uint8_t> Definition;
  if (Superblock < Count)
    Definition = Lookup(Superblock);
  if (Definition.empty())
    return createStringError("superblock " + Twine(Superblock) +
                             " has no definition");
  Expected<std::unique_ptr<ReplayProgram>> Program =
      ReplayProgram::create(Definition, Form);
  if (!Program)
    return createStringError("superblock " + Twine(Superblock) + ": " +
                             toString(Program.takeError()));
  const ReplayProgram *Expected = nullptr;
  if (table(Form)[Superblock].compare_exchange_strong(
          Expected, Program->get(), std::memory_order_acq_rel))
    return Program->release();
  return Expected;
}

} // namespace chronicle
