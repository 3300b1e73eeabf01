// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/StoreWrites.h"

using namespace llvm;

namespace chronicle::search {

void StoreWrites::store(uint32_t Instruction, uint64_t Address, uint32_t Size,
                        const uint8_t *Old, const uint8_t *New) {
  if (!Watch.overlaps(Address, Size))
    return;
  const replay::BlockReplayer &Replayer = Cursor.replayer();
  const uint32_t Superblock =
      Cache.exits().superblock(Cursor.block().Symbols[Replayer.executions()]);
  answers::Write W;
  W.Time = Replayer.superblockStart() + Instruction;
  W.Thread = Replayer.thread();
  W.By = answers::Writer::Instruction;
  // The superblock is running, so its program exists.
  W.Pc = cantFail(Cache.programs().get(Superblock, program::ProgramForm::Fast))
             ->address(Instruction);
  W.Address = Address;
  W.Old.assign(Old, Old + Size);
  W.New.assign(New, New + Size);
  Found.push_back(std::move(W));
}

} // namespace chronicle::search
