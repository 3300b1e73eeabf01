// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where a step backward ends, at source level.
///
/// The instructions that an activation ran itself, without those of its
/// callees, fall into *runs*: neighbours of the same source line. A debugger's
/// step forward goes from the start of one run to the start of the next; a step
/// backward goes to the start of the run that the instruction before now is in.
/// So each undoes the other, and from the middle of a line the way back is to
/// its beginning. Where an inlined function begins there are several places at
/// the same moment: its first line, and the line of its call.

#ifndef CHRONICLE_LLDB_PLUGIN_SOURCESTEP_H
#define CHRONICLE_LLDB_PLUGIN_SOURCESTEP_H

#include "lldb-plugin/TimeTravel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace chronicle {

/// What a debugger knows of an instruction's source.
struct CodePlace {
  /// The function, or a function inlined into the scope before it.
  struct Scope {
    uint64_t Start = 0;   ///< of its code: tells scopes apart
    uint32_t File = 0;    ///< some number for each file
    uint32_t Line = 0;    ///< in an outer scope, of the inlined call; 0: none
    bool Begins = false;  ///< inlined, and a piece of its code begins here
    bool Avoided = false; ///< the user does not want to step into it
  };
  llvm::SmallVector<Scope, 2> Scopes; ///< outermost first; empty: nothing known
  /// A row of the line table begins here. A debugger that comes from another
  /// line of the file into the middle of a row goes on to its end.
  bool RowStart = false;
  /// Sets up the frame, before the function's body: goes with the call.
  bool Prologue = false;
  /// Of the dynamic linker, which gets between a call and its callee.
  bool Linker = false;
  /// Of the linkage table: leads to a function, perhaps through the linker.
  bool Stub = false;

  bool hasLine() const { return !Scopes.empty() && Scopes.back().Line; }
};

/// A debugger's line table. What it returns lives as long as itself.
class LineTable {
public:
  virtual ~LineTable();
  virtual const CodePlace &at(uint64_t Pc) = 0;
};

/// Finds the destinations. Callees are skipped by their activations, so what a
/// step costs depends on the instructions of the line itself, not on what it
/// called. Not thread-safe.
class SourceStep {
public:
  SourceStep(const Trace &T, LineTable &Lines, const Cancellation &Cancel)
      : T(T), Lines(Lines), Cancel(Cancel) {}

  struct Arrival {
    Timestamp Time = 0;
    /// So many inlined functions begin just there and are not entered yet: the
    /// innermost scopes, which a debugger should not show.
    size_t Hidden = 0;
  };
  /// Nothing, in all of these: the thread did not run before that.
  using Destination = llvm::Expected<std::optional<Arrival>>;

  /// To the start of the line before, over calls. Hidden as in Arrival, of
  /// where we are.
  Destination over(Position From, size_t Hidden);
  /// The same, but into calls, from their end.
  Destination into(Position From, size_t Hidden);
  /// To the call of the activation that is in that place of the stack. With
  /// Scopes > 1, to the start of an inlined function: of the one that is that
  /// deep in the activation's code.
  Destination out(Position From, size_t Activation, size_t Scopes);
  /// Back by instructions of the thread.
  Destination instructions(Position From, uint64_t Count);

private:
  class Walk;
  Destination line(Position From, size_t Hidden, bool Into);
  Arrival arrival(Timestamp Time, uint64_t Pc, size_t Scopes);
  llvm::Expected<const CodePlace *> begunIn(const Activation &A);
  llvm::Expected<bool> goesOn(Walk &W, const Execution &From,
                              const Execution &To);
  llvm::Expected<std::optional<size_t>>
  lastWithLines(llvm::ArrayRef<Activation> Called, bool LinkerToo);

  const Trace &T;
  LineTable &Lines;
  const Cancellation &Cancel;
  llvm::DenseMap<uint64_t, uint64_t> BehindStub; ///< where the linker led
};

} // namespace chronicle

#endif
