// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/stepping/LineStep.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace chronicle::stepping {

bool LineRun::has(const CodePlace &Place) const {
  if (commonScopes(Scopes, Place.Scopes) < Scopes.size())
    return false;
  const CodePlace::Scope &There = Place.Scopes[Scopes.size() - 1];
  return There.File == Scopes.back().File && There.Line == Scopes.back().Line;
}

LineStep::LineStep(StepContext &Context, session::Position From, size_t Hidden,
                   bool Into)
    : Context(Context), From(From), Hidden(Hidden), Into(Into),
      Way(Context.T, From.Thread, Into, Context.Cancel) {}

SourceStep::Destination LineStep::take() {
  Expected<bool> Begun = begin();
  if (!Begun)
    return Begun.takeError();
  if (!*Begun)
    return std::nullopt;
  while (true) {
    Expected<Walk::Found> F = Way.previous();
    if (!F)
      return F.takeError();
    if (std::exchange(AtInlined, false) && leaveInlined(*F))
      return Result;
    Expected<bool> Ended = takeFound(*F);
    if (!Ended)
      return Ended.takeError();
    if (*Ended)
      return Result;
  }
}

Expected<bool> LineStep::begin() {
  Expected<answers::Registers> R = Context.T.registers(From.Thread, From.Time);
  if (!R)
    return R.takeError();
  Expected<std::vector<answers::Activation>> Here =
      Context.T.callStack(From.Thread, From.Time, 1);
  if (!Here)
    return Here.takeError();
  if (Here->empty())
    return false;
  StartPc = R->rip();
  Start = &Context.Lines.at(StartPc);
  Base = Start->Scopes;
  Base = Base.drop_back(std::min(Hidden, Base.size()));
  AtInlined = Base.size() > 1 && Base.back().Begins;
  Way.enter(Here->front(), From.Time);
  return true;
}

Expected<bool> LineStep::takeFound(const Walk::Found &F) {
  switch (F.What) {
  case Walk::Kind::None:
    return !Line || endAtLine();
  case Walk::Kind::Own:
    return takeOwn(F.Last);
  case Walk::Kind::Callee:
    return takeCallee(F);
  case Walk::Kind::Caller:
    return takeCaller(F);
  }
  llvm_unreachable("a walk finds nothing else");
}

bool LineStep::leaveInlined(const Walk::Found &Previous) {
  uint64_t Pc = 0;
  if (Previous.What == Walk::Kind::Own)
    Pc = Previous.Last.Pc;
  else if (Previous.What == Walk::Kind::Callee)
    Pc = Previous.Stack[Previous.Index - 1].CallSite;
  const CodePlace &Before = Context.Lines.at(Pc);
  // If the function was running before, a loop led back to its start.
  if (commonScopes(Base, Before.Scopes) == Base.size())
    return false;
  Base = Base.drop_back();
  return !LineRun(Base).has(Before) && endAt({From.Time, Hidden + 1});
}

Expected<bool> LineStep::takeOwn(const answers::Execution &X) {
  // Where there are no lines a debugger steps by instructions.
  if (!Start->hasLine() && !Line)
    return endAt({X.Time});
  const CodePlace &There = Context.Lines.at(X.Pc);
  // Code of no line belongs to what ran before it, and a prologue to the call.
  if (!hasLine(There) || There.Prologue)
    return false;
  if (!Line ||
      (Into && Line->has(There) && depthIn(There) > Line->scopes().size())) {
    beginLine(There);
  } else if (!Line->has(There)) {
    Expected<bool> GoesOn = goesOn(X, Line->Start);
    if (!GoesOn)
      return GoesOn.takeError();
    const uint32_t File = Line->file();
    endAtLine();
    beginLine(There);
    if (!*GoesOn || Line->file() != File)
      return true;
    Result.reset();
  }
  Line->Start = X;
  return false;
}

Expected<bool> LineStep::takeCallee(const Walk::Found &F) {
  auto Called = ArrayRef(F.Stack).take_front(F.Index);
  bool Enter = Into;
  const CodePlace &Call = Context.Lines.at(Called.back().CallSite);
  if (hasLine(Call)) {
    // The call is of the line before.
    if (Line && !Line->has(Call))
      return endAtLine();
    // Calls of an inlined function that is not entered are not entered either.
    Enter = Enter && depthIn(Call) == Call.Scopes.size();
  }
  std::optional<size_t> Callee;
  if (Enter)
    if (Error E = calleeToEnter(Called).moveInto(Callee))
      return E;
  if (Callee) {
    Way.enter(F, *Callee);
    Line.reset();
  } else {
    Way.skip(F);
  }
  return false;
}

