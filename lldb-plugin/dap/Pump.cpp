// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/dap/Pump.h"
#include "lldb-plugin/dap/DapSession.h"
#include "lldb-plugin/dap/LldbDap.h"
#include "lldb-plugin/places/LldbPlaces.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::dap {
namespace {

/// Bytes per read. A pipe holds no more by default.
constexpr size_t ReadSize = 64 << 10;
/// Bytes that may wait for a side that does not read. Beyond that, the other
/// side is not read either, so that memory use stays bounded.
constexpr size_t MaxWaiting = 64 << 20;
/// How long lldb-dap may take to end by itself after its input has ended.
constexpr int EndSeconds = 5;

/// One side of the session: what arrives from it, and what waits to be sent.
struct Side {
  int In = -1, Out = -1;
  FrameReader Reader;
  std::string Waiting;
  size_t Written = 0;
  bool Ended = false;

  bool mayFill() const { return Waiting.size() - Written < MaxWaiting; }
  bool hasWaiting() const { return Out >= 0 && Written < Waiting.size(); }

  /// \return false if this side has ended.
  bool read() {
    ssize_t Count = ::read(In, Reader.room(ReadSize), ReadSize);
    if (Count > 0)
      Reader.added(Count);
    return Count > 0 || (Count < 0 && (errno == EINTR || errno == EAGAIN));
  }

  /// \return false if this side no longer accepts anything.
  bool write() {
    ssize_t Count =
        ::write(Out, Waiting.data() + Written, Waiting.size() - Written);
    if (Count < 0)
      return errno == EINTR || errno == EAGAIN;
    Written += Count;
    if (Written == Waiting.size()) {
      Waiting.clear();
      Written = 0;
    } else if (Written > MaxWaiting) {
      Waiting.erase(0, Written);
      Written = 0;
    }
    return true;
  }
};

/// A write to one side must never delay a read from the other.
void dontBlock(int Descriptor) {
  struct stat About;
  if (fstat(Descriptor, &About) ||
      (!S_ISFIFO(About.st_mode) && !S_ISSOCK(About.st_mode)))
    return;
  fcntl(Descriptor, F_SETFL, fcntl(Descriptor, F_GETFL) | O_NONBLOCK);
}

class Pump {
public:
  Pump(int FromClient, int ToClient) : Talk(Client.Waiting, Adapter.Waiting) {
    Client.In = FromClient;
    Client.Out = ToClient;
    dontBlock(FromClient);
    dontBlock(ToClient);
  }

  int run(const AdapterOptions &Options) {
    Expected<LldbDap> Started = start(Options);
    if (!Started) {
      Failed = true;
      std::string Why = toString(Started.takeError());
      errs() << "chronicle-dap: " << Why << '\n';
      Talk.refuseAll(std::move(Why));
      while (!Client.Ended)
        turn();
      return 1;
    }
    Lldb = &*Started;
    Adapter.In = Lldb->output();
    Adapter.Out = Lldb->input();
    dontBlock(Adapter.In);
    dontBlock(Adapter.Out);
    while (!Client.Ended && !Adapter.Ended)
      turn();
    if (Adapter.Ended)
      adapterEnded();
    else
      clientEnded();
    return Failed;
  }

private:
  static Expected<LldbDap> start(const AdapterOptions &Options) {
    Expected<std::string> Program = findLldbDap(Options.Program);
    if (!Program)
      return Program.takeError();
    Expected<std::string> Plugin = places::findLldbPlugin();
    if (!Plugin)
      return Plugin.takeError();
    std::vector<std::string> Arguments = {"--pre-init-command",
                                          places::pluginLoadLine(*Plugin)};
    Arguments.insert(Arguments.end(), Options.Arguments.begin(),
                     Options.Arguments.end());
    return LldbDap::start(*Program, Arguments);
  }

