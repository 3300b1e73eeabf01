// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/SourceStep.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle {

LineTable::~LineTable() = default;

static Error interrupted() {
  return createStringError("interrupted; nothing has moved");
}

static bool same(const Activation &A, const Activation &B) {
  // What a thread begins in has no stack pointer of its own.
  bool Outermost = !A.CallSite && !B.CallSite && !A.Signal;
  return A.Entry == B.Entry && A.Signal == B.Signal &&
         (Outermost || A.StackPointer == B.StackPointer);
}

/// Goes backward through the instructions of one activation. Where these follow
/// each other, or only calls that nobody wants to see are between them, an
/// instruction costs no question: so a loop on one line is as quick as walking
/// its blocks.
class SourceStep::Walk {
public:
  /// Into: what the activation called is of interest.
  Walk(const Trace &T, uint32_t Thread, bool Into, const Cancellation &Cancel)
      : T(T), Cancel(Cancel), Thread(Thread), Into(Into) {}

  enum class Kind {
    Own,    ///< the activation ran the instruction
    Callee, ///< it belongs to something that the activation called
    Caller, ///< it led to the activation, which begins after it
    None,   ///< the thread did not run before
  };
  struct Found {
    Kind What = Kind::None;
    Execution Last; ///< the thread's instruction
    /// At that instruction, innermost first; not if it is the activation's own.
    std::vector<Activation> Stack;
    size_t Index = 0; ///< of the activation in it
  };

  /// Looks for instructions of A before Time from now on.
  void enter(const Activation &A, Timestamp Time) {
    Inside = A;
    Before = Time;
    Own = {1, 0};
  }
  /// Enters an activation of F's stack. The last it did itself before F is the
  /// call of the next inner one.
  void enter(const Found &F, size_t Index) {
    enter(F.Stack[Index], Index ? F.Stack[Index - 1].Entry : F.Last.Time + 1);
  }
  /// Makes what was called at F as if it had not been: before it is the call.
  void skip(const Found &F) { Before = F.Stack[F.Index - 1].Entry; }

  /// The activation had begun when F ran, on another stack: a coroutine.
  bool isSuspended(const Found &F) const { return F.Last.Time >= Inside.Entry; }
  /// Goes on from the call that switched stacks and came back to Return; false:
  /// not found.
  Expected<bool> enterCallBefore(const Found &F, uint64_t Return);

  Expected<Found> previous();
  /// The thread's last instruction before Time.
  Expected<std::optional<Execution>> instructionBefore(Timestamp Time);

private:
  const Trace &T;
  const Cancellation &Cancel;
  const uint32_t Thread;
  const bool Into;
  Activation Inside;
  Timestamp Before = 0;
  TimeRange Own{1, 0}; ///< what the thread runs then is the activation's own
  /// Some of the thread's instructions, newest first, all there are from
  /// KnownFrom to KnownUntil.
  std::vector<Execution> Known;
  Timestamp KnownFrom = 1, KnownUntil = 0;
  /// A line's worth; more when that was not enough.
  Timestamp Window = FirstWindow;
  static constexpr Timestamp FirstWindow = 256, LastWindow = 1 << 16;
};

Expected<std::optional<Execution>>
SourceStep::Walk::instructionBefore(Timestamp Time) {
  if (!Time)
    return std::nullopt;
  auto Fill = [&](Timestamp Last) -> Error {
    // Each time the block is walked from its start.
    const bool GoesOn = Last < KnownFrom && KnownFrom - Last <= Window;
    Window = GoesOn ? std::min(2 * Window, LastWindow) : FirstWindow;
    KnownUntil = Last;
    KnownFrom = Last < Window ? 0 : Last - Window;
    Known.clear();
    return T.executions(
        {0, ~uint64_t(0)}, {KnownFrom, KnownUntil}, Thread, /*Backward=*/true,
        [&](const Execution &X) {
          Known.push_back(X);
          return true;
        },
        &Cancel);
  };
  auto Find = [&]() -> const Execution * {
    auto It = partition_point(
        Known, [&](const Execution &X) { return X.Time >= Time; });
    return It == Known.end() ? nullptr : &*It;
  };
  if (Time <= KnownUntil + 1 && Time > KnownFrom)
    if (const Execution *X = Find())
      return *X;
  if (Error E = Fill(Time - 1))
    return E;
  if (const Execution *X = Find())
    return *X;
  // Other threads ran for a while.
  std::optional<Execution> Last;
  if (KnownFrom)
    if (Error E = T.executions(
            {0, ~uint64_t(0)}, {0, KnownFrom - 1}, Thread, /*Backward=*/true,
            [&](const Execution &X) {
              Last = X;
              return false;
            },
            &Cancel))
      return E;
  if (Cancel.Cancelled)
    return interrupted();
  return Last;
}

