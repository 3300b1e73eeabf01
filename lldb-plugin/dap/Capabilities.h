// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a session can do, where lldb-dap's own capabilities are wrong.

#ifndef CHRONICLE_LLDB_PLUGIN_DAP_CAPABILITIES_H
#define CHRONICLE_LLDB_PLUGIN_DAP_CAPABILITIES_H

#include "llvm/Support/JSON.h"

namespace chronicle::dap {

/// What the session debugs, as far as it is known.
enum class Debuggee { Unknown, Trace, Live };

/// Corrects lldb-dap's capabilities. For a trace, turns on what Chronicle adds
/// and off what would change the process. While the debuggee is unknown, leaves
/// on everything that may turn out to be true.
void correct(llvm::json::Object &Capabilities, Debuggee What);

/// The capabilities to send once the debuggee is known, to a client that was
/// sent those of Debuggee::Unknown.
llvm::json::Object correctionFor(Debuggee What);

} // namespace chronicle::dap

#endif
