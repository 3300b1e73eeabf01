// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/variables/OriginQuestions.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace llvm;

namespace chronicle::variables {

using answers::OriginKind;

StringRef nameOf(OriginKind Kind) {
  switch (Kind) {
  case OriginKind::Computed:
    return "computed";
  case OriginKind::Constant:
    return "constant";
  case OriginKind::Helper:
    return "helper";
  case OriginKind::SystemCall:
    return "system-call";
  case OriginKind::Signal:
    return "signal";
  case OriginKind::Mapping:
    return "mapping";
  case OriginKind::Startup:
    return "startup";
  case OriginKind::Outside:
    return "outside";
  case OriginKind::NeverWritten:
    return "never-written";
  case OriginKind::Unknown:
    return "unknown";
  }
  llvm_unreachable("no such origin");
}

/// The source line that a person thinks of: outside of the system's code.
static const symbols::SourceFrame *lineOf(const OriginStepAnswer &S) {
  const questions::Place &Where = S.Caller ? *S.Caller : S.Where;
  if (!S.Step.ByInstruction || !Where.Symbol)
    return nullptr;
  const symbols::SourceFrame &Frame = Where.Symbol->Frames.front();
  return Frame.File.empty() ? nullptr : &Frame;
}

static bool onSameLine(const OriginStepAnswer &A, const OriginStepAnswer &B) {
  const symbols::SourceFrame *LineA = lineOf(A), *LineB = lineOf(B);
  return LineA && LineB && LineA->Line == LineB->Line &&
         LineA->File == LineB->File && LineA->Function == LineB->Function;
}

/// What the memory is mapped from at the moment.
static Error addMapping(const query::Trace &T, OriginStepAnswer &S) {
  const answers::ValuePlace &To = S.Step.To;
  Expected<std::vector<answers::Mapping>> Map = T.map(S.Step.Time);
  if (!Map)
    return Map.takeError();
  for (answers::Mapping &M : *Map)
    if (To.Address - M.Address < M.Length) {
      S.MappedFrom = std::move(M);
      break;
    }
  // Memory that is not of a file begins as zeros, which nothing wrote.
  const bool OfFile = S.MappedFrom && !S.MappedFrom->Path.empty();
  if (S.Step.Made == OriginKind::Mapping && !OfFile)
    S.Step.Made = OriginKind::NeverWritten;
  if (S.Step.Made != OriginKind::Mapping && OfFile)
    S.Step.Made = OriginKind::Mapping;
  return Error::success();
}

static Error describe(const query::Trace &T, OriginStepAnswer &S) {
  const answers::OriginStep &Step = S.Step;
  if (Step.ByInstruction ||
      (Step.Made == OriginKind::SystemCall && Step.Thread)) {
    uint64_t Pc = Step.Pc;
    if (!Pc) {
      Expected<answers::Registers> R = T.registers(Step.Thread, Step.Time);
      if (!R)
        return R.takeError();
      Pc = R->rip();
    }
    S.Where = questions::placeAt(T, Pc, Step.Time);
    Expected<std::optional<questions::Place>> Caller =
        questions::callerOfSystemCode(T, S.Where, Step.Thread, Step.Time);
    if (!Caller)
      return Caller.takeError();
    S.Caller = std::move(*Caller);
  }
  if (Step.Made == OriginKind::SystemCall) {
    Expected<questions::SystemCall> Call =
        questions::systemCallAt(T, Step.SystemCall, Step.Thread, Step.Time);
    if (!Call)
      return Call.takeError();
    S.Call = *Call;
  }
  if (Step.To.InMemory &&
      (Step.Made == OriginKind::Mapping || Step.Made == OriginKind::Startup ||
       Step.Made == OriginKind::NeverWritten))
    return addMapping(T, S);
  return Error::success();
}

Expected<OriginAnswer> whyValue(const query::Trace &T,
                                origins::ValueEngine &Engine,
                                const answers::ValuePlace &Place, Timestamp At,
                                uint64_t Limit,
                                const answers::Cancellation &Cancel) {
  Expected<answers::OriginTrail> Trail =
      Engine.origin(Place, At, Limit, &Cancel);
  if (!Trail)
    return Trail.takeError();
  OriginAnswer Answer;
  Answer.Complete = Trail->Complete;
  for (answers::OriginStep &Step : Trail->Steps) {
    OriginStepAnswer S;
    S.Step = std::move(Step);
    if (Error E = describe(T, S))
      return E;
    S.Carries = S.Step.Next && !S.Step.Made &&
                onSameLine(S, Answer.Steps[*S.Step.Next]);
    Answer.Steps.push_back(std::move(S));
  }
  return Answer;
}

bool isOfFlags(const answers::ValuePlace &P) {
  return !P.InMemory && P.Size && P.Address >= CH_OFFSET_CC_OP &&
         P.Address < CH_OFFSET_CC_NDEP + 8;
}

/// Marks the nodes that only carry a value within the line of every node that
/// they lead to, and what only says which operation set the flags.
static void markCarriers(SliceAnswer &A) {
  std::vector<bool> Elsewhere(A.Nodes.size());
  for (const answers::SliceEdge &E : A.Roots)
    Elsewhere[E.Node] = true;
  for (const SliceNodeAnswer &N : A.Nodes)
    for (const answers::SliceEdge &E : N.From)
      if (!onSameLine(N, A.Nodes[E.Node]))
        Elsewhere[E.Node] = true;
  for (auto [N, IsElsewhere] : zip(A.Nodes, Elsewhere))
    N.Carries = N.Step.Made ? N.Step.Made == OriginKind::Constant &&
                                  isOfFlags(N.Step.To)
                            : !IsElsewhere || isOfFlags(N.Step.To);
}

static void addLines(SliceAnswer &A) {
  std::map<std::tuple<std::string, uint32_t, std::string>, SliceLine> Lines;
  std::set<std::pair<const SliceLine *, Timestamp>> Counted;
  for (const SliceNodeAnswer &N : A.Nodes) {
    const symbols::SourceFrame *Frame = lineOf(N);
    if (!Frame || !Frame->Line)
      continue;
    SliceLine &L = Lines[{Frame->File, Frame->Line, Frame->Function}];
    if (!Counted.insert({&L, N.Step.Time}).second)
      continue;
    L.File = Frame->File;
    L.Function = Frame->Function;
    L.Line = Frame->Line;
    L.First = L.Count ? std::min(L.First, N.Step.Time) : N.Step.Time;
    L.Last = std::max(L.Last, N.Step.Time);
    ++L.Count;
  }
  for (auto &[Key, L] : Lines)
    A.Lines.push_back(std::move(L));
}

Expected<SliceAnswer> sliceOf(const query::Trace &T,
                              origins::ValueEngine &Engine,
                              const answers::ValuePlace &Place, Timestamp At,
                              origins::SliceBounds Bounds,
                              const answers::Cancellation &Cancel) {
  Expected<answers::Slice> Found = Engine.slice(Place, At, Bounds, &Cancel);
  if (!Found)
    return Found.takeError();
  SliceAnswer Answer;
  Answer.Complete = Found->Complete;
  Answer.Roots = std::move(Found->Roots);
  for (answers::SliceNode &N : Found->Nodes) {
    SliceNodeAnswer A;
    A.Step = std::move(N.Step);
    A.From = std::move(N.From);
    A.Depth = N.Depth;
    A.Cut = N.Cut;
    if (Error E = describe(T, A))
      return E;
    Answer.Nodes.push_back(std::move(A));
  }
  markCarriers(Answer);
  addLines(Answer);
  return Answer;
}

} // namespace chronicle::variables
