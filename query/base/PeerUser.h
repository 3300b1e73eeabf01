// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Whose program is at the other end of a connection.

#ifndef CHRONICLE_QUERY_BASE_PEERUSER_H
#define CHRONICLE_QUERY_BASE_PEERUSER_H

#include "llvm/Support/Error.h"

namespace chronicle::base {

/// Fails if an accepted connection comes from this machine, through its
/// loopback address, and not from a program of this user: a port of 127.0.0.1
/// is open to every user. Connections from other machines and through Unix
/// sockets pass. Reads the kernel's table of connections once.
llvm::Error checkPeerUser(int Connection);

} // namespace chronicle::base

#endif
