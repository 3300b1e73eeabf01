// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// chronicle-dap: a debug adapter that goes back in time.

#include "lldb-plugin/dap/LldbDap.h"
#include "lldb-plugin/dap/Pump.h"
#include "query/base/Listener.h"
#include "query/base/PeerUser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <optional>
#include <sys/prctl.h>
#include <unistd.h>

using namespace llvm;
using namespace chronicle;

static constexpr const char Help[] =
    R"(chronicle-dap: debug a recorded run in an editor, forward and backward

Usage: chronicle-dap [--lldb-dap PATH] [--socket PATH | --port N]
                     [options of lldb-dap]

Speaks the Debug Adapter Protocol on standard input and output, or with clients
that connect to a socket. It starts lldb-dap 22 with Chronicle's plugin, passes on
what lldb-dap can do, and adds stepBack, reverseContinue, goto, restartFrame and
chronicle/* requests. A launch request names the recorded run:

  {"type": "chronicle", "request": "launch", "trace": "trace.db"}

Options:
  --lldb-dap PATH   the lldb-dap to run (default $CHRONICLE_LLDB_DAP, or lldb-dap-22)
  --socket PATH     listen on a Unix socket, which only you can connect to
  --port N          listen on port N of 127.0.0.1; 0 takes a free port and prints
                    it. Only programs of this user are served.
  --connection accept://PATH, --connection listen://HOST:PORT
                    the same, as lldb-dap spells it (HOST is localhost or 127.0.0.1)
  --help            print this help
  --version         print the version

Examples:
  chronicle-dap                       # as an editor starts it
  chronicle-dap --socket ~/dap        # for an editor that connects
  chronicle-dap --port 4711           # for one that knows ports only
  chronicle-dap --lldb-dap ~/llvm/bin/lldb-dap --no-lldbinit

Exit status: 0 if the client ended the session, 1 if something failed, 2 if an
option is wrong.
)";

static int fail(const Twine &Why) {
  errs() << "chronicle-dap: " << Why << '\n';
  return 1;
}

static int failUsage(const Twine &Why) {
  fail(Why + "; see chronicle-dap --help");
  return 2;
}

/// In the child that serves one client: dies with its parent.
static void followParent(pid_t Parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != Parent)
    _exit(1);
  signal(SIGCHLD, SIG_DFL);
}

namespace {
/// Where clients connect: a Unix socket if it has a path.
struct Address {
  std::string Path;
  unsigned Port = 0;
};
} // namespace

/// Serves every client that connects, each in its own process.
static int serve(const Address &Where, const dap::AdapterOptions &Options) {
  Expected<base::Listener> Listener =
      Where.Path.empty() ? base::Listener::tcp("127.0.0.1", Where.Port)
                         : base::Listener::local(Where.Path);
  if (!Listener)
    return fail(toString(Listener.takeError()));
  // Editors read the address from this line, which is worded as lldb-dap's.
  outs() << "Listening for: ";
  if (Where.Path.empty())
    outs() << "connection://[127.0.0.1]:" << Listener->port() << '\n';
  else
    outs() << "unix-connect://" << Where.Path << '\n';
  outs().flush();
  signal(SIGCHLD, SIG_IGN); // the kernel reaps the children
  while (true) {
    Expected<int> Client = Listener->accept();
    if (!Client)
      return fail(toString(Client.takeError()));
    // A debugger runs commands: only for the user that it belongs to.
    if (Error E = base::checkPeerUser(*Client)) {
      fail(toString(std::move(E)));
      close(*Client);
      continue;
    }
    pid_t Self = getpid();
    pid_t Pid = fork();
    if (Pid < 0)
      fail("cannot serve a connection: " + sys::StrError());
    if (Pid == 0) {
      followParent(Self);
      Listener->close();
      _exit(dap::runSession(*Client, *Client, Options));
    }
    close(*Client);
  }
}

/// Replaces this process with lldb-dap, for the modes of lldb-dap that do not
/// speak the protocol with a client.
static int becomeLldbDap(const dap::AdapterOptions &Options) {
  Expected<std::string> Program = dap::findLldbDap(Options.Program);
  if (!Program)
    return fail(toString(Program.takeError()));
  std::vector<const char *> Words = {Program->c_str()};
  for (const std::string &Word : Options.Arguments)
    Words.push_back(Word.c_str());
  Words.push_back(nullptr);
  execv(Words[0], const_cast<char *const *>(Words.data()));
  return fail("cannot start " + *Program + ": " + sys::StrError());
}

namespace {
struct CommandLine {
  dap::AdapterOptions Options;
  std::optional<Address> Listens;
  bool BecomesLldbDap = false;
  std::optional<int> ExitStatus; ///< set if there is nothing to run
};
} // namespace

static std::optional<Address> parsePort(StringRef Digits) {
  unsigned Number;
  if (Digits.getAsInteger(10, Number) || Number > 65535)
    return std::nullopt;
  return Address{"", Number};
}

/// What "accept://PATH" or "listen://HOST:PORT" says.
static std::optional<Address> parseConnection(StringRef Text) {
  if (Text.consume_front("accept://") && !Text.empty())
    return Address{Text.str()};
  if (!Text.consume_front("listen://"))
    return std::nullopt;
  auto [Host, Digits] = Text.rsplit(':');
  Host = Host.trim("[]");
  if (!Host.empty() && Host != "localhost" && Host != "127.0.0.1")
    return std::nullopt;
  return parsePort(Digits);
}

static CommandLine parse(ArrayRef<char *> Words) {
  CommandLine Result;
  auto Wrong = [&](const Twine &Why) {
    Result.ExitStatus = failUsage(Why);
    return Result;
  };
  while (!Words.empty()) {
    StringRef Word = Words.consume_front();
    auto [Name, Value] = Word.split('=');
    bool Ours = is_contained(
        {"--lldb-dap", "--socket", "--port", "--connection"}, Name);
    if (Ours && !Word.contains('=') && !Words.empty())
      Value = Words.consume_front();
    if (Word == "--help" || Word == "-h") {
      outs() << Help;
      Result.ExitStatus = 0;
      return Result;
    }
    if (Word == "--version") {
      outs() << "chronicle-dap " CHRONICLE_VERSION "\n";
      Result.ExitStatus = 0;
      return Result;
    }
    if (Name == "--lldb-dap") {
      if (Value.empty())
        return Wrong("--lldb-dap needs a path");
      Result.Options.Program = Value.str();
    } else if (Name == "--socket") {
      if (Value.empty())
        return Wrong("--socket needs a path");
      Result.Listens = Address{Value.str()};
    } else if (Name == "--port") {
      Result.Listens = parsePort(Value);
      if (!Result.Listens)
        return Wrong("invalid port '" + Value +
                     "': expected a number from 0 to 65535");
    } else if (Name == "--connection") {
      Result.Listens = parseConnection(Value);
      if (!Result.Listens)
        return Wrong("invalid connection '" + Value +
                     "': expected accept://PATH or listen://localhost:PORT");
    } else {
      Result.BecomesLldbDap |= Name == "--launch-target" || Name == "--client";
      Result.Options.Arguments.push_back(Word.str());
    }
  }
  return Result;
}

int main(int Count, char **Words) {
  CommandLine Line = parse(ArrayRef(Words, Count).drop_front(Count > 0));
  if (Line.ExitStatus)
    return *Line.ExitStatus;
  if (Line.BecomesLldbDap)
    return becomeLldbDap(Line.Options);
  signal(SIGPIPE, SIG_IGN); // writes report it as an error
  if (Line.Listens)
    return serve(*Line.Listens, Line.Options);
  return dap::runSession(STDIN_FILENO, STDOUT_FILENO, Line.Options);
}
