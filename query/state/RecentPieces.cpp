// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/RecentPieces.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::state {

/// Returns the value with this key, after reading it if it is not known.
template <class T, unsigned Bits, class ReadFunction>
static Expected<std::shared_ptr<const T>> get(RecentlyUsed<T, Bits> &Recent,
                                              uint64_t Key, ReadFunction Read) {
  if (std::shared_ptr<const T> Known = Recent.find(Key))
    return Known;
  Expected<T> Value = Read();
  if (!Value)
    return Value.takeError();
  return Recent.add(Key, std::move(*Value));
}

Expected<std::shared_ptr<const RecentPieces::Stacks>>
RecentPieces::stacks(BlockNumber N) {
  return get(RecentStacks, N, [&] { return Reader.readStacks(N); });
}

Expected<pieces::ActivationRecord> RecentPieces::activation(uint32_t Number) {
  ArrayRef<ActivationPiece> Pieces = Reader.activationPieces();
  auto It = llvm::partition_point(
      Pieces, [&](const ActivationPiece &P) { return P.First <= Number; });
  if (It != Pieces.begin()) {
    const ActivationPiece &Piece = *std::prev(It);
    auto Activations = get(RecentActivations, Piece.First,
                           [&] { return Reader.readActivations(Piece); });
    if (!Activations)
      return Activations.takeError();
    const uint64_t Index = Number - Piece.First;
    if (Index < (*Activations)->size())
      return (**Activations)[Index];
  }
  return createStringError("there is no activation %u", Number);
}

Expected<std::shared_ptr<const file::StoredExecutions>>
RecentPieces::executions(const ExecutionPiece &Piece) {
  return get(RecentExecutions, Piece.First,
             [&] { return Reader.readExecutions(Piece); });
}

Expected<std::shared_ptr<const file::StoredExecutions>>
RecentPieces::indexPart(const ExecutionIndexPiece &Piece) {
  return get(RecentIndex, Piece.First,
             [&] { return Reader.readExecutionIndex(Piece); });
}

bool RecentPieces::visitExecutionIndex(
    ArrayRef<uint32_t> Superblocks,
    function_ref<void(const pieces::ExecutionRun &)> Visit) {
  ArrayRef<ExecutionIndexPiece> Parts = Reader.executionIndex();
  if (Parts.empty())
    return false;
  while (!Superblocks.empty()) {
    // The last part that begins at the superblock or before.
    auto Part = llvm::partition_point(
        Parts, [&](const auto &P) { return P.First <= Superblocks.front(); });
    const uint64_t End = Part == Parts.end() ? ~uint64_t(0) : Part->First;
    ArrayRef<uint32_t> Here = Superblocks.take_while(
        [&](uint32_t Superblock) { return Superblock < End; });
    Superblocks = Superblocks.drop_front(Here.size());
    if (Part == Parts.begin())
      continue;
    auto Stored = indexPart(*std::prev(Part));
    Error E = Stored ? (*Stored)->Range.visit(Here, Visit) : Stored.takeError();
    if (E) {
      // The index only saves time: without it every executions piece is read.
      consumeError(std::move(E));
      return false;
    }
  }
  return true;
}

} // namespace chronicle::state