Expected<bool> SourceStep::Walk::enterCallBefore(const Found &F,
                                                 uint64_t Return) {
  constexpr uint64_t ShortestCall = 2, LongestCall = 7;
  // Other activations may have made the same call since.
  for (Timestamp Until = F.Last.Time; Until >= Inside.Entry;) {
    std::optional<Timestamp> Call;
    if (Error E = T.executions(
            {Return - LongestCall, Return - ShortestCall},
            {Inside.Entry, Until}, Thread, /*Backward=*/true,
            [&](const Execution &X) {
              Call = X.Time;
              return false;
            },
            &Cancel))
      return E;
    if (Cancel.Cancelled)
      return interrupted();
    if (!Call)
      break;
    Expected<std::vector<Activation>> Stack = T.callStack(Thread, *Call);
    if (!Stack)
      return Stack.takeError();
    if (!Stack->empty() && same(Stack->front(), Inside)) {
      enter(Activation(Inside), *Call + 1);
      return true;
    }
    if (!*Call)
      break;
    Until = *Call - 1;
  }
  return false;
}

Expected<SourceStep::Walk::Found> SourceStep::Walk::previous() {
  Found F;
  while (true) {
    if (Cancel.Cancelled)
      return interrupted();
    Expected<std::optional<Execution>> Last = instructionBefore(Before);
    if (!Last)
      return Last.takeError();
    if (!*Last)
      return F;
    F.Last = **Last;
    if (F.Last.Time >= Own.First && F.Last.Time <= Own.Last) {
      F.What = Kind::Own;
      Before = F.Last.Time;
      return F;
    }
    std::optional<TimeRange> Stretch;
    if (Error E = T.stretchBefore(Inside, F.Last.Time + 1).moveInto(Stretch))
      return E;
    if (!Stretch || (Into && F.Last.Time > Stretch->Last))
      break;
    Own = *Stretch;
    Before = Own.Last + 1;
  }
  Expected<std::vector<Activation>> Stack = T.callStack(Thread, F.Last.Time);
  if (!Stack)
    return Stack.takeError();
  F.Stack = std::move(*Stack);
  auto It =
      find_if(F.Stack, [&](const Activation &A) { return same(A, Inside); });
  F.Index = It - F.Stack.begin();
  F.What = It == F.Stack.end() ? Kind::Caller
           : F.Index           ? Kind::Callee
                               : Kind::Own;
  if (F.What == Kind::Own)
    Before = F.Last.Time;
  return F;
}

namespace {
/// A source line as seen from a scope: what is inlined deeper counts as the
/// line of its call.
class Run {
public:
  Run(ArrayRef<CodePlace::Scope> Scopes) : Scopes(Scopes) {}
  ArrayRef<CodePlace::Scope> scopes() const { return Scopes; }
  bool has(const CodePlace &Place) const {
    if (Place.Scopes.size() < Scopes.size())
      return false;
    for (size_t I = 0; I < Scopes.size(); ++I)
      if (Place.Scopes[I].Start != Scopes[I].Start)
        return false;
    const CodePlace::Scope &There = Place.Scopes[Scopes.size() - 1];
    return There.File == Scopes.back().File && There.Line == Scopes.back().Line;
  }
  Execution Start;

private:
  SmallVector<CodePlace::Scope, 2> Scopes;
};
} // namespace

static size_t commonScopes(ArrayRef<CodePlace::Scope> A,
                           ArrayRef<CodePlace::Scope> B) {
  size_t N = 0;
  while (N < A.size() && N < B.size() && A[N].Start == B[N].Start)
    ++N;
  return N;
}

/// Where an instruction was found that the debugger is to show as seen from a
/// scope.
SourceStep::Arrival SourceStep::arrival(Timestamp Time, uint64_t Pc,
                                        size_t Scopes) {
  ArrayRef<CodePlace::Scope> There = Lines.at(Pc).Scopes;
  size_t Shown = There.size();
  while (Shown > Scopes && There[Shown - 1].Begins)
    --Shown;
  return {Time, There.size() - Shown};
}

/// The function that was called, whatever its activation runs now: it may have
/// ended by a jump to another one, or an exception may be leaving it.
Expected<const CodePlace *> SourceStep::begunIn(const Activation &A) {
  const CodePlace &Callee = Lines.at(A.Callee);
  if (!Callee.Stub)
    return &Callee;
  auto [It, New] = BehindStub.try_emplace(A.Callee, A.Callee);
  if (New)
    if (Error E = T.executions(
            {0, ~uint64_t(0)}, {A.Entry, ~Timestamp(0)}, A.Thread,
            /*Backward=*/false,
            [&, &Target = It->second](const Execution &X) {
              Target = X.Pc;
              const CodePlace &There = Lines.at(X.Pc);
              return There.Stub || There.Linker;
            },
            &Cancel))
      return E;
  return &Lines.at(It->second);
}

