// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/ExitTable.h"

using namespace llvm;

namespace chronicle::replay {

ExitTable::ExitTable(const file::TraceReader &Trace)
    : FirstExits(Trace.superblockCount()) {
  Superblocks.resize(Trace.exitCount());
  for (uint32_t Id = 0; Id < Trace.superblockCount(); ++Id) {
    Definition D = Trace.definition(Id);
    FirstExits[Id] = D.FirstExit;
  }
  for (uint32_t Exit = 0; Exit < Superblocks.size(); ++Exit)
    Superblocks[Exit] = Trace.superblockOfExit(Exit);
}

ExitTable::ExitTable(ArrayRef<uint32_t> ExitsOfSuperblock) {
  for (uint32_t Id = 0; Id < ExitsOfSuperblock.size(); ++Id) {
    FirstExits.push_back(static_cast<uint32_t>(Superblocks.size()));
    Superblocks.insert(Superblocks.end(), ExitsOfSuperblock[Id], Id);
  }
}

} // namespace chronicle::replay
