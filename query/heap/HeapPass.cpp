// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/heap/HeapPass.h"
#include "query/replay/machine/ReplayMemory.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::heap {

namespace {

class BlockCallsSeen : public passes::BlockObserver {
public:
  BlockCallsSeen(ArrayRef<AllocatorFunction> Functions,
                 const DenseMap<uint64_t, uint16_t> &Entries)
      : Functions(Functions), Entries(Entries) {}

  std::vector<uint64_t> entry(const passes::Entry &E) override;

  std::vector<AllocatorCall> Done;
  DenseMap<uint32_t, OpenCall> Open; ///< by thread

private:
  void finish(const passes::Entry &E, OpenCall &O);

  ArrayRef<AllocatorFunction> Functions;
  const DenseMap<uint64_t, uint16_t> &Entries;
};

} // namespace

static uint64_t word(const passes::Entry &E, unsigned Offset) {
  return operations::loadValue<uint64_t>(E.State + Offset);
}

void BlockCallsSeen::finish(const passes::Entry &E, OpenCall &O) {
  AllocatorCall &C = O.Call;
  C.DidReturn = true;
  C.Returned = E.Time;
  C.Result = word(E, CH_OFFSET_RAX);
  if (Functions[C.Call.Function].Kind == AllocatorKind::StoreAligned)
    C.Result = uint32_t(C.Result) ? 0 : E.Memory.load<uint64_t>(C.Arguments[0]);
  Done.push_back(C);
}

std::vector<uint64_t> BlockCallsSeen::entry(const passes::Entry &E) {
  const uint64_t Rsp = word(E, CH_OFFSET_RSP);
  auto It = Open.find(E.Thread);
  if (It != Open.end() && Rsp > It->second.StackPointer) {
    // It returned, unless an exception or longjmp() left it.
    if (E.Address == It->second.Call.ReturnAddress &&
        Rsp == It->second.StackPointer + 8)
      finish(E, It->second);
    else
      Done.push_back(It->second.Call);
    Open.erase(It);
    It = Open.end();
  }
  auto Function = Entries.find(E.Address);
  if (Function == Entries.end() || It != Open.end())
    return {};
  OpenCall O;
  O.Call.Call = {E.Time, E.Thread, Function->second};
  O.Call.Arguments[0] = word(E, CH_OFFSET_RDI);
  O.Call.Arguments[1] = word(E, CH_OFFSET_RSI);
  O.Call.Arguments[2] = word(E, CH_OFFSET_RDX);
  O.StackPointer = Rsp;
  O.Call.Entry = E.Address;
  O.Call.ReturnAddress = E.Memory.load<uint64_t>(Rsp);
  const uint64_t Back = O.Call.ReturnAddress;
  Open[E.Thread] = O;
  return {Back};
}

HeapPass::HeapPass(const file::TraceReader &Trace,
                   std::vector<AllocatorFunction> Functions,
                   DenseMap<uint64_t, uint16_t> Entries, FindReturn Find)
    : Trace(Trace), Functions(std::move(Functions)),
      Entries(std::move(Entries)), Find(std::move(Find)),
      Enters(Trace.superblockCount()) {
  for (auto [Id, Address] : enumerate(Trace.superblockAddresses()))
    Enters[Id] = this->Entries.contains(Address);
}

passes::PassNeeds HeapPass::needs() const {
  passes::PassNeeds Needs;
  for (const auto &Item : Entries)
    Needs.Entries.insert(Item.first);
  return Needs;
}

std::unique_ptr<passes::BlockObserver> HeapPass::start(const Block &B) {
  const bool Calls = any_of(B.Symbols, [&](uint32_t Exit) {
    return Exit < Trace.exitCount() && Enters[Trace.superblockOfExit(Exit)];
  });
  if (!Calls)
    return nullptr;
  return std::make_unique<BlockCallsSeen>(Functions, Entries);
}

Error HeapPass::deliver(BlockNumber,
                        std::unique_ptr<passes::BlockObserver> Seen) {
  if (!Seen)
    return Error::success();
  auto &Block = static_cast<BlockCallsSeen &>(*Seen);
  // What a call that began in an earlier block calls is a part of it.
  auto IsPart = [&](const AllocatorCall &C) {
    auto It = BusyUntil.find(C.Call.Thread);
    return It != BusyUntil.end() && C.Call.Time < It->second;
  };
  for (const AllocatorCall &C : Block.Done)
    if (!IsPart(C))
      Calls.push_back(C);
  for (auto &Item : Block.Open) {
    OpenCall &O = Item.second;
    if (IsPart(O.Call))
      continue;
    if (Error E = Find(O))
      return E;
    BusyUntil[Item.first] = O.Call.DidReturn ? O.Call.Returned : 0;
    Calls.push_back(O.Call);
  }
  return Error::success();
}

} // namespace chronicle::heap
