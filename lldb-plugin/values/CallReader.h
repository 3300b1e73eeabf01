// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Parameters and results of calls at any moment, as LLDB shows them.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_CALLREADER_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_CALLREADER_H

#include "lldb-plugin/target/Scout.h"
#include "query/symbols/FunctionFacts.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/Support/JSON.h"
#include <map>

namespace chronicle::values {

/// What must be known of a call to read its parameters and its result.
struct CallMoment {
  Timestamp Entry = 0;
  std::optional<Timestamp> Return; ///< nothing: it did not return
  std::optional<Timestamp> Left;   ///< by return or not; nothing: not yet
  uint32_t Thread = 0;
  uint64_t Function = 0; ///< its first instruction
  bool Inlined = false;  ///< otherwise it was called
  /// If inlined: how many functions that were inlined into it are at the same
  /// instruction.
  unsigned InlinedInside = 0;
};

struct Parameter {
  std::string Name, Type, Value;
  std::optional<llvm::APSInt>
      Number; ///< nothing: neither a whole number nor a pointer
};
llvm::json::Object toJSON(const Parameter &P);
/// "A=1, B=2"; a parameter without a name is its value alone.
std::string parametersText(llvm::ArrayRef<Parameter> Parameters);

struct CallResult {
  std::string Value; ///< empty: nothing, not yet, or not known
  /// The compiler may have dropped the result: what the register has is no
  /// answer then.
  bool MayBeDropped = false;
};

/// Reads the parameters and results of many calls. They are the same wherever
/// the user's process is: names and types are those of the modules that were
/// loaded at the call.
class CallReader {
public:
  static llvm::Expected<CallReader> make(target::LoadedTrace &Loaded);

  /// When the call is where a breakpoint on its function stops: after the
  /// prologue, where debug info is right about all variables. Without debug
  /// info, or if the call did not get there, its entry.
  llvm::Expected<Timestamp> start(const CallMoment &Call);
  /// The parameters as they were at the call. Nothing: the function has no
  /// debug info.
  llvm::Expected<std::optional<std::vector<Parameter>>>
  parameters(const CallMoment &Call);
  /// A frame of the call in which expressions can name its parameters. Nothing:
  /// the function has no debug info, or the call did not get past its prologue.
  llvm::Expected<std::optional<lldb::SBFrame>> frame(const CallMoment &Call);
  /// The frame at the call's first instruction, where the registers have what
  /// the caller passed.
  llvm::Expected<lldb::SBFrame> entryFrame(const CallMoment &Call) {
    return frameAt(Call, Call.Entry);
  }
  llvm::Expected<CallResult> result(const CallMoment &Call);

private:
  CallReader(const query::Trace &T, target::Scout &There)
      : T(T), There(There) {}
  struct Function {
    bool Known = false;
    uint64_t Prologue = 0;
    lldb::SBType Result;
    bool MayDropResult = false;
    symbols::FunctionFacts Facts;
    bool knownAtEntry(llvm::StringRef Parameter) const;
    bool knowsAnyAtEntry() const;
    bool needsPrologue() const;
  };
  llvm::Expected<const Function *> function(const CallMoment &Call);
  llvm::Expected<std::optional<Timestamp>> afterPrologue(const CallMoment &Call,
                                                         const Function &F);
  /// The call's frame at a moment at which it is the innermost one.
  llvm::Expected<lldb::SBFrame> frameAt(const CallMoment &Call, Timestamp Time);

  const query::Trace &T;
  target::Scout &There;
  /// By module and address: another one may be loaded there at another time.
  std::map<std::pair<const void *, uint64_t>, Function> Functions;
};

} // namespace chronicle::values

#endif
