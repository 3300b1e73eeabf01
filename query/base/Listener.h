// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A socket that accepts connections.

#ifndef CHRONICLE_QUERY_BASE_LISTENER_H
#define CHRONICLE_QUERY_BASE_LISTENER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace chronicle::base {

/// A listening socket, closed when this object is destroyed. Its descriptor and
/// those of its connections are not inherited by programs that are started.
class Listener {
public:
  /// Listens on a TCP port of an address or host name. Port 0 takes a free one.
  static llvm::Expected<Listener> tcp(llvm::StringRef Address, unsigned Port);
  /// Listens on a Unix socket, to which only this user may connect. A socket
  /// that no process listens on is replaced; any other file of that name is an
  /// error. The file remains when the listener is closed, but is removed when
  /// SIGINT, SIGTERM or SIGHUP ends this process. There is one such listener in
  /// a process.
  static llvm::Expected<Listener> local(llvm::StringRef Path);

  Listener(Listener &&Other);
  Listener(const Listener &) = delete;
  Listener &operator=(const Listener &) = delete;
  ~Listener() { close(); }

  /// The TCP port; 0 for a Unix socket.
  unsigned port() const { return Port; }
  /// Waits for a connection. \return its descriptor, which the caller owns.
  llvm::Expected<int> accept();
  void close();

private:
  Listener(int Descriptor, std::string Name)
      : Descriptor(Descriptor), Name(std::move(Name)) {}

  int Descriptor;
  unsigned Port = 0;
  std::string Name; ///< for errors: "127.0.0.1:80", "/tmp/socket"
};

} // namespace chronicle::base

#endif
