// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a session knows about the debugger that it serves.

#ifndef CHRONICLE_LLDB_PLUGIN_SESSION_DEBUGGERTRAITS_H
#define CHRONICLE_LLDB_PLUGIN_SESSION_DEBUGGERTRAITS_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <string>

namespace chronicle::session {

struct DebuggerTraits {
  bool IsLldb = false;         ///< else gdb
  bool WantsErrorText = false; ///< takes LLDB's form of an error reply

  /// An error reply, in the form that the debugger understands.
  std::string failure(llvm::StringRef Sentence) const {
    if (WantsErrorText)
      return "E01;" + llvm::toHex(Sentence, /*LowerCase=*/true);
    return ("E." + Sentence).str();
  }
  std::string failure(llvm::Error E) const {
    return failure(toString(std::move(E)));
  }
};

} // namespace chronicle::session

#endif
