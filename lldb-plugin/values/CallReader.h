// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Parameters and results of calls at any moment, as LLDB shows them.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_CALLREADER_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_CALLREADER_H

#include "lldb-plugin/target/Scout.h"
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
};

/// The size of the function's prologue in bytes. Unlike LLDB this also finds it
/// if the whole function is on one line of source.
uint64_t prologueOf(lldb::SBFunction F);

/// When the call is where a breakpoint on its function stops: after the
/// prologue of that size, where debug info is right about variables. Nothing:
/// it did not get there.
llvm::Expected<std::optional<Timestamp>>
afterPrologue(const query::Trace &T, const CallMoment &Call, uint64_t Prologue);

struct Parameter {
  std::string Name, Type, Value;
};
llvm::json::Object toJSON(const Parameter &P);
/// "A=1, B=2"; a parameter without a name is its value alone.
std::string parametersText(llvm::ArrayRef<Parameter> Parameters);

/// Reads the parameters and results of many calls.
class CallReader {
public:
  static llvm::Expected<CallReader> make(target::LoadedTrace &Loaded);

  /// The frame in which the call's parameters can be read: its own, after the
  /// prologue. Nothing: the function has no debug info, or did not get there.
  llvm::Expected<std::optional<lldb::SBFrame>> enter(const CallMoment &Call);
  /// The parameters of a frame that enter() returned.
  static std::vector<Parameter> parameters(lldb::SBFrame Frame);
  /// What it returned, as text. Empty: nothing, not yet, or debug info does not
  /// say where the result is.
  llvm::Expected<std::string> result(const CallMoment &Call);

private:
  CallReader(const query::Trace &T, target::Scout &There)
      : T(T), There(There) {}
  struct Function {
    bool Known = false;
    uint64_t Prologue = 0;
    lldb::SBType Result;
  };
  llvm::Expected<Function *> function(const CallMoment &Call);

  const query::Trace &T;
  target::Scout &There;
  std::map<uint64_t, Function> Functions;
};

} // namespace chronicle::values

#endif
