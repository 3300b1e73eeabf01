// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/server/QueryServer.h"
#include "query/base/Listener.h"
#include "query/base/QueuedWriter.h"
#include "query/base/WriteAll.h"
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::server {

/// A request is a question, not data; what is longer than this is a mistake.
static constexpr size_t MaxLine = 1 << 20;
/// While a client has more requests under way than this, no more are read.
static constexpr unsigned MostUnderWay = 1000;
/// Bytes of answers that may wait for a client of the socket. One that does not
/// read is disconnected.
static constexpr size_t MostWaiting = 64 << 20;

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

/// Answers requests. Write returns false if the client has gone.
static bool serve(const query::Trace &T, ThreadPoolInterface &Pool, int In,
                  int Out, function_ref<bool(StringRef)> Write) {
  // Writing to someone who left is an error like others.
  std::signal(SIGPIPE, SIG_IGN);
  std::atomic<bool> Gone{false};
  Session S(T, Pool, [&](StringRef Line) {
    if (!Write(Line))
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
    while (S.underWay() > MostUnderWay && !Gone)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
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

bool serveDescriptors(const query::Trace &T, ThreadPoolInterface &Pool, int In,
                      int Out) {
  return serve(T, Pool, In, Out,
               [&](StringRef Line) { return base::writeAll(Out, Line); });
}

/// Answers that wait for a client do not keep other clients waiting.
static void serveClient(const query::Trace &T, ThreadPoolInterface &Pool,
                        int Client) {
  base::QueuedWriter Answers(Client, MostWaiting);
  serve(T, Pool, Client, Client,
        [&](StringRef Line) { return Answers.write(Line); });
}

Error serveSocket(const query::Trace &T, ThreadPoolInterface &Pool,
                  StringRef Path) {
  Expected<base::Listener> Listener = base::Listener::local(Path);
  if (!Listener)
    return Listener.takeError();
  while (true) {
    Expected<int> Client = Listener->accept();
    if (!Client) {
      ::unlink(Path.str().c_str());
      return Client.takeError();
    }
    std::thread([&T, &Pool, Client = *Client] {
      serveClient(T, Pool, Client);
      ::close(Client);
    }).detach();
  }
}

} // namespace chronicle::server
