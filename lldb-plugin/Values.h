// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Values as LLDB shows them, of any moment.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_H

#include "lldb-plugin/Command.h"
#include "lldb-plugin/Scout.h"
#include <map>

namespace chronicle {

/// What LLDB says is wrong.
std::string errorText(lldb::SBError E);

/// Memory that a command is about.
struct Watched {
  std::string Name; ///< the expression, or the address
  AddressRange Range;
  lldb::SBType Type; ///< invalid: nobody knows
  /// Of a bit-field: where it is in Range, whose bytes it may share.
  struct Bits {
    unsigned First, Count;
  };
  std::optional<Bits> Field;
  /// If it is in a stack frame: the call whose frame that is. Outside of it the
  /// memory is something else.
  std::optional<Activation> Owner;

  /// "(int) Counter", or "0x1000, 8 bytes".
  std::string title() const;
};

/// What the words of the command name, an expression, or its options --address
/// and --size; or why nothing can write that.
llvm::Expected<Watched> watchedMemory(CommandCall &Call, LoadedTrace &Loaded);

/// On one line: the value, its summary, the members.
std::string valueText(lldb::SBValue Value);

/// The memory's contents at Time, by its type. Numbers cost a read of memory,
/// others a move of the scout.
llvm::Expected<std::string> valueAt(LoadedTrace &Loaded, const Watched &What,
                                    Timestamp Time);

/// One call, as `chronicle query`'s calls and call-stack have it.
struct CallMoment {
  Timestamp Entry = 0;
  std::optional<Timestamp> Return;
  uint32_t Thread = 0;
  uint64_t Function = 0; ///< its first instruction
};

/// How many bytes come before the code of the function's body. LLDB finds none
/// where all of it is on one line of source; this does.
uint64_t prologueOf(lldb::SBFunction F);

/// When the call is where a breakpoint on its function stops: past the
/// prologue, which has so many bytes, where debug info tells the truth about
/// variables. Nothing: it did not get there.
llvm::Expected<std::optional<Timestamp>>
afterPrologue(const Trace &T, const CallMoment &Call, uint64_t Prologue);

struct Parameter {
  std::string Name, Type, Value;
};
llvm::json::Value jsonParameters(llvm::ArrayRef<Parameter> Parameters);
/// "A=1, B=2".
std::string parametersText(llvm::ArrayRef<Parameter> Parameters);

/// Reads the parameters and results of many calls.
class CallReader {
public:
  static llvm::Expected<CallReader> make(LoadedTrace &Loaded);

  /// Where the call's parameters can be read: its own frame, after the
  /// prologue. Nothing: the function has no debug info, or did not get there.
  llvm::Expected<std::optional<lldb::SBFrame>> enter(const CallMoment &Call);
  /// Those of a frame that enter() gave.
  static std::vector<Parameter> parameters(lldb::SBFrame Frame);
  /// What it returned, by its type; empty: nothing, not yet, or a class that
  /// was passed in registers.
  llvm::Expected<std::string> result(const CallMoment &Call);

private:
  CallReader(const Trace &T, Scout &There) : T(T), There(There) {}
  struct Function {
    bool Known = false;
    uint64_t Prologue = 0;
    lldb::SBType Result;
  };
  llvm::Expected<Function *> function(const CallMoment &Call);

  const Trace &T;
  Scout &There;
  std::map<uint64_t, Function> Functions;
};

} // namespace chronicle

#endif
