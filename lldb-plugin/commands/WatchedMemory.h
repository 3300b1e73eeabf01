// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Memory that a question about writes is about, its value at any moment, and
/// asking about the same memory again after a jump.

#ifndef CHRONICLE_LLDB_PLUGIN_COMMANDS_WATCHEDMEMORY_H
#define CHRONICLE_LLDB_PLUGIN_COMMANDS_WATCHEDMEMORY_H

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/commands/CommandSpec.h"
#include "query/answers/Activation.h"
#include "llvm/ADT/APSInt.h"

namespace chronicle::commands {

/// -a and -s, by which a command takes memory without an expression.
/// --any-time, for the whole run instead of the call of a local variable.
extern const OptionSpec AddressOption, SizeOption, AnyTimeOption;

/// The options of the commands that go to one write or read.
llvm::ArrayRef<OptionSpec> optionsOfOneAccess();

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

/// Memory that a command is about, and a sentence if its name means something
/// else at the present moment.
struct WatchedAgain {
  Watched What;
  std::string Note;
};

/// The memory that the command names. If the same expression was asked about
/// before, and the jump to that write is why the process is here, it is the
/// same memory as before: at the write, which may be in another function, the
/// name may mean something else. --here asks for what it means here.
llvm::Expected<WatchedAgain> watchedAgain(CommandCall &Call,
                                          target::LoadedTrace &Loaded);

/// Whether watchedAgain() would answer with the memory from before the jump.
bool watchesBefore(CommandCall &Call, target::LoadedTrace &Loaded);

/// Must be called for a jump to a write. LLDB may still be on its way There.
void rememberWatched(CommandCall &Call, target::LoadedTrace &Loaded,
                     const Watched &What, session::Position There);

} // namespace chronicle::commands

#endif
