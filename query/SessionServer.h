// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Sessions on file descriptors: standard input and output, or a Unix socket.

#ifndef CHRONICLE_QUERY_SESSIONSERVER_H
#define CHRONICLE_QUERY_SESSIONSERVER_H

#include "query/Session.h"

namespace chronicle {

/// Answers the requests that come from In, a line each, until it ends and all
/// are answered. If nobody reads Out any more, what is under way is given up,
/// and the result is false.
bool serveDescriptors(const Trace &T, llvm::ThreadPoolInterface &Pool, int In,
                      int Out);

/// Answers every client that connects to the socket, which is made; each has a
/// session of its own. Only the user may connect. Comes back only if that
/// fails. A socket that nobody listens to any more is replaced, anything else
/// of that name is not.
llvm::Error serveSocket(const Trace &T, llvm::ThreadPoolInterface &Pool,
                        llvm::StringRef Path);

} // namespace chronicle

#endif
