// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/StateReader.h"
#include "query/questions/FunctionEntry.h"
#include "query/state/Moment.h"

using namespace llvm;

namespace chronicle::expressions {

Error StateReader::go(Timestamp To, uint32_t Of) {
  const bool GoesOn = Cursor && Cursor->time() <= To &&
                      Cursor->block().Number == T.reader().blockAt(To);
  if (GoesOn) {
    if (Error E = Cursor->runTo(To)) {
      Cursor.reset();
      return E;
    }
  } else {
    Cursor.reset();
    Expected<state::StateCursor> At = States.at(To);
    if (!At)
      return At.takeError();
    Cursor.emplace(std::move(*At));
  }
  Time = To;
  Thread = Of;
  Map.reset();
  Call.reset();
  if (const uint8_t *State = Cursor->replayer().state(Thread)) {
    std::memcpy(Now.State.data(), State, Now.State.size());
    return Error::success();
  }
  return state::Moment(States, To).registers(Thread).moveInto(Now);
}

Expected<bool> StateReader::read(uint64_t Address,
                                 MutableArrayRef<uint8_t> Into) {
  if (!Map)
    Map = States.maps().at(Time);
  const uint64_t Last = Address + Into.size() - 1;
  if (Last < Address)
    return false;
  uint64_t From = Address;
  for (auto It = state::MapHistory::firstFrom(*Map, From); From <= Last; ++It) {
    if (It == Map->end() || It->Address > From)
      return false;
    From = It->end();
  }
  Cursor->memory().read(Address, Into.data(), Into.size());
  if (Error E = Cursor->memory().takeError())
    return E;
  return true;
}

Expected<const answers::Activation *> StateReader::call() {
  if (!Call) {
    Expected<std::vector<answers::Activation>> Stack =
        T.callStack(Thread, Time, 1);
    if (!Stack)
      return Stack.takeError();
    if (Stack->empty())
      return nullptr;
    Call = Stack->front();
  }
  return &*Call;
}

Expected<uint64_t> StateReader::frameAddress() {
  Expected<const answers::Activation *> A = call();
  if (!A)
    return A.takeError();
  if (!*A)
    return createStringError("the thread is in no call");
  return (*A)->StackPointer + sizeof(uint64_t);
}

Expected<std::optional<answers::Registers>> StateReader::registersAtEntry() {
  Expected<const answers::Activation *> A = call();
  if (!A)
    return A.takeError();
  if (!*A)
    return std::nullopt;
  Expected<std::optional<questions::FunctionEntry>> Entry =
      questions::functionEntry(T, **A, Time);
  if (!Entry)
    return Entry.takeError();
  if (!*Entry)
    return std::nullopt;
  Expected<answers::Registers> R = T.registers(Thread, (*Entry)->Time);
  if (!R)
    return R.takeError();
  return *R;
}

} // namespace chronicle::expressions
