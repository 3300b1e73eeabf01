// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Runs one session: moves its bytes between the client and lldb-dap.

#ifndef CHRONICLE_LLDB_PLUGIN_DAP_PUMP_H
#define CHRONICLE_LLDB_PLUGIN_DAP_PUMP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace chronicle::dap {

/// How to start lldb-dap.
struct AdapterOptions {
  std::string Program;                ///< its path; if empty, it is searched
  std::vector<std::string> Arguments; ///< follow Chronicle's own
};

/// Runs a session until the client or lldb-dap ends, then ends the other. The
/// client is at two descriptors, which may be the same. If lldb-dap cannot be
/// started, the client's requests are answered with the reason.
/// \return the exit status: 0 if the client ended the session, otherwise 1.
int runSession(int FromClient, int ToClient, const AdapterOptions &Options);

} // namespace chronicle::dap

#endif
