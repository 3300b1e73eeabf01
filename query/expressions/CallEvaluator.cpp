// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/CallEvaluator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::expressions {

// ---- the starts of calls ----

Expected<std::optional<Timestamp>> StartFinder::search(const CodeMoment &Entry,
                                                       uint64_t Pc) {
  std::optional<Timestamp> Found;
  if (Error Failed =
          T.executions({Pc, Pc}, {Entry.Time, T.instructions()}, Entry.Thread,
                       /*Backward=*/false, [&](const answers::Execution &X) {
                         Found = X.Time;
                         return false;
                       }))
    return Failed;
  if (!Found)
    return std::nullopt;
  // It may be that only a later call of the function got there.
  Expected<std::vector<answers::Activation>> Before =
      T.callStack(Entry.Thread, Entry.Time);
  if (!Before)
    return Before.takeError();
  Expected<std::vector<answers::Activation>> Then =
      T.callStack(Entry.Thread, *Found);
  if (!Then)
    return Then.takeError();
  if (Before->empty() || Before->size() != Then->size() ||
      Before->front().Entry != Then->front().Entry)
    return std::nullopt;
  return Found;
}

Expected<std::optional<CodeMoment>>
StartFinder::start(const CodeMoment &Entry) {
  const uint64_t Pc = E.startOf(Entry.Pc, Entry.Time);
  if (Pc == Entry.Pc)
    return Entry;
  CodeMoment Result = Entry;
  Result.Pc = Pc;
  auto Known = Lengths.find(Pc);
  if (Known != Lengths.end() &&
      Known->second <= T.instructions() - Entry.Time) {
    Result.Time = Entry.Time + Known->second;
    if (Error Failed = E.state().go(Result.Time, Entry.Thread))
      return Failed;
    if (E.state().pc() == Pc && E.state().isRunning())
      return Result;
  }
  Expected<std::optional<Timestamp>> Found = search(Entry, Pc);
  if (!Found)
    return Found.takeError();
  if (!*Found)
    return std::nullopt;
  Result.Time = **Found;
  Lengths.try_emplace(Pc, Result.Time - Entry.Time);
  return Result;
}

// ---- expressions at the starts of calls ----

Expected<std::optional<CodeMoment>>
CallEvaluator::go(const questions::CallAnswer &Call) {
  CodeMoment Entry{Call.Entry, Call.Thread, Call.Function.Pc,
                   unsigned(Call.InlinedInside)};
  Expected<std::optional<CodeMoment>> At = std::optional(Entry);
  if (!Call.Inlined) {
    At = Starts.start(Entry);
    if (!At || !*At)
      return At;
    // The function itself is the outermost one that is there.
    if (std::optional<symbols::CodeSymbol> Symbol =
            T.symbols().find((*At)->Pc, (*At)->Time))
      (*At)->Inside = unsigned(Symbol->Frames.size() - 1);
  }
  if (Error Failed = E.state().go((*At)->Time, (*At)->Thread))
    return Failed;
  E.state().setReturn(Call.End ? Call.End->returned() : std::nullopt);
  return At;
}

void CallGroups::add(StringRef Key, Timestamp Start) {
  auto It = Groups.find(Key);
  if (It == Groups.end())
    It = Groups.try_emplace(Key.str(), CallGroup{Key.str(), 0, Start, Start})
             .first;
  CallGroup &G = It->second;
  ++G.Count;
  ++Calls;
  G.First = std::min(G.First, Start);
  G.Last = std::max(G.Last, Start);
}

std::vector<CallGroup> CallGroups::sorted() const {
  std::vector<CallGroup> Result;
  Result.reserve(Groups.size());
  for (const auto &Each : Groups)
    Result.push_back(Each.second);
  stable_sort(Result, [](const CallGroup &A, const CallGroup &B) {
    return std::tuple(B.Count, A.First) < std::tuple(A.Count, B.First);
  });
  return Result;
}

std::string callerKey(const questions::CallAnswer &Call) {
  if (!Call.Caller)
    return "no caller";
  const questions::Place &P = *Call.Caller;
  if (!P.Symbol || P.Symbol->Frames.front().Function.empty())
    return "0x" + utohexstr(P.Pc, /*LowerCase=*/true);
  const symbols::SourceFrame &Frame = P.Symbol->Frames.front();
  if (Frame.File.empty())
    return Frame.Function;
  return Frame.Function + " at " + sys::path::filename(Frame.File).str() + ":" +
         std::to_string(Frame.Line);
}

} // namespace chronicle::expressions
