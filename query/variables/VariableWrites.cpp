// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/variables/VariableWrites.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::variables {

using registers::Register;

RegisterVariable registerVariable(const query::Trace &T, const CallScope &Scope,
                                  StringRef Name, const Register &In,
                                  uint64_t Pc) {
  RegisterVariable Result{Scope, In, {}};
  constexpr uint64_t MostRegisters = 33; // general ones and vectors
  for (uint64_t N = 0; N < MostRegisters; ++N)
    if (std::optional<Register> R = registers::registerNumbered(N);
        R && R->Bytes.Offset == In.Bytes.Offset)
      Result.Ranges = variableLocations(T, Pc, Name, N, Scope.Now);
  // Without debug info that says more, it is where it is now.
  if (Result.Ranges.empty())
    Result.Ranges.push_back({0, ~uint64_t(0), std::nullopt});
  return Result;
}

namespace {
/// A moment at which the variable is in a register.
struct Sight {
  Timestamp Time;
  Register In;
};

/// Decides which writes are the variable's.
class Judge {
public:
  Judge(const query::Trace &T, origins::ValueEngine &Engine,
        const RegisterVariable &V)
      : T(T), Engine(Engine), V(V) {}

  /// Nothing: the write is of something else.
  Expected<std::optional<RegisterWriteAnswer>>
  judge(const answers::RegisterWrite &W);

private:
  Expected<bool> isOwn(Timestamp Time);
  /// The first or, if Backward, the last moment at which the call itself is at
  /// code for which the variable is in a register: in this one, or in any.
  Expected<std::optional<Sight>> find(answers::TimeRange When, bool Backward,
                                      const Register *In);
  Expected<bool> writes(const answers::RegisterWrite &W, const Register &R);
  Expected<Timestamp> overwritten(const answers::RegisterWrite &W,
                                  const Register &R);

  const query::Trace &T;
  origins::ValueEngine &Engine;
  const RegisterVariable &V;
};
} // namespace

/// The register of a range, as wide as the variable.
static std::optional<Register> registerOf(const RegisterVariable &V,
                                          const VariableRange &Range) {
  if (V.Ranges.size() == 1 && !Range.Register)
    return V.Register;
  std::optional<Register> R = Range.Register
                                  ? registers::registerNumbered(*Range.Register)
                                  : std::nullopt;
  if (R)
    R->Bytes.Size = std::min(R->Bytes.Size, V.Register.Bytes.Size);
  return R;
}

Expected<bool> Judge::isOwn(Timestamp Time) {
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(V.Scope.Call.Thread, Time, 1);
  if (!Stack)
    return Stack.takeError();
  return !Stack->empty() && Stack->front().Entry == V.Scope.Call.Entry;
}

Expected<std::optional<Sight>> Judge::find(answers::TimeRange When,
                                           bool Backward, const Register *In) {
  std::optional<Sight> Best;
  for (const VariableRange &Range : V.Ranges) {
    std::optional<Register> R = registerOf(V, Range);
    if (!R || (In && R->Bytes.Offset != In->Bytes.Offset) ||
        When.First > When.Last)
      continue;
    std::optional<Error> Failed;
    Error E = T.executions({Range.First, Range.Last}, When, V.Scope.Call.Thread,
                           Backward, [&](const answers::Execution &X) {
                             Expected<bool> Own = isOwn(X.Time);
                             if (!Own) {
                               Failed.emplace(Own.takeError());
                               return false;
                             }
                             if (!*Own)
                               return true;
                             Best = Sight{X.Time, *R};
                             // The next range need only be better.
                             (Backward ? When.First : When.Last) = X.Time;
                             return false;
                           });
    if (Failed)
      return joinErrors(std::move(E), std::move(*Failed));
    if (E)
      return E;
  }
  return Best;
}

Expected<bool> Judge::writes(const answers::RegisterWrite &W,
                             const Register &R) {
  bool Found = false;
  Error E = Engine.registerWrites(W.Thread, R.Bytes, {W.Time, W.Time},
                                  /*Backward=*/false,
                                  [&](const answers::RegisterWrite &Each) {
                                    Found |= Each.Event == W.Event;
                                    return !Found;
                                  });
  if (E)
    return E;
  return Found;
}

/// When the register is written next; the value is there until then.
Expected<Timestamp> Judge::overwritten(const answers::RegisterWrite &W,
                                       const Register &R) {
  Timestamp Next = T.instructions();
  Error E = Engine.registerWrites(W.Thread, R.Bytes, {W.Time, T.instructions()},
                                  /*Backward=*/false,
                                  [&](const answers::RegisterWrite &Each) {
                                    if (Each.visibleFrom() <= W.visibleFrom())
                                      return true;
                                    Next = Each.Time;
                                    return false;
                                  });
  if (E)
    return E;
  return Next;
}