  /// Waits for something to do, and does it.
  void turn() {
    pollfd Polled[4];
    unsigned Count = 0;
    auto Want = [&](bool When, int Descriptor, short Events) {
      if (When)
        Polled[Count++] = {Descriptor, Events, 0};
      return When ? &Polled[Count - 1] : nullptr;
    };
    pollfd *ClientIn = Want(Adapter.mayFill(), Client.In, POLLIN);
    pollfd *AdapterIn =
        Want(Lldb && !Adapter.Ended && Client.mayFill(), Adapter.In, POLLIN);
    pollfd *ClientOut = Want(Client.hasWaiting(), Client.Out, POLLOUT);
    pollfd *AdapterOut = Want(Adapter.hasWaiting(), Adapter.Out, POLLOUT);
    if (poll(Polled, Count, -1) < 0)
      return;
    if (ClientOut && ClientOut->revents && !Client.write())
      Client.Ended = true;
    if (AdapterOut && AdapterOut->revents && !Adapter.write())
      Adapter.Out = -1; // the end of its output will end the session
    if (AdapterIn && AdapterIn->revents)
      take(Adapter, "lldb-dap", &DapSession::fromAdapter);
    if (ClientIn && ClientIn->revents)
      take(Client, "the client", &DapSession::fromClient);
  }

  void take(Side &From, StringRef Name,
            bool (DapSession::*Handle)(const Frame &)) {
    bool More = From.read();
    while (true) {
      Expected<std::optional<Frame>> Next = From.Reader.next();
      if (!Next)
        return malformed(From, Name, toString(Next.takeError()));
      if (!*Next)
        break;
      if (!(Talk.*Handle)(**Next))
        return malformed(From, Name,
                         "a message is not a JSON object in UTF-8 with a type");
    }
    if (!More)
      From.Ended = true;
  }

  void malformed(Side &From, StringRef Name, StringRef What) {
    Failed = true;
    std::string Why =
        (Name + " does not speak the Debug Adapter Protocol: " + What +
         "; the session ends")
            .str();
    errs() << "chronicle-dap: " << Why << '\n';
    Talk.breakOff(Why);
    From.Ended = true;
    flushClient();
    Said = true;
  }

  void adapterEnded() {
    int Status = Lldb->end(EndSeconds);
    const bool Clean = WIFEXITED(Status) && !WEXITSTATUS(Status);
    if (Talk.over() && !Clean) {
      // The client has all its answers; this only explains the exit status.
      errs() << "chronicle-dap: after the session ended, lldb-dap "
             << describeStatus(Status) << '\n';
    } else if (!Said && (!Talk.ending() || !Clean)) {
      Failed = true;
      std::string Why = "lldb-dap " + describeStatus(Status) +
                        "; the session is over, start it again";
      errs() << "chronicle-dap: " << Why << '\n';
      Talk.breakOff(Why);
    }
    flushClient();
  }

  void clientEnded() {
    // lldb-dap still gets the client's last messages, and may still answer.
    while (Adapter.hasWaiting() && !Adapter.Ended) {
      pollfd Polled[2] = {{Adapter.Out, POLLOUT, 0}, {Adapter.In, POLLIN, 0}};
      if (poll(Polled, 2, EndSeconds * 1000) <= 0)
        break;
      if (Polled[1].revents)
        take(Adapter, "lldb-dap", &DapSession::fromAdapter);
      if (Polled[0].revents && !Adapter.write())
        break;
    }
    Lldb->closeInput();
    Adapter.Out = -1;
    while (!Adapter.Ended) {
      pollfd Polled = {Adapter.In, POLLIN, 0};
      if (poll(&Polled, 1, EndSeconds * 1000) <= 0)
        break;
      take(Adapter, "lldb-dap", &DapSession::fromAdapter);
    }
    Lldb->end(EndSeconds);
    flushClient();
  }

  /// Sends the rest to the client, which may be gone or not reading.
  void flushClient() {
    while (Client.hasWaiting()) {
      pollfd Polled = {Client.Out, POLLOUT, 0};
      if (poll(&Polled, 1, EndSeconds * 1000) <= 0 || !Client.write())
        return;
    }
  }

  Side Client, Adapter;
  DapSession Talk;
  LldbDap *Lldb = nullptr;
  bool Failed = false, Said = false;
};

} // namespace

int runSession(int FromClient, int ToClient, const AdapterOptions &Options) {
  return Pump(FromClient, ToClient).run(Options);
}

} // namespace chronicle::dap
