// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Moves the bytes of one session.

#ifndef CHRONICLE_LLDBPLUGIN_DAP_PUMP_H
#define CHRONICLE_LLDBPLUGIN_DAP_PUMP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace chronicle::dap {

/// How to start lldb-dap.
struct AdapterOptions {
  std::string Program;                ///< empty: find it
  std::vector<std::string> Arguments; ///< to lldb-dap, after our own
};

/// Runs a session with the client at two descriptors (which may be one) until
/// either side ends, and ends the other. What keeps lldb-dap from starting is
/// said to the client in its own protocol.
/// \return 0 if the client ended it, 1 otherwise: the exit status.
int runSession(int FromClient, int ToClient, const AdapterOptions &Options);

} // namespace chronicle::dap

#endif
