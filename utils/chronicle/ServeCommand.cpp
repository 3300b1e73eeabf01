// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle serve`: a trace as a remote process for gdb, or LLDB without the
/// plugin.

#include "lldb-plugin/GdbSession.h"
#include "utils/chronicle/Command.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <arpa/inet.h>
#include <cerrno>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace chronicle {

static int run(ArrayRef<const char *>);
static Command Serve(
    {.Name = "serve",
     .Summary = "let gdb debug a trace, forward and backward",
     .Arguments = "[options] trace.db",
     .Details = "Waits for debuggers that speak the gdb remote protocol. Each "
                "gets a process of its own, which starts at the end of the run "
                "and can go to any moment of it; nothing can change it. "
                "Ends at Ctrl-C. Exit status: 0 with --once, 2 if the trace "
                "cannot be read or the port cannot be had.",
     .Examples = "  chronicle serve --port 1234 trace.db\n"
                 "  gdb -ex 'target remote :1234' ./program\n",
     .Run = run});
static cl::opt<std::string> Path(cl::Positional, cl::sub(Serve));
static cl::opt<unsigned>
    Port("port", cl::sub(Serve), cl::value_desc("N"),
         cl::desc("TCP port; 0, the default, takes a free one and says which"));
static cl::opt<std::string> Listen(
    "listen", cl::sub(Serve), cl::value_desc("ADDRESS"), cl::init("127.0.0.1"),
    cl::desc("Address to listen on instead of 127.0.0.1. Whoever can reach it "
             "can read the whole trace"));
static cl::opt<std::string>
    At("at", cl::sub(Serve), cl::value_desc("TIME"), cl::init("end"),
       cl::desc("Where to start: start, end or a timestamp"));
static cl::opt<bool> Once("once", cl::sub(Serve),
                          cl::desc("End when the first debugger has gone"));

/// A listening socket; Bound is told the port it got.
static Expected<int> listenOn(StringRef Address, unsigned Number,
                              unsigned &Bound) {
  addrinfo Wanted = {}, *Found = nullptr;
  Wanted.ai_socktype = SOCK_STREAM;
  Wanted.ai_flags = AI_NUMERICSERV | AI_PASSIVE;
  std::string Host = Address.str(), Service = std::to_string(Number);
  if (int Status = getaddrinfo(Host.c_str(), Service.c_str(), &Wanted, &Found))
    return createStringError(formatv("{0} is no address to listen on: {1}",
                                     Address, gai_strerror(Status)));
  int Socket = -1, Reason = EADDRNOTAVAIL;
  for (addrinfo *A = Found; A && Socket < 0; A = A->ai_next) {
    Socket =
        socket(A->ai_family, A->ai_socktype | SOCK_CLOEXEC, A->ai_protocol);
    int On = 1;
    if (Socket >= 0 &&
        (setsockopt(Socket, SOL_SOCKET, SO_REUSEADDR, &On, sizeof(On)) ||
         bind(Socket, A->ai_addr, A->ai_addrlen) || listen(Socket, 8))) {
      Reason = errno;
      close(Socket);
      Socket = -1;
    }
  }
  freeaddrinfo(Found);
  if (Socket < 0)
    return createStringError(formatv("cannot listen on {0}:{1}: {2}", Address,
                                     Number, sys::StrError(Reason)));
  sockaddr_storage Name = {};
  socklen_t Size = sizeof(Name);
  char Text[NI_MAXSERV] = "";
  if (!getsockname(Socket, reinterpret_cast<sockaddr *>(&Name), &Size))
    getnameinfo(reinterpret_cast<sockaddr *>(&Name), Size, nullptr, 0, Text,
                sizeof(Text), NI_NUMERICSERV);
  Bound = Number;
  (void)StringRef(Text).getAsInteger(10, Bound);
  return Socket;
}

/// Serves one debugger and closes its socket.
static void serveOne(const Trace &T, int Socket, Timestamp Start) {
  int On = 1;
  setsockopt(Socket, IPPROTO_TCP, TCP_NODELAY, &On, sizeof(On));
  GdbSession Session(T, Socket);
  Error E = Session.start(Start);
  if (!E)
    E = Session.serve();
  if (E)
    fail(Serve, 2, std::move(E));
  close(Socket);
}

static int run(ArrayRef<const char *>) {
  if (Path.empty())
    return failUsage(
        Serve, "which trace? name the file that 'chronicle record' wrote");
  if (Port > 65535)
    return failUsage(Serve, "a port is a number up to 65535");
  Expected<std::unique_ptr<Trace>> T = Trace::open(Path);
  if (!T)
    return fail(Serve, 2, T.takeError());
  Timestamp Start = (*T)->instructions();
  if (At == "start")
    Start = 0;
  else if (At != "end" && StringRef(At).getAsInteger(0, Start))
    return failUsage(Serve, "--at wants start, end or a timestamp");
  if (Start > (*T)->instructions())
    return failUsage(Serve, formatv("the run ends at {0}: --at {1} is after it",
                                    (*T)->instructions(), Start));
  unsigned Bound = 0;
  Expected<int> Socket = listenOn(Listen, Port, Bound);
  if (!Socket)
    return fail(Serve, 2, Socket.takeError());
  outs() << "listening on " << Listen << ':' << Bound << '\n';
  outs().flush();
  for (;;) {
    int Client = accept4(*Socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (Client < 0) {
      if (errno == EINTR || errno == ECONNABORTED)
        continue;
      return fail(Serve, 2, "cannot accept a connection: " + sys::StrError());
    }
    if (Once) {
      serveOne(**T, Client, Start);
      return 0;
    }
    std::thread(serveOne, std::cref(**T), Client, Start).detach();
  }
}

} // namespace chronicle
