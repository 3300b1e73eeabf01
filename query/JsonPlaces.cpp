// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/JsonPlaces.h"
#include "query/JsonAnswers.h"
#include "query/ThreadLocals.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>

using namespace llvm;

namespace chronicle {

static Expected<AddressRange> rangeFrom(uint64_t Address, uint64_t Length,
                                        uint64_t MaxLength) {
  if (Length == 0 || Length > MaxLength)
    return queryError("bad-argument", "'length' must be from 1 to " +
                                          Twine(MaxLength) + ", not " +
                                          Twine(Length));
  if (Address + (Length - 1) < Address)
    return queryError("bad-argument", "the range ends after the last address");
  return AddressRange{Address, Address + (Length - 1)};
}

static bool meets(const ModuleLoad &Load, TimeRange When) {
  return Load.Loaded <= When.Last && Load.Unloaded > When.First;
}

static Expected<SymbolAt> globalNamed(JsonQuery &Q, StringRef Name,
                                      TimeRange When, Timestamp At) {
  const SymbolAt *Found = nullptr;
  std::vector<SymbolAt> All = Q.T.symbols().globals(Name);
  for (const SymbolAt &S : All) {
    if (!meets(*S.Module, When))
      continue;
    if (Found &&
        (Found->Address != S.Address || Found->ThreadLocal != S.ThreadLocal ||
         (S.ThreadLocal && Found->Module != S.Module)))
      return queryError("bad-argument",
                        "several variables are called '" + Name + "', at " +
                            hexNumber(Found->Address) + " and " +
                            hexNumber(S.Address) + ": give an address");
    Found = &S;
  }
  if (!Found)
    return queryError("not-found",
                      "no variable is called '" + Name +
                          "' in the modules whose symbols could be read");
  return *Found;
}

/// Where the variable is, in a thread (0: the one that runs at At).
static Expected<uint64_t> addressOf(JsonQuery &Q, const SymbolAt &S,
                                    uint32_t Thread, Timestamp At) {
  if (!S.ThreadLocal)
    return S.Address;
  if (!Thread) {
    Expected<uint32_t> Running = Q.T.threadAt(At);
    if (!Running)
      return Running.takeError();
    Thread = *Running;
  }
  Expected<uint64_t> Address = threadLocalAddress(Q.T, S, Thread, At);
  if (!Address)
    return queryError("not-found", toString(Address.takeError()));
  return Address;
}

static Expected<AddressRange> variableArgument(JsonQuery &Q, uint64_t MaxLength,
                                               TimeRange When, Timestamp At) {
  JsonArguments &A = Q.Arguments;
  std::string Name = A.text("global");
  uint64_t Offset = A.number("offset", 0);
  uint64_t Length = A.number("length", 0);
  auto Thread = static_cast<uint32_t>(
      A.has("thread") ? A.number("thread", 0, 1, UINT32_MAX) : 0);
  if (Error E = A.finish())
    return E;
  Expected<SymbolAt> Variable = globalNamed(Q, Name, When, At);
  if (!Variable)
    return Variable.takeError();
  const uint64_t Size = std::max<uint64_t>(Variable->Size, 1);
  if (!A.has("length"))
    Length = Size - std::min(Offset, Size);
  if (Offset >= Size || Length == 0 || Length > Size - Offset)
    return queryError("bad-argument", "'" + Name + "' has " + Twine(Size) +
                                          " bytes; 'offset' and 'length' do "
                                          "not fit into it");
  Expected<uint64_t> Address = addressOf(Q, *Variable, Thread, At);
  if (!Address)
    return Address.takeError();
  return rangeFrom(*Address + Offset, Length, MaxLength);
}

Expected<AddressRange> memoryArgument(JsonQuery &Q, uint64_t MaxLength,
                                      TimeRange When, Timestamp At) {
  JsonArguments &A = Q.Arguments;
  if (A.has("global"))
    return variableArgument(Q, MaxLength, When, At);
  uint64_t Address = A.number("address");
  uint64_t Length = A.number("length");
  if (Error E = A.finish())
    return E;
  return rangeFrom(Address, Length, MaxLength);
}

// ---- code ----

static void addPlace(std::vector<CodePlace> &Places, const ModuleLoad &Load,
                     uint64_t Address, uint64_t Size, TimeRange When) {
  if (!meets(Load, When))
    return;
  Places.push_back({{Address, Address + std::max<uint64_t>(Size, 1) - 1},
                    {std::max(When.First, Load.Loaded),
                     std::min(When.Last, Load.Unloaded - 1)}});
}

/// Where an ifunc's resolver said its function is: what it returned.
static Error addResolved(JsonQuery &Q, const SymbolAt &Resolver, TimeRange When,
                         std::vector<CodePlace> &Places) {
  std::vector<Execution> Runs;
  uint64_t Entry = Resolver.Address;
  Error E = Q.T.executions(
      {Entry, Entry}, {Resolver.Module->Loaded, Q.T.instructions()}, 0,
      /*Backward=*/false,
      [&](const Execution &X) {
        Runs.push_back(X);
        return Runs.size() < 16; // once a module that uses it
      },
      &Q.Cancel);
  if (E)
    return E;
  for (const Execution &X : Runs) {
    Expected<std::vector<Activation>> Stack = Q.T.callStack(X.Thread, X.Time);
    if (!Stack)
      return Stack.takeError();
    if (Stack->empty() || Stack->front().Entry != X.Time)
      continue;
    Expected<std::optional<Timestamp>> Return = Q.T.returnOf(Stack->front());
    if (!Return)
      return Return.takeError();
    if (!*Return)
      continue;
    Expected<Registers> R = Q.T.registers(X.Thread, **Return);
    if (!R)
      return R.takeError();
    uint64_t Target = R->word(CH_OFFSET_RAX);
    const ModuleLoad *Load = Q.T.symbols().moduleAt(Target, **Return);
    if (Load)
      addPlace(Places, *Load, Target, 1, When);
  }
  return Error::success();
}

/// Sorts, and takes out what is there twice.
static std::vector<CodePlace> tidy(std::vector<CodePlace> Places) {
  sort(Places, [](const CodePlace &A, const CodePlace &B) {
    return std::tie(A.Range.First, A.When.First, A.Range.Last) <
           std::tie(B.Range.First, B.When.First, B.Range.Last);
  });
  Places.erase(llvm::unique(Places,
                            [](const CodePlace &A, const CodePlace &B) {
                              return A.Range.First == B.Range.First &&
                                     A.Range.Last == B.Range.Last &&
                                     A.When.First == B.When.First;
                            }),
               Places.end());
  return Places;
}

static Expected<std::vector<CodePlace>>
functionPlaces(JsonQuery &Q, StringRef Name, bool Whole, TimeRange When) {
  std::vector<SymbolAt> Found = Q.T.symbols().functions(Name);
  if (Found.empty())
    return queryError("not-found",
                      "no function is called '" + Name +
                          "' in the modules whose symbols could be read");
  std::vector<CodePlace> Places;
  for (const SymbolAt &S : Found) {
    if (!S.Indirect)
      addPlace(Places, *S.Module, S.Address, Whole ? S.Size : 1, When);
    else if (Error E = addResolved(Q, S, When, Places))
      return E;
  }
  return tidy(std::move(Places));
}

Expected<std::vector<CodePlace>> functionEntries(JsonQuery &Q, StringRef Name,
                                                 TimeRange When) {
  return functionPlaces(Q, Name, /*Whole=*/false, When);
}

Expected<std::vector<CodePlace>> codeArgument(JsonQuery &Q, TimeRange When) {
  JsonArguments &A = Q.Arguments;
  unsigned Ways =
      A.has("address") + A.has("function") + A.has("inside") + A.has("file");
  if (Ways != 1)
    A.fail(Ways ? "bad-argument" : "missing-argument",
           "say which code by one of 'address' (and 'length'), 'function', "
           "'inside', or 'file' and 'line'");
  if (A.has("function") || A.has("inside")) {
    bool Whole = A.has("inside");
    std::string Name = A.text(Whole ? "inside" : "function");
    if (Error E = A.finish())
      return E;
    return functionPlaces(Q, Name, Whole, When);
  }
  if (A.has("file")) {
    std::string File = A.text("file");
    uint64_t Line = A.number("line");
    if (Line == 0 || Line > UINT32_MAX)
      A.fail("bad-argument", "'line' must be from 1 to 2^32 - 1");
    if (Error E = A.finish())
      return E;
    std::vector<CodePlace> Places;
    std::vector<LineAt> Found =
        Q.T.symbols().lines(File, static_cast<uint32_t>(Line));
    if (Found.empty())
      return queryError("not-found", "no code of " + File + ", line " +
                                         Twine(Line) +
                                         " or later, is in the modules whose "
                                         "debug info could be read");
    for (const LineAt &L : Found)
      addPlace(Places, *L.Module, L.Code.Address, 1, When);
    return tidy(std::move(Places));
  }
  uint64_t Address = A.number("address");
  uint64_t Length = A.number("length", 1);
  if (Error E = A.finish())
    return E;
  Expected<AddressRange> Range = rangeFrom(Address, Length, uint64_t(1) << 47);
  if (!Range)
    return Range.takeError();
  return std::vector<CodePlace>{{*Range, When}};
}

Expected<ThreadMoment> threadMomentArgument(JsonQuery &Q) {
  const Timestamp At = Q.Arguments.time("at");
  const bool Named = Q.Arguments.has("thread");
  const auto Thread = static_cast<uint32_t>(
      Named ? Q.Arguments.number("thread", 0, 1, UINT32_MAX) : 0);
  if (Error E = Q.Arguments.finish())
    return E;
  if (!Named) {
    Expected<uint32_t> Running = Q.T.threadAt(At);
    if (!Running)
      return Running.takeError();
    return ThreadMoment{At, *Running};
  }
  Expected<std::vector<ThreadInfo>> Threads = Q.T.threads(At);
  if (!Threads)
    return Threads.takeError();
  for (const ThreadInfo &I : *Threads)
    if (I.Number == Thread)
      return ThreadMoment{At, Thread};
  return queryError("not-found",
                    "there is no thread " + Twine(Thread) + " at " + Twine(At));
}

// ---- executions of several places ----

namespace {
/// One place's executions, a few at a time: the engine visits, a merge pulls.
class Puller {
public:
  Puller(const Trace &T, const CodePlace &Place, uint32_t Thread, bool Backward,
         const Cancellation &Cancel)
      : T(T), Range(Place.Range), When(Place.When), Thread(Thread),
        Backward(Backward), Cancel(Cancel) {}

