// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/Trace.h"
#include "query/ThreadLocals.h"
#include "query/calls/CallHistory.h"
#include "query/reads/ReadSearch.h"
#include "query/search/EventSearch.h"
#include "query/search/ExecutionSearch.h"
#include "query/search/WriteSearch.h"
#include "query/state/Moment.h"
#include "query/symbols/Symbols.h"
#include "trace-format/Text.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::query {

struct Trace::Impl {
  Impl(std::unique_ptr<file::TraceReader> Reader, TraceOptions Options)
      : Reader(std::move(Reader)), Options(std::move(Options)),
        States(*this->Reader, this->Options.CacheBytes), Code(*this->Reader),
        Executions(States, Code),
        Calls(States, Code, this->Options.CacheBytes / 4) {}

  std::unique_ptr<file::TraceReader> Reader;
  TraceOptions Options;
  state::StateCache States;
  code::CodeTable Code;
  search::ExecutionSearch Executions;
  calls::CallHistory Calls;
  std::once_flag SymbolsOnce;
  std::unique_ptr<symbols::Symbols> Names;
  std::timed_mutex ReadsLock; ///< for Reads, until it is set
  std::atomic<const reads::ReadIndex *> ReadsMade = nullptr;
  std::unique_ptr<reads::ReadIndex> Reads;

  /// Null: cancelled.
  Expected<const reads::ReadIndex *>
  readIndex(const answers::IndexProgress &Progress) {
    if (const reads::ReadIndex *Known = ReadsMade)
      return Known;
    // Another thread may be making it.
    while (!ReadsLock.try_lock_for(std::chrono::milliseconds(50)))
      if (Progress.Cancel && Progress.Cancel->Cancelled)
        return nullptr;
    std::lock_guard<std::timed_mutex> Guard(ReadsLock, std::adopt_lock);
    if (!Reads)
      if (Error E = reads::ReadIndex::open(*Reader, Progress).moveInto(Reads))
        return E;
    ReadsMade = Reads.get();
    return Reads.get();
  }

  Error check(Timestamp T) const {
    if (T <= Reader->instructions())
      return Error::success();
    return createStringError(
        formatv("the run ends at {0}; there is no moment {1}",
                groupedDigits(Reader->instructions()), groupedDigits(T)));
  }
};

Trace::Trace() = default;
Trace::~Trace() = default;

Expected<std::unique_ptr<Trace>> Trace::open(StringRef Path,
                                             TraceOptions Options) {
  Expected<std::unique_ptr<file::TraceReader>> Reader =
      file::TraceReader::open(Path);
  if (!Reader)
    return Reader.takeError();
  std::unique_ptr<Trace> T(new Trace());
  T->I = std::make_unique<Impl>(std::move(*Reader), std::move(Options));
  return T;
}

const file::TraceReader &Trace::reader() const { return *I->Reader; }
Timestamp Trace::instructions() const { return I->Reader->instructions(); }

const symbols::Symbols &Trace::symbols() const {
  std::call_once(I->SymbolsOnce, [this] {
    I->Names =
        std::make_unique<class symbols::Symbols>(*I->Reader, I->Options.Files);
  });
  return *I->Names;
}

Expected<uint32_t> Trace::threadAt(Timestamp T) const {
  return state::Moment(I->States, T).thread();
}

Expected<answers::Registers> Trace::registers(uint32_t Thread,
                                              Timestamp T) const {
  if (Error E = I->check(T))
    return E;
  return state::Moment(I->States, T).registers(Thread);
}

Expected<answers::MemoryContents>
Trace::memory(uint64_t Address, uint64_t Length, Timestamp T) const {
  return state::Moment(I->States, T).memory(Address, Length);
}

Expected<uint64_t> Trace::threadLocalAddress(const symbols::SymbolAt &Variable,
                                             uint32_t Thread,
                                             Timestamp T) const {
  return ThreadLocals(I->States, symbols(), T).address(Variable, Thread);
}

Expected<std::vector<answers::Mapping>> Trace::map(Timestamp T) const {
  if (Error E = I->check(T))
    return E;
  return I->States.maps().mappingsAt(T);
}

Expected<std::vector<answers::Module>> Trace::modules(Timestamp T) const {
  if (Error E = I->check(T))
    return E;
  return symbols().history().at(T);
}

Expected<std::vector<answers::ThreadInfo>> Trace::threads(Timestamp T) const {
  if (Error E = I->check(T))
    return E;
  return I->States.threads().at(T);
}

ArrayRef<answers::ThreadInfo> Trace::allThreads() const {
  return I->States.threads().all();
}

Error Trace::writes(answers::AddressRange Range, answers::TimeRange When,
                    bool Backward,
                    function_ref<bool(const answers::Write &)> Visit,
                    const answers::Cancellation *Cancel) const {
  return search::findWrites(I->States, Range, When, Backward, Visit, Cancel);
}

Error Trace::reads(answers::AddressRange Range, answers::TimeRange When,
                   bool Backward,
                   function_ref<bool(const answers::Read &)> Visit,
                   const answers::Cancellation *Cancel) const {
  answers::IndexProgress Progress;
  Progress.Cancel = Cancel;
  Expected<const reads::ReadIndex *> Index = I->readIndex(Progress);
  if (!Index)
    return Index.takeError();
  if (!*Index)
    return Error::success();
  return reads::findReads(I->States, **Index, Range, When, Backward, Visit,
                          Cancel);
}

Expected<std::optional<Trace::ReadIndexFacts>>
Trace::readIndex(const answers::IndexProgress &Progress) const {
  Expected<const reads::ReadIndex *> Index = I->readIndex(Progress);
  if (!Index)
    return Index.takeError();
  if (!*Index)
    return std::nullopt;
  return ReadIndexFacts{(*Index)->bytes(), (*Index)->path().str()};
}

Error Trace::executions(answers::AddressRange Code, answers::TimeRange When,
                        uint32_t Thread, bool Backward,
                        function_ref<bool(const answers::Execution &)> Visit,
                        const answers::Cancellation *Cancel) const {
  return I->Executions.find(Code, When, Thread, Backward, Visit, Cancel);
}

Expected<uint64_t>
Trace::countExecutions(answers::AddressRange Code, answers::TimeRange When,
                       uint32_t Thread,
                       const answers::Cancellation *Cancel) const {
  return I->Executions.count(Code, When, Thread, Cancel);
}

Expected<std::vector<answers::Activation>>
Trace::callStack(uint32_t Thread, Timestamp T, size_t Most) const {
  if (Error E = I->check(T))
    return E;
  return I->Calls.stackAt(Thread, T, Most);
}

Expected<std::optional<Timestamp>>
Trace::returnOf(const answers::Activation &A) const {
  return I->Calls.returnOf(A);
}

Expected<std::optional<answers::TimeRange>>
Trace::stretchBefore(const answers::Activation &A, Timestamp T) const {
  if (Error E = I->check(T))
    return E;
  return I->Calls.stretchBefore(A, T);
}

Error Trace::callees(const answers::Activation &A,
                     function_ref<bool(const answers::Activation &)> Visit,
                     const answers::Cancellation *Cancel) const {
  return I->Calls.callees(A, Visit, Cancel);
}

Error Trace::events(uint64_t Kinds, answers::TimeRange When, bool Backward,
                    function_ref<bool(const answers::TimedEvent &)> Visit,
                    const answers::Cancellation *Cancel) const {
  return search::findEvents(I->States, I->Code, Kinds, When, Backward, Visit,
                            Cancel);
}

} // namespace chronicle::query
