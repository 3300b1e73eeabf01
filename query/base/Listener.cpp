// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/base/Listener.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace chronicle::base {

/// Connections that may wait for accept().
static constexpr int Backlog = 16;
/// How long to wait when there are no descriptors for a connection.
static constexpr useconds_t RetryMicroseconds = 50000;

static Error listenError(StringRef Name, int Code) {
  return createStringError(
      formatv("cannot listen on {0}: {1}", Name, sys::StrError(Code)));
}

Listener::Listener(Listener &&Other)
    : Descriptor(std::exchange(Other.Descriptor, -1)), Port(Other.Port),
      Name(std::move(Other.Name)) {}

void Listener::close() {
  if (Descriptor >= 0)
    ::close(std::exchange(Descriptor, -1));
}

/// The port that a TCP socket is bound to.
static unsigned boundPort(int Descriptor) {
  sockaddr_storage Address = {};
  socklen_t Size = sizeof(Address);
  char Digits[NI_MAXSERV] = "";
  if (!getsockname(Descriptor, reinterpret_cast<sockaddr *>(&Address), &Size))
    getnameinfo(reinterpret_cast<sockaddr *>(&Address), Size, nullptr, 0,
                Digits, sizeof(Digits), NI_NUMERICSERV);
  unsigned Port = 0;
  (void)StringRef(Digits).getAsInteger(10, Port);
  return Port;
}

Expected<Listener> Listener::tcp(StringRef Address, unsigned Port) {
  addrinfo Wanted = {}, *Found = nullptr;
  Wanted.ai_socktype = SOCK_STREAM;
  Wanted.ai_flags = AI_NUMERICSERV | AI_PASSIVE;
  std::string Host = Address.str(), Service = std::to_string(Port);
  if (int Status = getaddrinfo(Host.c_str(), Service.c_str(), &Wanted, &Found))
    return createStringError(
        formatv("cannot listen on '{0}': {1}", Address, gai_strerror(Status)));
  Listener Result(-1, Host + ":" + Service);
  int Code = EADDRNOTAVAIL;
  for (addrinfo *A = Found; A && Result.Descriptor < 0; A = A->ai_next) {
    Result.Descriptor =
        socket(A->ai_family, A->ai_socktype | SOCK_CLOEXEC, A->ai_protocol);
    int On = 1;
    if (Result.Descriptor < 0 ||
        setsockopt(Result.Descriptor, SOL_SOCKET, SO_REUSEADDR, &On,
                   sizeof(On)) ||
        bind(Result.Descriptor, A->ai_addr, A->ai_addrlen) ||
        listen(Result.Descriptor, Backlog)) {
      Code = errno;
      Result.close();
    }
  }
  freeaddrinfo(Found);
  if (Result.Descriptor < 0)
    return listenError(Result.Name, Code);
  Result.Port = boundPort(Result.Descriptor);
  return Result;
}

/// Removes a socket file that no process listens on.
static void removeStaleSocket(const sockaddr_un &Address) {
  struct stat Status;
  if (lstat(Address.sun_path, &Status) || !S_ISSOCK(Status.st_mode))
    return;
  int Probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (Probe < 0)
    return;
  if (connect(Probe, reinterpret_cast<const sockaddr *>(&Address),
              sizeof(Address)) < 0 &&
      errno == ECONNREFUSED)
    unlink(Address.sun_path);
  close(Probe);
}

/// The socket's file and its process, for the signal handler. LLVM's own
/// handler removes only regular files.
static std::string LocalPath;
static pid_t LocalOwner;

static void removeSocketAndDie(int Signal) {
  if (getpid() == LocalOwner)
    unlink(LocalPath.c_str());
  std::signal(Signal, SIG_DFL);
  std::raise(Signal);
}

static void removeAtEnd(StringRef Path) {
  LocalPath = Path.str();
  LocalOwner = getpid();
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(Signal, removeSocketAndDie) == SIG_IGN)
      std::signal(Signal, SIG_IGN);
}

Expected<Listener> Listener::local(StringRef Path) {
  sockaddr_un Address = {};
  Address.sun_family = AF_UNIX;
  if (Path.size() >= sizeof(Address.sun_path))
    return createStringError(
        formatv("the path of a socket may have at most {0} characters",
                sizeof(Address.sun_path) - 1));
  std::memcpy(Address.sun_path, Path.data(), Path.size());
  Listener Result(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), Path.str());
  if (Result.Descriptor < 0)
    return listenError(Path, errno);
  removeStaleSocket(Address);
  mode_t Mask = umask(077);
  int Failed = bind(Result.Descriptor, reinterpret_cast<sockaddr *>(&Address),
                    sizeof(Address));
  umask(Mask);
  if (Failed || listen(Result.Descriptor, Backlog))
    return listenError(Path, errno);
  removeAtEnd(Path);
  return Result;
}

Expected<int> Listener::accept() {
  while (true) {
    int Client = accept4(Descriptor, nullptr, nullptr, SOCK_CLOEXEC);
    if (Client >= 0)
      return Client;
    // Others hold descriptors or memory that they will give back.
    if (is_contained({EMFILE, ENFILE, ENOBUFS, ENOMEM}, errno)) {
      usleep(RetryMicroseconds);
      continue;
    }
    if (errno != EINTR && errno != ECONNABORTED)
      return createStringError(formatv("cannot accept a connection on {0}: {1}",
                                       Name, sys::StrError()));
  }
}

} // namespace chronicle::base