Expected<std::optional<RegisterWriteAnswer>>
Judge::judge(const answers::RegisterWrite &W) {
  // In which register does the variable have what was written?
  std::optional<Register> After;
  SmallVector<Register, 4> Candidates{V.Register};
  for (const VariableRange &Range : V.Ranges)
    if (std::optional<Register> R = registerOf(V, Range))
      Candidates.push_back(*R);
  for (size_t I = 0; I < Candidates.size() && !After; ++I) {
    const Register &R = Candidates[I];
    if (any_of(ArrayRef(Candidates).take_front(I), [&](const Register &Other) {
          return Other.Bytes.Offset == R.Bytes.Offset;
        }))
      continue;
    Expected<bool> Writes = writes(W, R);
    if (!Writes)
      return Writes.takeError();
    if (!*Writes)
      continue;
    Expected<Timestamp> Until = overwritten(W, R);
    if (!Until)
      return Until.takeError();
    const bool Now =
        I == 0 && W.visibleFrom() <= V.Scope.Now && V.Scope.Now <= *Until;
    Expected<std::optional<Sight>> Seen =
        find({W.visibleFrom(), *Until}, /*Backward=*/false, &R);
    if (!Seen)
      return Seen.takeError();
    if (Now || *Seen)
      After = R;
  }
  if (!After)
    return std::nullopt;
  Expected<RegisterWriteAnswer> Answer = describeWrite(T, Engine, *After, W);
  if (!Answer)
    return Answer.takeError();
  Expected<std::optional<Sight>> Was =
      find({V.Scope.Call.Entry, W.Time}, /*Backward=*/true, nullptr);
  if (!Was)
    return Was.takeError();
  if (!*Was) {
    Answer->Old.clear();
    return std::move(*Answer);
  }
  Expected<answers::Registers> Then = T.registers(W.Thread, (*Was)->Time);
  if (!Then)
    return Then.takeError();
  Answer->Old = (*Was)->In.valueIn(*Then);
  // Moving it, or saving and restoring it, gives it no value.
  Expected<bool> Own = isOwn(W.Time);
  if (!Own)
    return Own.takeError();
  const bool Moves = (*Was)->In.Bytes.Offset != After->Bytes.Offset;
  if ((Moves || !*Own) && Answer->Old == Answer->New)
    return std::nullopt;
  return std::move(*Answer);
}

Expected<questions::SearchEnd>
searchVariableWrites(const query::Trace &T, origins::ValueEngine &Engine,
                     const RegisterVariable &V,
                     const questions::SearchOptions &Options,
                     questions::Visitor<RegisterWriteAnswer> Visit,
                     const answers::Cancellation &Cancel) {
  SmallVector<answers::StateRange, 4> Bytes{V.Register.Bytes};
  for (const VariableRange &Range : V.Ranges)
    if (Range.Register)
      if (auto R = registers::registerNumbered(*Range.Register))
        Bytes.push_back(
            {R->Bytes.Offset, std::min(R->Bytes.Size, V.Register.Bytes.Size)});
  Judge Decide(T, Engine, V);
  questions::AnswerSink<RegisterWriteAnswer> Sink(Options.Limit, Visit);
  Error E = Engine.registerWrites(
      V.Scope.Call.Thread, Bytes, Options.When, Options.Backward,
      [&](const answers::RegisterWrite &W) {
        return !Cancel.Cancelled && Sink.offer([&] { return Decide.judge(W); });
      },
      &Cancel);
  return Sink.finish(std::move(E));
}

static Expected<std::optional<RegisterWriteAnswer>>
oneWrite(const query::Trace &T, origins::ValueEngine &Engine,
         const RegisterVariable &V, answers::TimeRange When, bool Backward,
         const answers::Cancellation &Cancel) {
  std::optional<RegisterWriteAnswer> Found;
  Expected<questions::SearchEnd> End = searchVariableWrites(
      T, Engine, V, {.When = When, .Backward = Backward},
      [&](RegisterWriteAnswer Answer) {
        if ((Answer.Write.visibleFrom() <= V.Scope.Now) != Backward)
          return true;
        Found = std::move(Answer);
        return false;
      },
      Cancel);
  if (!End)
    return End.takeError();
  return Found;
}

Expected<std::optional<RegisterWriteAnswer>>
lastVariableWrite(const query::Trace &T, origins::ValueEngine &Engine,
                  const RegisterVariable &V,
                  const answers::Cancellation &Cancel) {
  return oneWrite(T, Engine, V, {V.Scope.Call.Entry, V.Scope.Now},
                  /*Backward=*/true, Cancel);
}

Expected<std::optional<RegisterWriteAnswer>>
nextVariableWrite(const query::Trace &T, origins::ValueEngine &Engine,
                  const RegisterVariable &V,
                  const answers::Cancellation &Cancel) {
  Expected<answers::TimeRange> When = timeOf(T, V.Scope.Call);
  if (!When)
    return When.takeError();
  return oneWrite(T, Engine, V, {V.Scope.Now, When->Last}, /*Backward=*/false,
                  Cancel);
}

} // namespace chronicle::variables
