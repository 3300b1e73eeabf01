// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-write, next-write and writes of a register, and of a variable that is
/// in one.

#ifndef CHRONICLE_LLDB_PLUGIN_COMMANDS_REGISTERWRITES_H
#define CHRONICLE_LLDB_PLUGIN_COMMANDS_REGISTERWRITES_H

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/target/Table.h"
#include "query/registers/RegisterNames.h"
#include "query/variables/CallScope.h"

namespace chronicle::commands {

/// What a command asks about: a register, by its name with a dollar sign, or a
/// variable that is in a register at the selected frame.
struct WatchedRegister {
  std::string Name; ///< as the user has it
  registers::Register Register;
  lldb::SBType Type; ///< of a variable; otherwise invalid

  bool isVariable() const { return Type.IsValid(); }
  /// "$rax", or "(int) Total, in register rax here".
  std::string title() const;
  std::string text(lldb::SBTarget Target, llvm::ArrayRef<uint8_t> Value) const;
};

/// Nothing: the command's words name something else. Fails if they name a
/// register whose writes cannot be followed.
llvm::Expected<std::optional<WatchedRegister>>
watchedRegister(CommandCall &Call);

/// The call of the selected frame.
llvm::Expected<variables::CallScope> selectedScope(CommandCall &Call,
                                                   target::LoadedTrace &Loaded);

/// The empty table that `chronicle writes` fills, for registers and for memory.
target::Table tableOfWrites();

/// The commands. They look within the call of the selected frame.
llvm::Error oneRegisterWrite(CommandCall &Call, target::LoadedTrace &Loaded,
                             const WatchedRegister &What, bool Backward);
llvm::Error allRegisterWrites(CommandCall &Call, target::LoadedTrace &Loaded,
                              const WatchedRegister &What);

} // namespace chronicle::commands

#endif
