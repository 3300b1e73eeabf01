// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The framing of the gdb remote protocol over a stream socket:
///
///     packet := '$' body '#' two hexadecimal digits, the sum of body mod 256
///     body   := bytes; '}' escapes the next one, which is xored with 0x20
///
/// Each packet is acknowledged by '+' or '-' until both sides agree to stop
/// that. A 0x03 outside a packet asks a running process to stop.

#ifndef CHRONICLE_LLDB_PLUGIN_SESSION_PACKETCHANNEL_H
#define CHRONICLE_LLDB_PLUGIN_SESSION_PACKETCHANNEL_H

#include "query/Trace.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <thread>

namespace chronicle::session {

/// One end of a connection. Does not own the socket. Only one thread may read
/// and write; while an InterruptWatch is alive, only the watch reads.
class PacketChannel {
public:
  explicit PacketChannel(int Socket) : Socket(Socket) {}

  /// The next packet's body, unescaped; empty if the other side has gone. An
  /// interrupt that arrives while nothing runs came too late and is dropped.
  llvm::Expected<std::optional<std::string>> read();
  llvm::Error write(llvm::StringRef Body);
  /// Stops sending and expecting '+' and '-' from the next packet on.
  void stopAcknowledging() { Acknowledges = false; }

  /// While alive, sets the cancellation when the other side asks for a stop or
  /// goes away. Costs a thread.
  class InterruptWatch {
  public:
    InterruptWatch(PacketChannel &Channel, answers::Cancellation &Cancel);
    ~InterruptWatch();
    InterruptWatch(const InterruptWatch &) = delete;
    InterruptWatch &operator=(const InterruptWatch &) = delete;

  private:
    int Done;
    std::thread Watcher;
  };

private:
  llvm::Error send(llvm::StringRef Bytes);
  /// \return false if the other side has gone.
  llvm::Expected<bool> receive();

  int Socket;
  bool Acknowledges = true;
  bool Spoke = false; ///< the debugger has sent something
  std::string Received;
  std::string LastSent;
};

} // namespace chronicle::session

#endif
