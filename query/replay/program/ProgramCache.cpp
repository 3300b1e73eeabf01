// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/program/ProgramCache.h"
#include "query/replay/program/ProgramBuilder.h"
#include "trace-format/file/TraceReader.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace chronicle::program {

ProgramCache::ProgramCache(uint32_t Count, DefinitionLookup Lookup)
    : Lookup(std::move(Lookup)), Checked(divideCeil(Count, 64)), Fast(Count),
      Exact(Count), AllLoads(Count) {}

ProgramCache::ProgramCache(const file::TraceReader &Trace)
    : ProgramCache(Trace.superblockCount(), [&Trace](uint32_t Id) {
        return Trace.definition(Id).Bytes;
      }) {
  Stored = pieces::StoredPrograms::create(Trace.programs(),
                                          ReplayProgram::version());
  Addresses = Trace.superblockAddresses();
  Exits = [&Trace](uint32_t Id) {
    const uint32_t End = Id + 1 < Trace.superblockCount()
                             ? Trace.definition(Id + 1).FirstExit
                             : Trace.exitCount();
    return End - Trace.definition(Id).FirstExit;
  };
}

ProgramCache::~ProgramCache() {
  for (uint32_t Superblock : Built)
    for (ProgramForm Form :
         {ProgramForm::Fast, ProgramForm::Exact, ProgramForm::AllLoads})
      delete table(Form)[Superblock].exchange(nullptr);
}

Error ProgramCache::none(uint32_t Superblock) {
  return createStringError("superblock " + Twine(Superblock) +
                           " has no definition");
}

/// A damaged stored program is built instead, without a word: reporting damage
/// is what verifying the trace is for.
Expected<const ReplayProgram *> ProgramCache::find(uint32_t Superblock,
                                                   ProgramForm Form) {
  if (Form == ProgramForm::Fast) {
    ArrayRef<uint8_t> Bytes = Stored.find(Superblock);
    if (!Bytes.empty())
      if (auto *P = ReplayProgram::at(Bytes, Superblock, Addresses[Superblock],
                                      Exits(Superblock))) {
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

} // namespace chronicle::program
