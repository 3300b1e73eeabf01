// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/Evaluator.h"
#include "query/expressions/EvaluationError.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::expressions {

Question::Question(StringRef Given) : Text(Given.trim()) {
  Expected<Expression> E = Expression::parse(Text);
  if (E)
    Parsed = std::move(*E);
  else
    WhyNot = toString(E.takeError());
}

/// An EvaluationError as an outcome. Other errors are returned.
static Error takeInto(Error E, Outcome &Result) {
  return handleErrors(std::move(E), [&](const EvaluationError &Why) {
    Result.What = Why.kind() == EvaluationError::Kind::NoValue
                      ? Outcome::Kind::NoValue
                      : Outcome::Kind::NotSimple;
    Result.Why = Why.why();
  });
}

DebugInfo *Evaluator::infoOf(const state::ModuleLoad &Module) {
  const symbols::SymbolFile *File = T.symbols().fileOf(Module);
  auto [It, New] = Infos.try_emplace(File);
  if (New)
    It->second = DebugInfo::open(T, Module);
  return It->second.get();
}

Question::Meaning Evaluator::meaning(const Question &Q,
                                     const state::ModuleLoad *Module,
                                     const CodeMoment &At) {
  Question::Meaning Result;
  DebugInfo *Info = Module ? infoOf(*Module) : nullptr;
  Expected<TypedExpression> Typed =
      Info ? resolve(*Q.Parsed, *Info, T, *Module, At.Pc, At.Inside)
           : resolve(*Q.Parsed, Types);
  if (Typed)
    Result.Typed = std::move(*Typed);
  else if (Error E = takeInto(Typed.takeError(), Result.Otherwise))
    Result.Otherwise.Why = toString(std::move(E));
  return Result;
}

Expected<Outcome> Evaluator::evaluate(Question &Q, const CodeMoment &At) {
  Outcome Result;
  if (!Q.Parsed) {
    Result.Why = Q.WhyNot;
    return Result;
  }
  const state::ModuleLoad *Module = T.symbols().moduleAt(At.Pc, At.Time);
  auto [It, New] = Q.Known.try_emplace(std::tuple(Module, At.Pc, At.Inside));
  if (New)
    It->second = meaning(Q, Module, At);
  if (State.time() != At.Time || State.thread() != At.Thread)
    if (Error E = State.go(At.Time, At.Thread))
      return E;
  if (!It->second.Typed)
    return It->second.Otherwise;
  Expected<Value> V = expressions::evaluate(*It->second.Typed, State);
  if (V) {
    Result.What = Outcome::Kind::Value;
    Result.Result = *V;
    return Result;
  }
  if (Error E = takeInto(V.takeError(), Result))
    return E;
  return Result;
}

uint64_t Evaluator::startOf(uint64_t Function, Timestamp At) {
  const state::ModuleLoad *Module = T.symbols().moduleAt(Function, At);
  auto [It, New] = Starts.try_emplace({Module, Function}, Function);
  if (!New || !Module)
    return It->second;
  std::optional<symbols::FunctionFacts> Facts =
      T.symbols().functionFacts(Function, At);
  DebugInfo *Info = infoOf(*Module);
  const bool Needed =
      Facts && (Facts->Parameters.empty() ||
                !all_of(Facts->Parameters,
                        [](const symbols::FunctionFacts::Parameter &P) {
                          return P.KnownAtEntry;
                        }));
  if (Needed && Info)
    It->second = Info->afterPrologue(Function - Module->Bias) + Module->Bias;
  return It->second;
}

} // namespace chronicle::expressions
