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
  size_t scopes() const { return Scopes.size(); }
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
  while (Shown > Scopes && There[Shown - 1].Start == Pc)
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
    return There.hasLine() && (!There.Linker || Place.Linker);
  };
  Walk W(T, From.Thread, Into, Cancel);
  W.enter(Here->front(), From.Time);
  std::optional<Run> Line;
  auto Arrived = [&] {
    return arrival(Line->Start.Time, Line->Start.Pc, Line->scopes());
  };
  while (true) {
    Expected<Walk::Found> F = W.previous();
    if (!F)
      return F.takeError();
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
      if (!Line) {
        // Not deeper into inlined functions than we are, unless asked to; in
        // another function, which ended by a jump to this one, whatever it is.
        size_t Depth = Into ? 0 : commonScopes(Base, There.Scopes);
        Line.emplace(ArrayRef(There.Scopes)
                         .take_front(Depth ? Depth : There.Scopes.size()));
      } else if (!Line->has(There)) {
        return Arrived();
      }
      Line->Start = F->Last;
      break;
    }

    case Walk::Kind::Callee: {
      // Of what was left at once (by an exception, say), the innermost with
      // lines is where it began. A debugger does not step into handlers of
      // signals.
      auto Called = ArrayRef(F->Stack).take_front(F->Index);
      auto IsWanted = [&](const CodePlace &There) {
        return HasLine(There) && !There.Avoided;
      };
      auto Last = find_if(Called, [&](const Activation &A) {
        return IsWanted(Lines.at(A.Pc));
      });
      bool Signal =
          any_of(Called, [](const Activation &A) { return A.Signal; });
      // Code without lines may also run where a function with lines was, after
      // a jump, and at last where an exception leaves it: those are in it.
      for (auto A = Called.begin();
           Into && !Signal && Last == Called.end() && A != Called.end(); ++A) {
        Expected<const CodePlace *> Begun = begunIn(*A);
        if (!Begun)
          return Begun.takeError();
        if (IsWanted(**Begun)) {
          Last = A;
          break;
        }
      }
      // A call of the line before.
      if (Line && Called.back().CallSite) {
        const CodePlace &Call = Lines.at(Called.back().CallSite);
        if (HasLine(Call) && !Line->has(Call))
          return Arrived();
      }
      if (Into && !Signal && Last != Called.end()) {
        W.enter(*F, Last - Called.begin());
        Line.reset();
      } else {
        W.skip(*F);
      }
      break;
    }

    case Walk::Kind::Caller: {
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

SourceStep::Destination SourceStep::into(Position From) {
  return line(From, 0, /*Into=*/true);
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
    // We stand at its start already: out of what it is inlined into.
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
