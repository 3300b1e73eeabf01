// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/heap/HeapHistory.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace llvm;

namespace chronicle::heap {

/// Whether the call changes nothing: a block that could not be made larger
/// stays as it is.
static bool failedResize(const AllocatorCall &C, uint64_t Size) {
  return !C.DidReturn || (!C.Result && Size);
}

static uint64_t sizeOf(const AllocatorCall &C, AllocatorKind Kind) {
  switch (Kind) {
  case AllocatorKind::Size:
    return C.Arguments[0];
  case AllocatorKind::CountSize:
    return C.Arguments[0] * C.Arguments[1];
  case AllocatorKind::AlignSize:
  case AllocatorKind::Resize:
    return C.Arguments[1];
  case AllocatorKind::ResizeCount:
    return C.Arguments[1] * C.Arguments[2];
  case AllocatorKind::StoreAligned:
    return C.Arguments[2];
  case AllocatorKind::Free:
    return 0;
  }
  llvm_unreachable("there is no other kind");
}

void HeapHistory::allocate(const AllocatorCall &C, uint64_t Size) {
  if (!C.DidReturn || !C.Result)
    return;
  auto [It, New] = Live.try_emplace(C.Result, Blocks.size());
  if (!New) {
    Blocks[It->second].Reused = C.Returned;
    It->second = Blocks.size();
  }
  Blocks.push_back({C.Result, Size, C.Call, C.Returned, {}, {}});
}

void HeapHistory::release(const AllocatorCall &C, IsInternal Internal) {
  const uint64_t Address = C.Arguments[0];
  if (!Address)
    return;
  auto It = Live.find(Address);
  if (It == Live.end()) {
    if (!Internal(C))
      BadFrees.push_back({C.Call, Address});
    return;
  }
  Blocks[It->second].Freed = C.Call;
  Live.erase(It);
}

/// A block is freed when the call is entered, and allocated when it returns.
void HeapHistory::apply(const AllocatorCall &C, bool AtEntry,
                        IsInternal Internal) {
  const AllocatorKind Kind = Functions[C.Call.Function].Kind;
  const uint64_t Size = sizeOf(C, Kind);
  const bool Resizes =
      Kind == AllocatorKind::Resize || Kind == AllocatorKind::ResizeCount;
  if (!AtEntry)
    allocate(C, Size);
  else if (Kind == AllocatorKind::Free || (Resizes && !failedResize(C, Size)))
    release(C, Internal);
}

HeapHistory::HeapHistory(std::vector<AllocatorFunction> Names,
                         std::vector<AllocatorCall> Calls, IsInternal Internal)
    : Functions(std::move(Names)) {
  struct Effect {
    Timestamp Time;
    size_t Call;
    bool AtEntry;
  };
  std::vector<Effect> Effects;
  for (size_t I = 0; I < Calls.size(); ++I) {
    Effects.push_back({Calls[I].Call.Time, I, true});
    if (Calls[I].DidReturn)
      Effects.push_back({Calls[I].Returned, I, false});
  }
  llvm::stable_sort(Effects, [](const Effect &A, const Effect &B) {
    // A call may begin where another one returns to.
    return std::tie(A.Time, A.AtEntry) < std::tie(B.Time, B.AtEntry);
  });
  for (const Effect &E : Effects)
    apply(Calls[E.Call], E.AtEntry, Internal);
  Live.clear();

  ByAddress.resize(Blocks.size());
  for (size_t I = 0; I < Blocks.size(); ++I)
    ByAddress[I] = uint32_t(I);
  llvm::stable_sort(ByAddress, [&](uint32_t A, uint32_t B) {
    return Blocks[A].Address < Blocks[B].Address;
  });
  uint64_t Highest = 0;
  for (uint32_t I : ByAddress) {
    Highest = std::max(Highest, Blocks[I].Address +
                                    std::max<uint64_t>(Blocks[I].Size, 1));
    HighestEnd.push_back(Highest);
  }
}

std::vector<const HeapBlock *> HeapHistory::at(uint64_t Address) const {
  std::vector<const HeapBlock *> Found;
  size_t I = llvm::upper_bound(ByAddress, Address,
                               [&](uint64_t A, uint32_t B) {
                                 return A < Blocks[B].Address;
                               }) -
             ByAddress.begin();
  while (I && HighestEnd[I - 1] > Address)
    if (const HeapBlock &B = Blocks[ByAddress[--I]]; B.contains(Address))
      Found.push_back(&B);
  llvm::sort(Found, [](const HeapBlock *A, const HeapBlock *B) {
    return A->Since < B->Since;
  });
  return Found;
}

const HeapBlock *HeapHistory::blockAt(uint64_t Address, Timestamp T) const {
  const HeapBlock *Last = nullptr;
  for (const HeapBlock *B : at(Address)) {
    if (B->Since > T)
      break;
    Last = B;
  }
  return Last;
}

} // namespace chronicle::heap
