// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/pieces/BlockFormat.h"
#include "trace-format/FileFormat.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::pieces {

uint32_t snapshotThread(uint32_t Kind, ArrayRef<uint8_t> Payload) {
  auto Snapshot = events::SnapshotEvent::decode(Kind, Payload);
  return Snapshot ? Snapshot->thread : 0;
}

SmallVector<uint32_t, 2> snapshotThreads(ArrayRef<Event> Events) {
  SmallVector<uint32_t, 2> Threads;
  for (const Event &E : Events)
    if (uint32_t Thread = snapshotThread(E.Kind, E.Payload))
      if (!is_contained(Threads, Thread))
        Threads.push_back(Thread);
  return Threads;
}

void EventsWriter::add(uint64_t Execution, uint32_t Kind,
                       ArrayRef<uint8_t> Payload, ArrayRef<uint8_t> More) {
  Bytes.v(Execution - LastExecution);
  Bytes.v(Kind);
  Bytes.v(Payload.size() + More.size());
  Bytes.bytes(Payload);
  Bytes.bytes(More);
  LastExecution = Execution;
  ++Count;
  if (Kind < 64)
    Kinds |= uint64_t(1) << Kind;
  if (uint32_t Thread = snapshotThread(Kind, Payload))
    if (!is_contained(Threads, Thread))
      Threads.push_back(Thread);
}

static void section(ByteWriter &Out, uint8_t Id, ArrayRef<uint8_t> Bytes) {
  if (Bytes.empty())
    return;
  Out.u8(Id);
  Out.v(Bytes.size());
  Out.bytes(Bytes);
}

void encodeBlock(ByteWriter &Out, const BlockHead &Head,
                 ArrayRef<uint8_t> Events, ArrayRef<uint8_t> Sequence,
                 ArrayRef<uint8_t> Opaque, ArrayRef<uint8_t> Stacks) {
  Out.reserve(Out.size() + Events.size() + Sequence.size() + Opaque.size() +
              Stacks.size() + 128);
  ByteWriter H;
  for (uint64_t N :
       {Head.First, Head.Instructions, Head.Executions, Head.Events,
        Head.DirtyPages, Head.DirtyGranules, Head.OpaqueBytes})
    H.v(N);
  section(Out, HeadSection, H.data());
  section(Out, EventsSection, Events);
  section(Out, SequenceSection, Sequence);
  section(Out, OpaqueSection, Opaque);
  section(Out, StacksSection, Stacks);
}

Expected<BlockSections> splitBlock(ArrayRef<uint8_t> Raw) {
  BlockSections B;
  ByteReader R(Raw);
  bool HasHead = false;
  while (!R.atEnd()) {
    uint8_t Id = R.u8();
    ArrayRef<uint8_t> Bytes = R.bytes(R.v());
    if (R.failed())
      break;
    switch (Id) {
    case HeadSection: {
      ByteReader H(Bytes);
      for (uint64_t *N :
           {&B.Head.First, &B.Head.Instructions, &B.Head.Executions,
            &B.Head.Events, &B.Head.DirtyPages, &B.Head.DirtyGranules,
            &B.Head.OpaqueBytes})
        *N = H.v();
      if (H.failed())
        return createStringError("a block with a damaged head");
      HasHead = true;
      break;
    }
    case EventsSection:
      B.Events = Bytes;
      break;
    case SequenceSection:
      B.Sequence = Bytes;
      break;
    case OpaqueSection:
      B.Opaque = Bytes;
      break;
    case StacksSection:
      B.Stacks = Bytes;
      break;
    }
  }
  if (R.failed() || !HasHead || B.Head.OpaqueBytes != B.Opaque.size())
    return createStringError("a block with damaged sections");
  return B;
}

Expected<std::vector<Event>> decodeEvents(ArrayRef<uint8_t> Bytes,
                                          const BlockHead &Head) {
  std::vector<Event> Events;
  ByteReader R(Bytes);
  uint64_t Execution = 0;
  while (!R.atEnd()) {
    Execution += R.v();
    uint64_t Kind = R.v();
    ArrayRef<uint8_t> Payload = R.bytes(R.v());
    if (R.failed() || Execution > Head.Executions || Kind > UINT32_MAX ||
        !events::isSound(uint32_t(Kind), Payload))
      return createStringError("a block with damaged events");
    Events.push_back({Execution, uint32_t(Kind), Payload});
  }
  if (Events.size() != Head.Events)
    return createStringError("a block with a wrong number of events");
  return Events;
}

} // namespace chronicle::pieces
