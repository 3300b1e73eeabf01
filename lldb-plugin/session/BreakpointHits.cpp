// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/session/BreakpointHits.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::session {

/// Keeps the executions of a block. If there are too many, keeps those around
/// Found.
Error BreakpointHits::keep(uint64_t Address, BlockNumber Block, Timestamp Found,
                           Executions &Of,
                           const answers::Cancellation &Cancel) {
  ArrayRef<BlockEntry> Blocks = T.reader().blocks();
  Of.When.First = Blocks[Block].First;
  Of.When.Last = Block + 1 < Blocks.size() ? Blocks[Block + 1].First - 1
                                           : T.instructions();
  Of.All.clear();
  Error E = T.executions(
      {Address, Address}, Of.When, /*Thread=*/0, /*Backward=*/false,
      [&](const answers::Execution &X) {
        if (Of.All.size() == Most) {
          if (X.Time > Found) {
            Of.When.Last = X.Time - 1;
            return false;
          }
          Of.When.First = Of.All.back().Time + 1;
          Of.All.clear();
        }
        Of.All.push_back(X);
        return true;
      },
      &Cancel);
  if (E || Cancel.Cancelled)
    Of = {};
  return E;
}

Expected<std::optional<answers::Execution>>
BreakpointHits::find(uint64_t Address, answers::TimeRange When, bool Backward,
                     const answers::Cancellation &Cancel) {
  std::optional<answers::Execution> Found;
  if (When.First > When.Last)
    return Found;
  // Debuggers remove a breakpoint to step off it, so what is known of its
  // address outlives it.
  if (Known.size() > MostAddresses)
    Known.clear();
  Executions &Of = Known[Address];
  const Timestamp From = Backward ? When.Last : When.First;
  if (From >= Of.When.First && From <= Of.When.Last) {
    auto It = partition_point(Of.All, [&](const answers::Execution &X) {
      return Backward ? X.Time <= From : X.Time < From;
    });
    if (Backward ? It != Of.All.begin() : It != Of.All.end()) {
      const answers::Execution &X = Backward ? *std::prev(It) : *It;
      if (X.Time >= When.First && X.Time <= When.Last)
        Found = X;
      return Found;
    }
    // The search continues beyond what is kept.
    if (Backward ? When.First >= Of.When.First : When.Last <= Of.When.Last)
      return Found;
    (Backward ? When.Last : When.First) =
        Backward ? Of.When.First - 1 : Of.When.Last + 1;
  }
  if (Error E = T.executions(
          {Address, Address}, When, /*Thread=*/0, Backward,
          [&](const answers::Execution &X) {
            Found = X;
            return false;
          },
          &Cancel))
    return E;
  if (!Found)
    return Found;
  const BlockNumber Block = T.reader().blockAt(Found->Time);
  if (Of.LastBlock == Block)
    if (Error E = keep(Address, Block, Found->Time, Of, Cancel))
      return E;
  Of.LastBlock = Block;
  return Found;
}

} // namespace chronicle::session
