// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a session can do, where that is not what lldb-dap says.

#ifndef CHRONICLE_LLDBPLUGIN_DAP_CAPABILITIES_H
#define CHRONICLE_LLDBPLUGIN_DAP_CAPABILITIES_H

#include "llvm/Support/JSON.h"

namespace chronicle::dap {

/// What is debugged, as far as known.
enum class Debuggee { Unknown, Trace, Live };

/// Makes lldb-dap's capabilities true. For a trace: on what Chronicle adds, off
/// what would change the process. As long as it is unknown, all that may turn
/// out to be true.
void correct(llvm::json::Object &Capabilities, Debuggee What);

/// What must be said once it is known, to a client that was told the
/// capabilities of Debuggee::Unknown.
llvm::json::Object correctionFor(Debuggee What);

} // namespace chronicle::dap

#endif
