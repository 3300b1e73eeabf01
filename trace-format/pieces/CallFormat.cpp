// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/pieces/CallFormat.h"

using namespace llvm;

namespace chronicle::pieces {

static constexpr uint64_t SignalFlag = 1, FirstFlag = 2;

uint32_t ActivationsWriter::add(uint32_t Parent, const CallRecord &Call) {
  bool First = Call.Slot == NeverEnds;
  Bytes.v(Call.Signal * SignalFlag + First * FirstFlag);
  Bytes.v(Parent ? Next - Parent : 0);
  Bytes.z(int64_t(Call.Entry - Entry));
  Entry = Call.Entry;
  if (!First) {
    Bytes.z(int64_t(Call.Slot - Slot));
    Slot = Call.Slot;
  }
  Bytes.v(Call.CallSuperblock);
  Bytes.v(Call.Callee);
  return Next++;
}

ByteWriter ActivationsWriter::take() {
  ByteWriter Result = std::move(Bytes);
  Bytes = ByteWriter();
  First = Next;
  Entry = Slot = 0;
  return Result;
}

Expected<std::vector<ActivationRecord>>
decodeActivations(ArrayRef<uint8_t> Bytes, uint32_t First) {
  std::vector<ActivationRecord> Result;
  ByteReader R(Bytes);
  Timestamp Entry = 0;
  uint64_t Slot = 0;
  for (uint64_t Number = First; !R.atEnd(); ++Number) {
    ActivationRecord A;
    uint64_t Flags = R.v(), Back = R.v();
    A.Call.Entry = Entry += uint64_t(R.z());
    A.Call.Slot = NeverEnds;
    if (!(Flags & FirstFlag))
      A.Call.Slot = Slot += uint64_t(R.z());
    uint64_t CallSuperblock = R.v(), Callee = R.v();
    A.Call.Signal = Flags & SignalFlag;
    if (R.failed() || Back >= Number || Number > UINT32_MAX ||
        CallSuperblock > UINT32_MAX || Callee > UINT32_MAX)
      return createStringError("damaged activations");
    A.Call.CallSuperblock = uint32_t(CallSuperblock);
    A.Call.Callee = uint32_t(Callee);
    A.Call.Node = uint32_t(Number);
    A.Parent = Back ? uint32_t(Number - Back) : 0;
    Result.push_back(A);
  }
  return Result;
}

void encodeStacks(ByteWriter &Out, const ThreadStacks &T) {
  Out.v(T.Thread);
  Out.v(T.Signals.size());
  for (const PendingSignal &S : T.Signals) {
    Out.v(S.StackPointer);
    Out.u8(S.AlternateStack);
  }
  Out.v(T.Stacks.size());
  for (const ThreadStacks::Stack &S : T.Stacks) {
    Out.v(S.Activation);
    Out.v(S.StackPointer);
    Out.z(int64_t(S.Top - S.StackPointer));
    Out.v(S.Id);
    Out.v(S.Interrupted);
  }
}

Expected<std::vector<ThreadStacks>> decodeStacks(ArrayRef<uint8_t> Bytes) {
  std::vector<ThreadStacks> Result;
  ByteReader R(Bytes);
  while (!R.atEnd()) {
    ThreadStacks &T = Result.emplace_back();
    T.Thread = uint32_t(R.v());
    for (uint64_t N = R.v(); N && !R.failed(); --N) {
      PendingSignal &S = T.Signals.emplace_back();
      S.StackPointer = R.v();
      S.AlternateStack = R.u8();
    }
    for (uint64_t N = R.v(); N && !R.failed(); --N) {
      ThreadStacks::Stack &S = T.Stacks.emplace_back();
      S.Activation = uint32_t(R.v());
      S.StackPointer = R.v();
      S.Top = S.StackPointer + uint64_t(R.z());
      S.Id = uint32_t(R.v());
      S.Interrupted = uint32_t(R.v());
    }
    if (R.failed() || T.Stacks.empty())
      return createStringError("a block with damaged stacks");
  }
  return Result;
}

} // namespace chronicle::pieces
