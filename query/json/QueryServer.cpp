// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/json/QueryServer.h"
#include "query/base/Listener.h"
#include "query/base/WriteAll.h"
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::jsonapi {

/// A request is a question, not data; what is longer than this is a mistake.
static constexpr size_t MaxLine = 1 << 20;

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

bool serveDescriptors(const query::Trace &T, ThreadPoolInterface &Pool, int In,
                      int Out) {
  // Writing to someone who left is an error like others.
  std::signal(SIGPIPE, SIG_IGN);
  std::atomic<bool> Gone{false};
  Session S(T, Pool, [&](StringRef Line) {
    if (!base::writeAll(Out, Line))
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

/// The socket's file, for the signal handler. LLVM's own handler removes only
/// regular files.
static std::string ServedPath;

static void removeSocketAndDie(int Signal) {
  ::unlink(ServedPath.c_str());
  std::signal(Signal, SIG_DFL);
  std::raise(Signal);
}

Error serveSocket(const query::Trace &T, ThreadPoolInterface &Pool,
                  StringRef Path) {
  Expected<base::Listener> Listener = base::Listener::local(Path);
  if (!Listener)
    return Listener.takeError();
  ServedPath = Path.str();
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(Signal, removeSocketAndDie) == SIG_IGN)
      std::signal(Signal, SIG_IGN);
  while (true) {
    Expected<int> Client = Listener->accept();
    if (!Client) {
      ::unlink(ServedPath.c_str());
      return Client.takeError();
    }
    std::thread([&T, &Pool, Client = *Client] {
      serveDescriptors(T, Pool, Client, Client);
      ::close(Client);
    }).detach();
  }
}

} // namespace chronicle::jsonapi