Expected<bool> LineStep::takeCaller(const Walk::Found &F) {
  if (!Into && Way.isSuspended(F)) {
    Expected<bool> Called =
        Way.enterCallBefore(F, Line ? Line->Start.Pc : StartPc);
    if (!Called)
      return Called.takeError();
    if (*Called)
      return false;
  }
  if (Line)
    return endAtLine();
  auto Caller = find_if(F.Stack, [&](const answers::Activation &A) {
    return hasLine(Context.Lines.at(A.Pc));
  });
  if (!Start->hasLine() || Caller == F.Stack.end())
    return endAt({F.Last.Time});
  Way.enter(F, Caller - F.Stack.begin());
  Base = Context.Lines.at(Caller->Pc).Scopes;
  return false;
}

bool LineStep::endAt(SourceStep::Arrival There) {
  Result = There;
  return true;
}

bool LineStep::endAtLine() {
  return endAt(arrivalAt(Context.Lines, Line->Start, Line->scopes().size()));
}

bool LineStep::hasLine(const CodePlace &Place) const {
  // The dynamic linker's lines count only for a step that starts in it.
  return Place.hasLine() && (!Place.Linker || Start->Linker);
}

size_t LineStep::depthIn(const CodePlace &Place) const {
  ArrayRef<CodePlace::Scope> Scopes = Place.Scopes;
  size_t Depth = commonScopes(Into && Line ? Line->scopes() : Base, Scopes);
  // Another function, which ended by a jump to this one, is seen whole.
  if (!Depth)
    Depth = Into ? 1 : Scopes.size();
  while (Into && Depth < Scopes.size() && !Scopes[Depth].Avoided)
    ++Depth;
  return Depth;
}

void LineStep::beginLine(const CodePlace &Place) {
  ArrayRef<CodePlace::Scope> Seen =
      ArrayRef(Place.Scopes).take_front(depthIn(Place));
  Line.emplace(Seen);
}

Expected<bool> LineStep::goesOn(const answers::Execution &From,
                                const answers::Execution &To) {
  if (Context.Lines.at(To.Pc).RowStart)
    return false;
  // A longjmp, for example, is no jump from the one to the other.
  Expected<std::optional<answers::Execution>> Before =
      Way.instructionBefore(To.Time);
  if (!Before)
    return Before.takeError();
  return *Before && (*Before)->Time == From.Time;
}

Expected<const CodePlace *> LineStep::begunIn(const answers::Activation &A) {
  const CodePlace &Callee = Context.Lines.at(A.Callee);
  if (!Callee.Stub)
    return &Callee;
  auto [It, New] = Context.BehindStub.try_emplace(A.Callee, A.Callee);
  if (New)
    if (Error E = Context.T.executions(
            {0, ~uint64_t(0)}, {A.Entry, ~Timestamp(0)}, A.Thread,
            /*Backward=*/false,
            [&, &Target = It->second](const answers::Execution &X) {
              Target = X.Pc;
              const CodePlace &There = Context.Lines.at(X.Pc);
              return There.Stub || There.Linker;
            },
            &Context.Cancel))
      return E;
  return &Context.Lines.at(It->second);
}

Expected<std::optional<size_t>>
LineStep::calleeToEnter(ArrayRef<answers::Activation> Called) {
  auto IsWanted = [&](const CodePlace &Place) {
    return hasLine(Place) && !Place.Scopes.front().Avoided;
  };
  if (any_of(Called, [](const answers::Activation &A) { return A.Signal; }))
    return std::nullopt;
  for (size_t I = 0; I < Called.size(); ++I)
    if (IsWanted(Context.Lines.at(Called[I].Pc)))
      return I;
  // An activation that runs code without lines now may have begun in a function
  // with lines: it jumped, or an exception is leaving it.
  for (size_t I = 0; I < Called.size(); ++I) {
    Expected<const CodePlace *> Begun = begunIn(Called[I]);
    if (!Begun)
      return Begun.takeError();
    if (IsWanted(**Begun))
      return I;
  }
  return std::nullopt;
}

} // namespace chronicle::stepping
