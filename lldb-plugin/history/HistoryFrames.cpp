// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/history/HistoryFrames.h"
#include "query/ancestry/Ancestry.h"
#include "query/questions/FunctionEntry.h"
#include "trace-format/GuestState.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using support::endian::read64le;
using support::endian::write64le;

namespace chronicle::history {

/// How many activations are looked up at once at first.
static constexpr size_t FirstActivations = 32;

static Expected<std::vector<uint8_t>> readAll(const query::Trace &T,
                                              uint64_t Address, uint64_t Length,
                                              Timestamp Time) {
  Expected<answers::MemoryContents> M = T.memory(Address, Length, Time);
  if (!M)
    return M.takeError();
  if (M->Mapped.size() != 1 || M->Mapped[0].first != 0 ||
      M->Mapped[0].second != Length)
    M->Bytes.clear();
  return std::move(M->Bytes);
}

static void set(answers::Registers &R, unsigned Offset, uint64_t Value) {
  write64le(&R.State[Offset], Value);
}

Expected<HistoryFrames> HistoryFrames::create(const query::Trace &T,
                                              uint32_t Thread, Timestamp Time) {
  HistoryFrames Result(T, Thread, Time);
  if (Error E = Result.know(FirstActivations))
    return E;
  return Result;
}

Error HistoryFrames::know(size_t Most) {
  if (Complete || Stack.size() >= Most)
    return Error::success();
  Expected<std::vector<answers::Activation>> Known =
      questions::stackWithStrayReturns(*T, Thread, Time, Most);
  if (!Known)
    return Known.takeError();
  Complete = Known->size() < Most;
  Stack = std::move(*Known);
  return Error::success();
}

/// The return address that the activation's call pushed, or the kernel for a
/// handler; 0: unknown.
Expected<uint64_t>
HistoryFrames::returnAddress(const answers::Activation &A) const {
  if (A.Return)
    return A.Return;
  Expected<std::vector<uint8_t>> Then = readAll(*T, A.StackPointer, 8, A.Entry);
  if (!Then)
    return Then.takeError();
  return Then->empty() ? 0 : read64le(Then->data());
}

/// Adds the frames of the next activation.
Error HistoryFrames::addFrames() {
  const size_t I = Shown++;
  const answers::Activation &A = Stack[I];
  HistoryFrame Frame;
  Frame.Activation = I;
  Frame.Cfa = A.StackPointer + 8;
  Frame.Pc = A.Pc;
  Frame.What = HistoryFrame::Interrupted;
  if (I && !Stack[I - 1].Signal && !Stack[I - 1].Jumped) {
    Expected<uint64_t> Address = returnAddress(Stack[I - 1]);
    if (!Address)
      return Address.takeError();
    Frame.What = HistoryFrame::Called;
    if (*Address)
      Frame.Pc = *Address;
  }
  Frames.push_back(Frame);
  if (!A.Signal || I + 1 == Stack.size())
    return Error::success();
  Expected<uint64_t> Address = returnAddress(A);
  if (!Address)
    return Address.takeError();
  Expected<answers::Registers> R = interruptedRegisters(A);
  if (!R)
    return R.takeError();
  HistoryFrame Trampoline;
  Trampoline.What = HistoryFrame::Trampoline;
  Trampoline.Activation = I;
  Trampoline.Pc = *Address;
  Trampoline.Cfa = R->rsp();
  Frames.push_back(Trampoline);
  return Error::success();
}

Expected<const HistoryFrame *> HistoryFrames::frame(size_t Index) {
  while (Index >= Frames.size()) {
    // The one after it must be known too, so that the outermost one is known.
    if (Shown + 1 >= Stack.size())
      if (Error E = know(2 * Stack.size()))
        return E;
    if (Shown == Stack.size())
      return nullptr;
    if (Error E = addFrames())
      return E;
  }
  return &Frames[Index];
}

Expected<size_t> HistoryFrames::count() {
  if (Error E = know(~size_t(0)))
    return E;
  // A handler has another frame, for the code that it returns to.
  size_t Count = Stack.size();
  for (const answers::Activation &A : Stack)
    Count += A.Signal;
  return Count - (!Stack.empty() && Stack.back().Signal);
}

/// The registers of what the handler interrupted: from the signal frame that
/// the kernel made for the handler, as it was at the handler's first
/// instruction.
Expected<answers::Registers>
HistoryFrames::interruptedRegisters(const answers::Activation &Handler) const {
  if (ancestry::isInherited(*T, Handler))
    return interruptedInParent(Handler);
  Expected<answers::Registers> R = T->registers(Thread, Handler.Entry);
  if (!R)
    return R.takeError();
  // The handler's third argument is a ucontext. After flags, link and stack it
  // has the registers in this order.
  static constexpr unsigned Order[] = {
      CH_OFFSET_R8,  CH_OFFSET_R9,  CH_OFFSET_R10, CH_OFFSET_R11, CH_OFFSET_R12,
      CH_OFFSET_R13, CH_OFFSET_R14, CH_OFFSET_R15, CH_OFFSET_RDI, CH_OFFSET_RSI,
      CH_OFFSET_RBP, CH_OFFSET_RBX, CH_OFFSET_RDX, CH_OFFSET_RAX, CH_OFFSET_RCX,
      CH_OFFSET_RSP, CH_OFFSET_RIP};
  constexpr uint64_t Before = 8 + 8 + 24;
  constexpr size_t Count = std::size(Order);
  Expected<std::vector<uint8_t>> Saved = readAll(
      *T, R->word(CH_OFFSET_RDX) + Before, 8 * (Count + 1), Handler.Entry);
  if (!Saved)
    return Saved.takeError();
  if (Saved->empty())
    return createStringError("the frame of a signal handler is not mapped");
  for (size_t I = 0; I < Count; ++I)
    set(*R, Order[I], read64le(&(*Saved)[8 * I]));
  // The flags follow. Valgrind keeps flags that no operation computed like
  // this.
  set(*R, CH_OFFSET_CC_OP, 0);
  set(*R, CH_OFFSET_CC_DEP1, read64le(&(*Saved)[8 * Count]));
  set(*R, CH_OFFSET_CC_DEP2, 0);
  set(*R, CH_OFFSET_CC_NDEP, 0);
  return *R;
}

/// The registers before the activation's first instruction.
Expected<answers::Registers> HistoryFrames::entryRegisters(size_t Index) const {
  // A signal may have been delivered before that instruction ran.
  if (Index && Stack[Index - 1].Signal &&
      Stack[Index - 1].Entry == Stack[Index].Entry)
    return interruptedRegisters(Stack[Index - 1]);
  return T->registers(Thread, Stack[Index].Entry);
}

Expected<std::optional<answers::Registers>>
HistoryFrames::registersAtEntry(size_t Index) const {
  const HistoryFrame &Frame = Frames[Index];
  if (Frame.What == HistoryFrame::Trampoline)
    return std::nullopt;
  const answers::Activation &A = Stack[Frame.Activation];
  if (ancestry::isInherited(*T, A))
    return std::nullopt;
  Expected<std::optional<questions::FunctionEntry>> Entered =
      questions::functionEntry(*T, A, Time);
  if (!Entered)
    return Entered.takeError();
  if (!*Entered)
    return std::nullopt;
  Expected<answers::Registers> R = (*Entered)->Time == A.Entry
                                       ? entryRegisters(Frame.Activation)
                                       : T->registers(Thread, (*Entered)->Time);
  if (!R)
    return R.takeError();
  return *R;
}

/// The frames of the parent when it forked this process.
Expected<HistoryFrames> HistoryFrames::parentFrames() const {
  if (!Parent)
    if (Error E = ancestry::openParent(*T).moveInto(Parent))
      return E;
  auto From = ancestry::forkedFrom(*T);
  return create(*Parent, From->Thread, From->Time);
}

/// As interruptedRegisters(), for a handler that was under way then.
Expected<answers::Registers>
HistoryFrames::interruptedInParent(const answers::Activation &Handler) const {
  Expected<HistoryFrames> Theirs = parentFrames();
  if (!Theirs)
    return Theirs.takeError();
  if (Error E = Theirs->know(~size_t(0)))
    return E;
  for (const answers::Activation &A : Theirs->Stack)
    if (A.Signal && A.StackPointer == Handler.StackPointer)
      return Theirs->interruptedRegisters(A);
  return createStringError("the trace of its parent does not have this frame");
}

/// The registers of a frame that had made its call when the process was forked.
/// They are those of the same frame in the parent.
Expected<answers::Registers>
HistoryFrames::inheritedRegisters(uint64_t Cfa) const {
  Expected<HistoryFrames> Theirs = parentFrames();
  if (!Theirs)
    return Theirs.takeError();
  for (size_t I = 0;; ++I) {
    Expected<const HistoryFrame *> Frame = Theirs->frame(I);
    if (!Frame)
      return Frame.takeError();
    if (!*Frame)
      return createStringError(
          "the trace of its parent does not have this frame");
    if ((*Frame)->Cfa == Cfa)
      return Theirs->registers(I);
  }
}

Expected<answers::Registers> HistoryFrames::registers(size_t Index) const {
  const HistoryFrame &Frame = Frames[Index];
  if (!Index)
    return T->registers(Thread, Time);
  const bool OfCaller = Frame.What != HistoryFrame::Trampoline;
  if (ancestry::isInherited(*T, Stack[Frame.Activation - OfCaller]))
    return inheritedRegisters(Frame.Cfa);
  if (Frame.What != HistoryFrame::Trampoline)
    if (auto Jumped = Stack[Frame.Activation - 1].Jumped)
      return T->registers(Thread, *Jumped);
  if (Frame.What == HistoryFrame::Interrupted)
    return interruptedRegisters(Stack[Frame.Activation - 1]);
  // The callee's first registers, with the effects of the call undone.
  size_t Callee = Frame.What == HistoryFrame::Trampoline ? Frame.Activation
                                                         : Frame.Activation - 1;
  Expected<answers::Registers> R = entryRegisters(Callee);
  if (!R)
    return R.takeError();
  set(*R, CH_OFFSET_RIP, Frame.Pc);
  set(*R, CH_OFFSET_RSP, Stack[Callee].StackPointer + 8);
  return *R;
}

} // namespace chronicle::history
