// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The x86-64 registers in the numbering of debuggers, made from the recorded
/// guest state.

#ifndef CHRONICLE_LLDB_PLUGIN_SESSION_REGISTERLAYOUT_H
#define CHRONICLE_LLDB_PLUGIN_SESSION_REGISTERLAYOUT_H

#include "query/Trace.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>

namespace chronicle::session {

/// One register of target.xml. Its number is its index in registerLayout().
struct RegisterDescription {
  std::string Name;
  unsigned Bytes;
  /// Whether stop replies carry the register, so that a debugger need not ask
  /// for it: general purpose registers, flags, segments and their bases.
  bool InStopReply;
};

/// All of them, in the order of a `g` packet.
llvm::ArrayRef<RegisterDescription> registerLayout();
/// The value, in the bytes that the processor would store.
llvm::SmallVector<uint8_t, 32> registerValue(const answers::Registers &R,
                                             unsigned Number);
/// Values by number, from wherever they come.
using RegisterValues =
    std::function<llvm::SmallVector<uint8_t, 32>(unsigned Number)>;
/// The reply to qXfer:features:read:target.xml. It has gdb's standard features,
/// which LLDB knows too.
llvm::StringRef targetDescription();

} // namespace chronicle::session

#endif