static bool hasLine(const CodePlace &Place, bool LinkerToo) {
  return Place.hasLine() && (!Place.Linker || LinkerToo);
}

/// Of calls that were left at once, innermost first, where it began: the
/// innermost one with lines. A debugger does not step into handlers of signals.
Expected<std::optional<size_t>>
SourceStep::lastWithLines(ArrayRef<Activation> Called, bool LinkerToo) {
  auto IsWanted = [&](const CodePlace &Place) {
    return hasLine(Place, LinkerToo) && !Place.Scopes.front().Avoided;
  };
  if (any_of(Called, [](const Activation &A) { return A.Signal; }))
    return std::nullopt;
  for (size_t I = 0; I < Called.size(); ++I)
    if (IsWanted(Lines.at(Called[I].Pc)))
      return I;
  // Code without lines may also run where a function with lines was, after a
  // jump, and at last where an exception leaves it: those are in it.
  for (size_t I = 0; I < Called.size(); ++I) {
    Expected<const CodePlace *> Begun = begunIn(Called[I]);
    if (!Begun)
      return Begun.takeError();
    if (IsWanted(**Begun))
      return I;
  }
  return std::nullopt;
}

/// A debugger that steps from From to To, which is of another line of the same
/// file, does not stop there: it jumps into the middle of a row.
Expected<bool> SourceStep::goesOn(Walk &W, const Execution &From,
                                  const Execution &To) {
  if (Lines.at(To.Pc).RowStart)
    return false;
  // A longjmp, say, is no jump from the one to the other.
  Expected<std::optional<Execution>> Before = W.instructionBefore(To.Time);
  if (!Before)
    return Before.takeError();
  return *Before && (*Before)->Time == From.Time;
}

SourceStep::Destination SourceStep::line(Position From, size_t Hidden,
                                         bool Into) {
  Expected<Registers> R = T.registers(From.Thread, From.Time);
  if (!R)
    return R.takeError();
  Expected<std::vector<Activation>> Here = T.callStack(From.Thread, From.Time);
  if (!Here)
    return Here.takeError();
  if (Here->empty())
    return std::nullopt;
  const CodePlace &Place = Lines.at(R->rip());
  ArrayRef<CodePlace::Scope> Base = Place.Scopes;
  Base = Base.drop_back(std::min(Hidden, Base.size()));
  // Where there are no lines, as a debugger does there: by instructions.
  const bool ByInstruction = !Place.hasLine();
  auto HasLine = [&](const CodePlace &There) {
    return hasLine(There, Place.Linker);
  };
  Walk W(T, From.Thread, Into, Cancel);
  W.enter(Here->front(), From.Time);
  std::optional<Run> Line;
  auto Arrived = [&] {
    return arrival(Line->Start.Time, Line->Start.Pc, Line->scopes().size());
  };
  // Not deeper into inlined functions than we are, unless asked to; in another
  // function, which ended by a jump to this one, whatever it is.
  auto DepthOf = [&](const CodePlace &There) {
    ArrayRef<CodePlace::Scope> Scopes = There.Scopes;
    size_t Depth = commonScopes(Into && Line ? Line->scopes() : Base, Scopes);
    if (!Depth)
      Depth = Into ? 1 : Scopes.size();
    while (Into && Depth < Scopes.size() && !Scopes[Depth].Avoided)
      ++Depth;
    return Depth;
  };
  auto BeginLine = [&](const CodePlace &There) {
    Line.emplace(ArrayRef(There.Scopes).take_front(DepthOf(There)));
  };
  bool AtInlined = Base.size() > 1 && Base.back().Begins;
  while (true) {
    Expected<Walk::Found> F = W.previous();
    if (!F)
      return F.takeError();
    if (AtInlined) {
      AtInlined = false;
      const CodePlace &Before = Lines.at(F->What == Walk::Kind::Own ? F->Last.Pc
                                         : F->What == Walk::Kind::Callee
                                             ? F->Stack[F->Index - 1].CallSite
                                             : 0);
      // Not if the way here was a loop in it.
      if (commonScopes(Base, Before.Scopes) < Base.size()) {
        Base = Base.drop_back();
        // Nothing of the line of its call came before it: we are there.
        if (!Run(Base).has(Before))
          return Arrival{From.Time, Hidden + 1};
      }
    }
    switch (F->What) {
    case Walk::Kind::None:
      return Line ? std::optional(Arrived()) : std::nullopt;

    case Walk::Kind::Own: {
      if (ByInstruction && !Line)
        return Arrival{F->Last.Time};
      const CodePlace &There = Lines.at(F->Last.Pc);
      // Code of no line belongs to what ran before it, and a prologue to the
      // call.
      if (!HasLine(There) || There.Prologue)
        break;
      if (!Line || (Into && Line->has(There) &&
                    DepthOf(There) > Line->scopes().size())) {
        BeginLine(There);
      } else if (!Line->has(There)) {
        Expected<bool> GoesOn = goesOn(W, F->Last, Line->Start);
        if (!GoesOn)
          return GoesOn.takeError();
        const uint32_t File = Line->scopes().back().File;
        const Arrival Middle = Arrived();
        BeginLine(There);
        if (!*GoesOn || Line->scopes().back().File != File)
          return Middle;
      }
      Line->Start = F->Last;
      break;
    }

    case Walk::Kind::Callee: {
      auto Called = ArrayRef(F->Stack).take_front(F->Index);
      bool Enter = Into;
      if (const CodePlace &Call = Lines.at(Called.back().CallSite);
          HasLine(Call)) {
        // A call of the line before.
        if (Line && !Line->has(Call))
          return Arrived();
        // What an inlined function called that is not entered is not either.
        Enter = Enter && DepthOf(Call) == Call.Scopes.size();
      }
      std::optional<size_t> Last;
      if (Enter)
        if (Error E = lastWithLines(Called, Place.Linker).moveInto(Last))
          return E;
      if (Last) {
        W.enter(*F, *Last);
        Line.reset();
      } else {
        W.skip(*F);
      }
      break;
    }

    case Walk::Kind::Caller: {
      if (!Into && W.isSuspended(*F)) {
        Expected<bool> Called =
            W.enterCallBefore(*F, Line ? Line->Start.Pc : R->rip());
        if (!Called)
          return Called.takeError();
        if (*Called)
          break;
      }
      if (Line)
        return Arrived();
      auto Caller = find_if(F->Stack, [&](const Activation &A) {
        return HasLine(Lines.at(A.Pc));
      });
      if (ByInstruction || Caller == F->Stack.end())
        return Arrival{F->Last.Time};
      W.enter(*F, Caller - F->Stack.begin());
      Base = Lines.at(Caller->Pc).Scopes;
      break;
    }
    }
  }
}

