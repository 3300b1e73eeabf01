// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The x86-64 registers as debuggers number them, made from the recorded guest
/// state.

#ifndef CHRONICLE_LLDB_PLUGIN_REGISTERLAYOUT_H
#define CHRONICLE_LLDB_PLUGIN_REGISTERLAYOUT_H

#include "query/Trace.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace chronicle {

/// One register of target.xml. Its number is its place in layout().
struct RegisterDescription {
  std::string Name;
  unsigned Bytes;
  /// General purpose, flags, segments and their bases: what a stop reply
  /// carries, so that a debugger need not ask for them.
  bool InStopReply;
};

/// All of them, in the order of a `g` packet.
llvm::ArrayRef<RegisterDescription> registerLayout();
/// The value as the processor would store it.
llvm::SmallVector<uint8_t, 32> registerValue(const Registers &R,
                                             unsigned Number);
/// What qXfer:features:read:target.xml answers: gdb's standard features, which
/// LLDB knows too.
llvm::StringRef targetDescription();

} // namespace chronicle

#endif
