// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Memory that a question about writes is about, and its value at any moment.

#ifndef CHRONICLE_LLDB_PLUGIN_COMMANDS_WATCHEDMEMORY_H
#define CHRONICLE_LLDB_PLUGIN_COMMANDS_WATCHEDMEMORY_H

#include "lldb-plugin/commands/CommandCall.h"
#include "query/answers/Activation.h"
#include "llvm/ADT/APSInt.h"

namespace chronicle::commands {

/// Memory that a command is about.
struct Watched {
  std::string Name; ///< the expression, or the address
  answers::AddressRange Range;
  lldb::SBType Type; ///< invalid if not known
  /// Of a bit-field: its bits in Range, whose bytes it may share with others.
  struct Bits {
    unsigned First, Count;
  };
  std::optional<Bits> Field;
  /// If it is in a stack frame: the call that the frame belongs to. Before and
  /// after that call the memory is something else.
  std::optional<answers::Activation> Owner;

  /// "(int) Counter", or "0x1000, 8 bytes".
  std::string title() const;
};

/// The memory that the command's words (an expression) or its options --address
/// and --size name. Fails if it is not in memory.
llvm::Expected<Watched> watchedMemory(CommandCall &Call,
                                      target::LoadedTrace &Loaded);

/// The memory's contents at Time, according to its type. Numbers cost a read of
/// memory, other types a move of the scout.
llvm::Expected<std::string> valueAt(target::LoadedTrace &Loaded,
                                    const Watched &What, Timestamp Time);

/// The same as a number; nothing: it is not mapped then. Fails if its type is
/// neither that of whole numbers nor of pointers. Costs a read of memory.
llvm::Expected<std::optional<llvm::APSInt>>
numberAt(target::LoadedTrace &Loaded, const Watched &What, Timestamp Time);

} // namespace chronicle::commands

#endif
