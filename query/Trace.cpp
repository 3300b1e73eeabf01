// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/Trace.h"
#include "query/Calls.h"
#include "query/EventSearch.h"
#include "query/ExecutionSearch.h"
#include "query/ModuleHistory.h"
#include "query/StateAt.h"
#include "query/Symbols.h"
#include "query/WriteSearch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle {

struct Trace::Impl {
  Impl(std::unique_ptr<TraceReader> Reader, TraceOptions Options)
      : Reader(std::move(Reader)), Options(std::move(Options)),
        States(*this->Reader, this->Options.CacheBytes), Code(*this->Reader),
        Executions(States, Code),
        Calls(States, Code, this->Options.CacheBytes / 4) {}

  std::unique_ptr<TraceReader> Reader;
  TraceOptions Options;
  StateCache States;
  CodeTable Code;
  ExecutionSearch Executions;
  CallHistory Calls;
  std::once_flag SymbolsOnce, ModulesOnce;
  std::unique_ptr<class Symbols> Names;
  std::unique_ptr<ModuleHistory> Modules;

  Error check(Timestamp T) const {
    if (T <= Reader->instructions())
      return Error::success();
    return createStringError(
        formatv("the run ends at {0}; there is no moment {1}",
                Reader->instructions(), T));
  }
};

Trace::Trace() = default;
Trace::~Trace() = default;

Expected<std::unique_ptr<Trace>> Trace::open(StringRef Path,
                                             TraceOptions Options) {
  Expected<std::unique_ptr<TraceReader>> Reader = TraceReader::open(Path);
  if (!Reader)
    return Reader.takeError();
  std::unique_ptr<Trace> T(new Trace());
  T->I = std::make_unique<Impl>(std::move(*Reader), std::move(Options));
  return T;
}

const TraceReader &Trace::reader() const { return *I->Reader; }
Timestamp Trace::instructions() const { return I->Reader->instructions(); }

const Symbols &Trace::symbols() const {
  std::call_once(I->SymbolsOnce, [this] {
    I->Names = std::make_unique<class Symbols>(
        *I->Reader, SymbolOptions{I->Options.DebugDirectories});
  });
  return *I->Names;
}

Expected<uint32_t> Trace::threadAt(Timestamp T) const {
  return chronicle::threadAt(I->States, T);
}

Expected<Registers> Trace::registers(uint32_t Thread, Timestamp T) const {
  if (Error E = I->check(T))
    return E;
  return registersAt(I->States, Thread, T);
}

Expected<MemoryContents> Trace::memory(uint64_t Address, uint64_t Length,
                                       Timestamp T) const {
  return memoryAt(I->States, Address, Length, T);
}

Expected<std::vector<Mapping>> Trace::map(Timestamp T) const {
  if (Error E = I->check(T))
    return E;
  return I->States.maps().mappingsAt(T);
}

Expected<std::vector<Module>> Trace::modules(Timestamp T) const {
  if (Error E = I->check(T))
    return E;
  std::call_once(I->ModulesOnce, [this] {
    I->Modules = std::make_unique<ModuleHistory>(*I->Reader);
  });
  return I->Modules->at(T);
}

Expected<std::vector<ThreadInfo>> Trace::threads(Timestamp T) const {
  if (Error E = I->check(T))
    return E;
  return I->States.threads().at(T);
}

ArrayRef<ThreadInfo> Trace::allThreads() const {
  return I->States.threads().all();
}

Error Trace::writes(AddressRange Range, TimeRange When, bool Backward,
                    function_ref<bool(const Write &)> Visit,
                    const Cancellation *Cancel) const {
  return findWrites(I->States, Range, When, Backward, Visit, Cancel);
}

Error Trace::executions(AddressRange Code, TimeRange When, uint32_t Thread,
                        bool Backward,
                        function_ref<bool(const Execution &)> Visit,
                        const Cancellation *Cancel) const {
  return I->Executions.find(Code, When, Thread, Backward, Visit, Cancel);
}

Expected<uint64_t> Trace::countExecutions(AddressRange Code, TimeRange When,
                                          uint32_t Thread,
                                          const Cancellation *Cancel) const {
  return I->Executions.count(Code, When, Thread, Cancel);
}

Expected<std::vector<Activation>> Trace::callStack(uint32_t Thread,
                                                   Timestamp T) const {
  if (Error E = I->check(T))
    return E;
  return I->Calls.stackAt(Thread, T);
}

Expected<std::optional<Timestamp>> Trace::returnOf(const Activation &A) const {
  return I->Calls.returnOf(A);
}

Expected<std::optional<TimeRange>> Trace::stretchBefore(const Activation &A,
                                                        Timestamp T) const {
  if (Error E = I->check(T))
    return E;
  return I->Calls.stretchBefore(A, T);
}

Error Trace::callees(const Activation &A,
                     function_ref<bool(const Activation &)> Visit,
                     const Cancellation *Cancel) const {
  return I->Calls.callees(A, Visit, Cancel);
}

Error Trace::events(uint64_t Kinds, TimeRange When, bool Backward,
                    function_ref<bool(const TimedEvent &)> Visit,
                    const Cancellation *Cancel) const {
  return findEvents(I->States, I->Code, Kinds, When, Backward, Visit, Cancel);
}

} // namespace chronicle
