// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// chronicle-dap: a debug adapter that goes back in time.

#include "lldb-plugin/dap/LldbDap.h"
#include "lldb-plugin/dap/Pump.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/raw_ostream.h"
#include <arpa/inet.h>
#include <csignal>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace chronicle;

static constexpr const char Help[] =
    R"(chronicle-dap: debugs a recorded run in an editor, forward and backward

Usage: chronicle-dap [--lldb-dap PATH] [--port N] [options of lldb-dap]

Speaks the Debug Adapter Protocol on standard input and output, or to whoever
connects to a port. It starts lldb-dap 22 with Chronicle's plugin, passes on what
lldb-dap can do, and adds stepBack, reverseContinue, goto, restartFrame and
chronicle/* requests. A launch request names the recorded run:

  {"type": "chronicle", "request": "launch", "trace": "trace.db"}

  --lldb-dap PATH   the lldb-dap to use; else $CHRONICLE_LLDB_DAP, else lldb-dap-22
  --port N          listen on 127.0.0.1; 0 takes a free port and prints it
  --connection listen://HOST:PORT
                    the same, as lldb-dap has it (HOST: localhost or 127.0.0.1)
  --help, --version

Examples:
  chronicle-dap                       # as an editor starts it
  chronicle-dap --port 4711           # for an editor that connects
  chronicle-dap --lldb-dap ~/llvm/bin/lldb-dap --no-lldbinit

Exit status: 0 when the client ended the session, 1 when something failed, 2 for
a wrong option.
)";

static int failUsage(const Twine &Why) {
  errs() << "chronicle-dap: " << Why << "; see chronicle-dap --help\n";
  return 2;
}

/// Serves everybody who connects, each in a process of its own.
static int listenOn(unsigned Port, const dap::AdapterOptions &Options) {
  auto Fail = [](StringRef What) {
    errs() << "chronicle-dap: " << What << ": " << sys::StrError() << '\n';
    return 1;
  };
  int Listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (Listener < 0)
    return Fail("cannot make a socket");
  int Yes = 1;
  setsockopt(Listener, SOL_SOCKET, SO_REUSEADDR, &Yes, sizeof(Yes));
  sockaddr_in Address = {};
  Address.sin_family = AF_INET;
  Address.sin_port = htons(Port);
  Address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t Size = sizeof(Address);
  if (bind(Listener, reinterpret_cast<sockaddr *>(&Address), Size) ||
      listen(Listener, 8) ||
      getsockname(Listener, reinterpret_cast<sockaddr *>(&Address), &Size))
    return Fail("cannot listen on 127.0.0.1:" + std::to_string(Port));
  // lldb-dap's words: editors read the port from them.
  outs() << "Listening for: connection://[127.0.0.1]:"
         << ntohs(Address.sin_port) << '\n';
  outs().flush();
  signal(SIGCHLD, SIG_IGN); // so that nobody need be reaped
  while (true) {
    int Client = accept4(Listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (Client < 0) {
      if (errno == EINTR || errno == ECONNABORTED)
        continue;
      return Fail("cannot take a connection");
    }
    pid_t Self = getpid();
    pid_t Pid = fork();
    if (Pid < 0)
      errs() << "chronicle-dap: cannot serve a connection: " << sys::StrError()
             << '\n';
    if (Pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != Self)
        _exit(1);
      signal(SIGCHLD, SIG_DFL);
      close(Listener);
      _exit(dap::runSession(Client, Client, Options));
    }
    close(Client);
  }
}

/// lldb-dap itself, where it is not to speak the protocol with a client.
static int becomeLldbDap(const dap::AdapterOptions &Options) {
  Expected<std::string> Program = dap::findLldbDap(Options.Program);
  if (!Program) {
    errs() << "chronicle-dap: " << toString(Program.takeError()) << '\n';
    return 1;
  }
  std::vector<const char *> Words = {Program->c_str()};
  for (const std::string &Word : Options.Arguments)
    Words.push_back(Word.c_str());
  Words.push_back(nullptr);
  execv(Words[0], const_cast<char *const *>(Words.data()));
  errs() << "chronicle-dap: cannot start " << *Program << ": "
         << sys::StrError() << '\n';
  return 1;
}

int main(int Count, char **Words) {
  dap::AdapterOptions Options;
  std::optional<unsigned> Port;
  bool Launcher = false;
  for (int I = 1; I < Count; ++I) {
    StringRef Word = Words[I];
    auto [Name, Value] = Word.split('=');
    // --name VALUE or --name=VALUE
    auto Takes = [&](StringRef Wanted) {
      if (Name != Wanted)
        return false;
      if (Word.contains('='))
        return true;
      Value = I + 1 < Count ? Words[++I] : "";
      return true;
    };
    if (Word == "--help" || Word == "-h") {
      outs() << Help;
      return 0;
    }
    if (Word == "--version") {
      outs() << "chronicle-dap " CHRONICLE_VERSION "\n";
      return 0;
    }
    if (Takes("--lldb-dap")) {
      if (Value.empty())
        return failUsage("--lldb-dap wants a path");
      Options.Program = Value.str();
    } else if (Takes("--port")) {
      unsigned Number;
      if (Value.getAsInteger(10, Number) || Number > 65535)
        return failUsage("--port wants a number up to 65535");
      Port = Number;
    } else if (Takes("--connection")) {
      StringRef Place = Value;
      unsigned Number;
      bool Listens = Place.consume_front("listen://");
      auto [Host, Digits] = Place.rsplit(':');
      Host = Host.trim("[]");
      if (!Listens || Digits.getAsInteger(10, Number) || Number > 65535 ||
          !(Host.empty() || Host == "localhost" || Host == "127.0.0.1"))
        return failUsage("--connection wants listen://localhost:PORT");
      Port = Number;
    } else {
      Launcher |= Name == "--launch-target" || Name == "--client";
      Options.Arguments.push_back(Word.str());
    }
  }
  if (Launcher)
    return becomeLldbDap(Options);
  signal(SIGPIPE, SIG_IGN); // a write says it too
  if (Port)
    return listenOn(*Port, Options);
  return dap::runSession(STDIN_FILENO, STDOUT_FILENO, Options);
}
