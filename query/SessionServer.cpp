// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/SessionServer.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle {

/// A request is a question, not data; what is longer than this is a mistake.
static constexpr size_t MaxLine = 1 << 20;

static bool writeAll(int Descriptor, StringRef Text) {
  while (!Text.empty()) {
    ssize_t Written = ::write(Descriptor, Text.data(), Text.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written < 0)
      return false;
    Text = Text.drop_front(Written);
  }
  return true;
}

namespace {
/// Cuts what is read into lines. One that is too long is refused, and the rest
/// of it skipped.
class LineSplitter {
public:
  explicit LineSplitter(Session &S) : S(S) {}

  void take(StringRef Text) {
    while (!Text.empty()) {
      auto [Head, Tail] = Text.split('\n');
      bool Complete = Head.size() < Text.size();
      if (!TooLong)
        Line += Head;
      if (Line.size() > MaxLine) {
        TooLong = true;
        Line.clear();
      }
      if (Complete)
        end();
      Text = Complete ? Tail : StringRef();
    }
  }
  void end() {
    if (TooLong)
      S.refuse("malformed", "a request must be shorter than 1 MiB");
    else if (!StringRef(Line).trim().empty())
      S.request(Line);
    Line.clear();
    TooLong = false;
  }

private:
  Session &S;
  std::string Line;
  bool TooLong = false;
};
} // namespace

/// Whether the other side of a pipe or socket has left for good.
static bool hungUp(int Out, std::chrono::milliseconds Wait) {
  pollfd Poll = {Out, 0, 0};
  return ::poll(&Poll, 1, static_cast<int>(Wait.count())) > 0 &&
         (Poll.revents & (POLLERR | POLLHUP));
}

bool serveDescriptors(const Trace &T, ThreadPoolInterface &Pool, int In,
                      int Out) {
  // Writing to someone who left is an error like others.
  std::signal(SIGPIPE, SIG_IGN);
  std::atomic<bool> Gone{false};
  Session S(T, Pool, [&](StringRef Line) {
    if (!writeAll(Out, Line))
      Gone = true;
    return !Gone;
  });
  LineSplitter Lines(S);
  char Buffer[16384];
  while (!Gone) {
    ssize_t Count = ::read(In, Buffer, sizeof(Buffer));
    if (Count < 0 && errno == EINTR)
      continue;
    if (Count <= 0)
      break;
    Lines.take(StringRef(Buffer, Count));
  }
  Lines.end();
  // A search that finds nothing would not notice by itself that its client
  // left.
  while (!S.idle() && !Gone)
    if (hungUp(Out, std::chrono::milliseconds(50)))
      Gone = true;
  if (Gone)
    S.cancelAll();
  S.finish();
  return !Gone;
}

/// The socket's file, for the signal handler; LLVM's own removes regular files
/// only.
static sockaddr_un ServedSocket;

static void removeSocketAndDie(int Signal) {
  ::unlink(ServedSocket.sun_path);
  std::signal(Signal, SIG_DFL);
  std::raise(Signal);
}

static Error systemError(StringRef What, StringRef Path) {
  return createStringError(std::error_code(errno, std::generic_category()),
                           "cannot %s the socket %s: %s", What.str().c_str(),
                           Path.str().c_str(), std::strerror(errno));
}

Error serveSocket(const Trace &T, ThreadPoolInterface &Pool, StringRef Path) {
  sockaddr_un Address = {};
  Address.sun_family = AF_UNIX;
  if (Path.size() >= sizeof(Address.sun_path))
    return createStringError("a socket's path may have at most %zu characters",
                             sizeof(Address.sun_path) - 1);
  std::memcpy(Address.sun_path, Path.data(), Path.size());
  auto *Name = reinterpret_cast<sockaddr *>(&Address);

  int Listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (Listener < 0)
    return systemError("make", Path);
  struct stat Status;
  if (::lstat(Address.sun_path, &Status) == 0 && S_ISSOCK(Status.st_mode)) {
    int Probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool Stale = Probe >= 0 && ::connect(Probe, Name, sizeof(Address)) < 0 &&
                 errno == ECONNREFUSED;
    if (Probe >= 0)
      ::close(Probe);
    if (Stale)
      ::unlink(Address.sun_path);
  }
  mode_t Mask = ::umask(077);
  int Bound = ::bind(Listener, Name, sizeof(Address));
  ::umask(Mask);
  if (Bound < 0 || ::listen(Listener, 16) < 0) {
    Error E = systemError("listen at", Path);
    ::close(Listener);
    return E;
  }
  ServedSocket = Address;
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(Signal, removeSocketAndDie) == SIG_IGN)
      std::signal(Signal, SIG_IGN);
  while (true) {
    int Client = ::accept4(Listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (Client < 0) {
      if (errno == EINTR || errno == ECONNABORTED)
        continue;
      Error E = systemError("accept at", Path);
      ::close(Listener);
      ::unlink(Address.sun_path);
      return E;
    }
    std::thread([&T, &Pool, Client] {
      serveDescriptors(T, Pool, Client, Client);
      ::close(Client);
    }).detach();
  }
}

} // namespace chronicle