  /// Null: no more.
  Expected<const Execution *> front() {
    if (Ready.empty() && !Ended)
      if (Error E = refill())
        return E;
    return Ready.empty() ? nullptr : &Ready.front();
  }
  void pop() { Ready.pop_front(); }

private:
  Error refill() {
    // Few at first: often one is enough.
    size_t Count = Batch;
    Batch = std::min<size_t>(Batch * 4, 4096);
    Error E = T.executions(
        Range, When, Thread, Backward,
        [&](const Execution &X) {
          Ready.push_back(X);
          return Ready.size() < Count;
        },
        &Cancel);
    if (E)
      return E;
    Ended = Ready.size() < Count;
    if (Ended)
      return Error::success();
    // One instruction a timestamp, so the rest starts right after it.
    Timestamp Last = Ready.back().Time;
    if (Backward) {
      Ended = Last <= When.First;
      When.Last = Last - 1;
    } else {
      Ended = Last >= When.Last;
      When.First = Last + 1;
    }
    return Error::success();
  }

  const Trace &T;
  AddressRange Range;
  TimeRange When;
  uint32_t Thread;
  bool Backward;
  const Cancellation &Cancel;
  std::deque<Execution> Ready;
  size_t Batch = 4;
  bool Ended = false;
};
} // namespace

Error mergedExecutions(const Trace &T, ArrayRef<CodePlace> Places,
                       uint32_t Thread, bool Backward,
                       function_ref<bool(const Execution &)> Visit,
                       const Cancellation &Cancel) {
  if (Places.size() == 1)
    return T.executions(Places[0].Range, Places[0].When, Thread, Backward,
                        Visit, &Cancel);
  std::vector<Puller> Pullers;
  for (const CodePlace &P : Places)
    Pullers.emplace_back(T, P, Thread, Backward, Cancel);
  while (!Cancel.Cancelled) {
    Puller *Best = nullptr;
    Timestamp BestTime = 0;
    for (Puller &P : Pullers) {
      Expected<const Execution *> Front = P.front();
      if (!Front)
        return Front.takeError();
      if (*Front && (!Best || (Backward ? (*Front)->Time > BestTime
                                        : (*Front)->Time < BestTime))) {
        Best = &P;
        BestTime = (*Front)->Time;
      }
    }
    if (!Best)
      break;
    Expected<const Execution *> Front = Best->front();
    if (!Front)
      return Front.takeError();
    bool More = Visit(**Front);
    Best->pop();
    if (!More)
      break;
  }
  return Error::success();
}

} // namespace chronicle