SourceStep::Destination SourceStep::over(Position From, size_t Hidden) {
  return line(From, Hidden, /*Into=*/false);
}

SourceStep::Destination SourceStep::into(Position From, size_t Hidden) {
  return line(From, Hidden, /*Into=*/true);
}

SourceStep::Destination SourceStep::out(Position From, size_t Index,
                                        size_t Scopes) {
  Expected<std::vector<Activation>> Stack = T.callStack(From.Thread, From.Time);
  if (!Stack)
    return Stack.takeError();
  assert(Index < Stack->size());
  const Activation &Left = (*Stack)[Index];
  Walk W(T, From.Thread, /*Into=*/false, Cancel);
  if (Scopes > 1) {
    ArrayRef<CodePlace::Scope> Base = Lines.at(Left.Pc).Scopes;
    Base = Base.take_front(Scopes);
    W.enter(Left, Index ? (*Stack)[Index - 1].Entry : From.Time);
    std::optional<Execution> Start;
    while (true) {
      Expected<Walk::Found> F = W.previous();
      if (!F)
        return F.takeError();
      if (F->What == Walk::Kind::Callee) {
        W.skip(*F);
        continue;
      }
      if (F->What != Walk::Kind::Own)
        break;
      const CodePlace &There = Lines.at(F->Last.Pc);
      if (commonScopes(Base, There.Scopes) == Base.size())
        Start = F->Last;
      else if (There.hasLine())
        break;
    }
    if (Start)
      return arrival(Start->Time, Start->Pc, Scopes - 1);
    // We stand at its start already.
    if (!Index && Base.back().Begins)
      return arrival(From.Time, Left.Pc, Scopes - 1);
    return out(From, Index, Scopes - 1);
  }
  Expected<std::optional<Execution>> Call = W.instructionBefore(Left.Entry);
  if (!Call)
    return Call.takeError();
  if (!*Call)
    return std::nullopt;
  return Arrival{(*Call)->Time};
}

SourceStep::Destination SourceStep::instructions(Position From,
                                                 uint64_t Count) {
  std::optional<Arrival> Last;
  if (!From.Time || !Count)
    return Last;
  if (Error E = T.executions(
          {0, ~uint64_t(0)}, {0, From.Time - 1}, From.Thread,
          /*Backward=*/true,
          [&](const Execution &X) {
            Last = Arrival{X.Time};
            return --Count != 0;
          },
          &Cancel))
    return E;
  if (Cancel.Cancelled)
    return interrupted();
  return Last;
}

} // namespace chronicle
