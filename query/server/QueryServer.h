// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Sessions on file descriptors: standard input and output, or a Unix socket.

#ifndef CHRONICLE_QUERY_SERVER_QUERYSERVER_H
#define CHRONICLE_QUERY_SERVER_QUERYSERVER_H

#include "query/server/QuerySession.h"

namespace chronicle::server {

/// Answers the requests that come from In, one per line, until In ends and all
/// are answered. If the reader of Out has gone, cancels the requests in
/// progress and returns false.
bool serveDescriptors(const query::Trace &T, llvm::ThreadPoolInterface &Pool,
                      int In, int Out);

/// Makes a socket and answers every client that connects to it; each has a
/// session of its own. Only the user may connect. Returns only if this fails. A
/// socket that no process listens on is replaced; any other file is not.
llvm::Error serveSocket(const query::Trace &T, llvm::ThreadPoolInterface &Pool,
                        llvm::StringRef Path);

} // namespace chronicle::server

#endif
