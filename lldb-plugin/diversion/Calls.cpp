// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/diversion/Calls.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include <unistd.h>

using namespace llvm;

namespace chronicle::diversion {

void Calls::prepare(Timestamp Moment, uint64_t OsThread, FillRegisters How) {
  end();
  Prepared = true;
  HasRun = false;
  Time = Moment;
  Thread = OsThread;
  Fill = std::move(How);
  Obstacle.clear();
}

/// Code of a stranger's trace runs only if the user says so, however little it
/// can do.
Error Calls::mayRun() const {
  const std::optional<std::string> Setting =
      sys::Process::GetEnv("CHRONICLE_CALLS");
  if (Setting == "no")
    return createStringError("calls are switched off by CHRONICLE_CALLS=no");
  if (Setting == "yes")
    return Error::success();
  sys::fs::file_status Status;
  if (std::error_code Failed = sys::fs::status(T.reader().path(), Status))
    return createStringError(Failed, "cannot ask who owns the trace");
  if (Status.getUser() == geteuid())
    return Error::success();
  return createStringError(
      "the trace belongs to another user, so its code does not run here; the "
      "environment variable CHRONICLE_CALLS=yes allows it");
}

Error Calls::ensure() {
  if (D)
    return Error::success();
  if (!Obstacle.empty())
    return createStringError(Obstacle);
  Error Failed = [&]() -> Error {
    if (Error E = mayRun())
      return E;
    const uint64_t Process =
        T.allThreads().empty() ? Thread : T.allThreads()[0].OsThread;
    if (Error E = Diversion::create({T, Time, Process, Thread}, Own, Heap)
                      .moveInto(D))
      return E;
    if (Error E = D->registers().moveInto(Before))
      return E;
    if (Error E = Fill(Before, D->memory()))
      return E;
    return D->setRegisters(Before);
  }();
  if (!Failed)
    return Error::success();
  D.reset();
  Obstacle = toString(std::move(Failed));
  return createStringError(Obstacle);
}

Expected<MachineState> Calls::registers() {
  if (Error E = ensure())
    return E;
  return D->registers();
}

Error Calls::setRegister(StringRef Name, ArrayRef<uint8_t> Bytes) {
  if (Error E = ensure()) {
    consumeError(std::move(E)); // run() reports it
    return Error::success();
  }
  Expected<MachineState> State = D->registers();
  if (!State)
    return State.takeError();
  // What the trace does not have is constant.
  if (!State->set(Name, Bytes))
    return Error::success();
  return D->setRegisters(*State);
}

Expected<bool> Calls::isRestored() {
  if (!D)
    return true;
  Expected<MachineState> State = D->registers();
  if (!State)
    return State.takeError();
  return *State == Before;
}

Expected<unsigned> Calls::save() {
  Expected<MachineState> State = registers();
  if (!State)
    return State.takeError();
  Saved.push_back(std::move(*State));
  return unsigned(Saved.size());
}

Expected<bool> Calls::restore(unsigned Number) {
  if (!D || !Number || Number > Saved.size())
    return false;
  if (Error E = D->setRegisters(Saved[Number - 1]))
    return E;
  return true;
}

void Calls::returned() {
  Prepared = HasRun = false;
  Saved.clear();
  if (D)
    D->memory().saveScratch();
}

void Calls::end() {
  if (D)
    D->memory().saveScratch();
  Prepared = HasRun = false;
  Saved.clear();
  D.reset();
}

void Calls::leave() {
  end();
  Heap.clear();
}

std::optional<uint64_t> Calls::allocate(uint64_t Length, int Protection) {
  std::optional<uint64_t> Start = Own.allocate(Length, Protection);
  if (!Start || !D)
    return Start;
  if (Error E = D->memory().addScratch(*Start)) {
    consumeError(std::move(E)); // the debugger gets no memory
    Own.release(*Start);
    return std::nullopt;
  }
  return Start;
}

bool Calls::release(uint64_t Address) {
  auto It = Own.areas().find(Address);
  if (It == Own.areas().end())
    return false;
  if (D)
    consumeError(
        D->memory().unmap(Address, It->second.Bytes.size()).takeError());
  return Own.release(Address);
}

Expected<std::optional<std::vector<uint8_t>>>
Calls::read(uint64_t Address, uint64_t Length, bool OfCall) {
  if (D && OfCall) {
    Expected<std::vector<uint8_t>> Bytes = D->memory().read(Address, Length);
    if (!Bytes)
      return Bytes.takeError();
    return std::move(*Bytes);
  }
  MutableArrayRef<uint8_t> Found = Own.find(Address);
  if (Found.empty())
    return std::nullopt;
  Found = Found.take_front(std::min<uint64_t>(Length, Found.size()));
  return std::vector<uint8_t>(Found.begin(), Found.end());
}

Error Calls::write(uint64_t Address, ArrayRef<uint8_t> Bytes) {
  MutableArrayRef<uint8_t> Found = Own.find(Address);
  if (Found.size() >= Bytes.size() && !Bytes.empty()) {
    std::copy(Bytes.begin(), Bytes.end(), Found.begin());
    return D ? D->memory().write(Address, Bytes) : Error::success();
  }
  if (!Prepared)
    return createStringError(
        "a recorded run cannot be changed: memory keeps its contents");
  if (Error E = ensure()) {
    consumeError(std::move(E)); // run() reports it
    return Error::success();
  }
  return D->memory().write(Address, Bytes);
}

const DivertedStop &Calls::run(const Diversion::RunOptions &How) {
  HasRun = true;
  Last = {DivertedStop::Refused};
  if (Error E = ensure()) {
    Last.Text = toString(std::move(E));
    return Last;
  }
  Expected<DivertedStop> Stop = D->run(How);
  if (Stop)
    Last = *Stop;
  else
    Last.Text = toString(Stop.takeError());
  return Last;
}

std::chrono::milliseconds Calls::timeLimit() {
  double Seconds = 10;
  if (std::optional<std::string> Setting =
          sys::Process::GetEnv("CHRONICLE_CALL_SECONDS"))
    if (double Wanted; to_float(*Setting, Wanted) && Wanted > 0)
      Seconds = Wanted;
  return std::chrono::milliseconds(int64_t(Seconds * 1000));
}

} // namespace chronicle::diversion
