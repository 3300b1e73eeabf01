// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/session/PacketChannel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::session {

static constexpr char Interrupt = 0x03;
static constexpr char Escape = '}';
static constexpr char EscapeMask = 0x20;
/// More than any packet of a debugger has. What is longer is no packet.
static constexpr size_t MaxPacket = 16 << 20;

static uint8_t sumOf(StringRef Body) {
  uint8_t Sum = 0;
  for (unsigned char C : Body)
    Sum += C;
  return Sum;
}

static std::string unescape(StringRef Body) {
  std::string Result;
  Result.reserve(Body.size());
  for (size_t I = 0; I < Body.size(); ++I) {
    if (Body[I] == Escape && I + 1 < Body.size())
      Result += char(Body[++I] ^ EscapeMask);
    else
      Result += Body[I];
  }
  return Result;
}

Error PacketChannel::send(StringRef Bytes) {
  while (!Bytes.empty()) {
    ssize_t N = sys::RetryAfterSignal(-1, [&] {
      return ::send(Socket, Bytes.data(), Bytes.size(), MSG_NOSIGNAL);
    });
    if (N < 0)
      return createStringError(errnoAsErrorCode(),
                               "cannot send to the debugger: %s",
                               sys::StrError().c_str());
    Bytes = Bytes.drop_front(N);
  }
  return Error::success();
}

Expected<bool> PacketChannel::receive() {
  char Buffer[16384];
  ssize_t N = sys::RetryAfterSignal(
      -1, [&] { return ::recv(Socket, Buffer, sizeof(Buffer), 0); });
  if (N < 0 && errno != ECONNRESET)
    return createStringError(errnoAsErrorCode(),
                             "cannot receive from the debugger: %s",
                             sys::StrError().c_str());
  if (N <= 0)
    return false;
  Received.append(Buffer, N);
  return true;
}

Expected<std::optional<std::string>> PacketChannel::read() {
  for (;;) {
    size_t Start = 0;
    // A web page can make a browser send text to a local port.
    if (!Spoke && !Received.empty()) {
      if (!StringRef("+-$\x03").contains(Received[0]))
        return createStringError(
            "the client does not speak the gdb remote protocol");
      Spoke = true;
    }
    while (Start < Received.size() && Received[Start] != '$') {
      if (Received[Start] == '-' && Acknowledges)
        if (Error E = send(LastSent))
          return E;
      ++Start;
    }
    Received.erase(0, Start);
    size_t End = Received.find('#');
    if (Received.empty() || End == std::string::npos ||
        Received.size() < End + 3) {
      if (Received.size() > MaxPacket)
        return createStringError("the debugger sent a packet without an end");
      Expected<bool> More = receive();
      if (!More)
        return More.takeError();
      if (!*More)
        return std::nullopt;
      continue;
    }
    std::string Body = Received.substr(1, End - 1);
    uint8_t Sum = 0;
    bool Right =
        !StringRef(Received).substr(End + 1, 2).getAsInteger(16, Sum) &&
        Sum == sumOf(Body);
    Received.erase(0, End + 3);
    if (Acknowledges)
      if (Error E = send(Right ? "+" : "-"))
        return E;
    if (Right || !Acknowledges)
      return unescape(Body);
  }
}

Error PacketChannel::write(StringRef Body) {
  std::string Packet = "$";
  for (char C : Body) {
    if (StringRef("#$}*").contains(C)) {
      Packet += Escape;
      Packet += char(C ^ EscapeMask);
    } else {
      Packet += C;
    }
  }
  uint8_t Sum = sumOf(StringRef(Packet).drop_front());
  Packet += '#';
  Packet += hexdigit(Sum >> 4, /*LowerCase=*/true);
  Packet += hexdigit(Sum & 15, /*LowerCase=*/true);
  LastSent = Packet;
  return send(Packet);
}

PacketChannel::InterruptWatch::InterruptWatch(PacketChannel &Channel,
                                              answers::Cancellation &Cancel)
    : Done(eventfd(0, EFD_CLOEXEC)) {
  size_t Early = Channel.Received.find(Interrupt);
  if (Early != std::string::npos) {
    Channel.Received.erase(0, Early + 1);
    Cancel.Cancelled = true;
  }
  Watcher = std::thread([Socket = Channel.Socket, Done = Done, &Cancel] {
    for (;;) {
      pollfd Waits[] = {{Socket, POLLIN, 0}, {Done, POLLIN, 0}};
      if (poll(Waits, 2, -1) < 0) {
        if (errno == EINTR)
          continue;
        return;
      }
      if (Waits[1].revents)
        return;
      char C;
      ssize_t N = recv(Socket, &C, 1, MSG_PEEK);
      if (N < 0 && (errno == EINTR || errno == EAGAIN))
        continue;
      if (N <= 0) {
        Cancel.Cancelled = true;
        return;
      }
      // Everything else is for read(), except the '+' that acknowledges the
      // packet before this search.
      if (C != '+' && C != Interrupt)
        return;
      recv(Socket, &C, 1, 0);
      if (C == Interrupt)
        Cancel.Cancelled = true;
    }
  });
}

PacketChannel::InterruptWatch::~InterruptWatch() {
  uint64_t One = 1;
  [[maybe_unused]] ssize_t N = ::write(Done, &One, sizeof(One));
  Watcher.join();
  close(Done);
}

} // namespace chronicle::session
