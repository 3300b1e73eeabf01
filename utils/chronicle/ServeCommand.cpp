// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle serve`: offers a trace as a remote process to gdb, or to LLDB
/// without the plugin.

#include "lldb-plugin/session/GdbSession.h"
#include "query/MomentText.h"
#include "query/base/Listener.h"
#include "query/base/PeerUser.h"
#include "query/symbols/Symbols.h"
#include "utils/chronicle/FileFlags.h"
#include "utils/chronicle/Subcommand.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command
    Serve({.Name = "serve",
           .Summary = "let gdb debug a trace, forward and backward",
           .Arguments = "[options] trace.db",
           .Details =
               "Waits for debuggers that speak the gdb remote protocol. Each "
               "gets its own process, which starts at\nthe end of the run and "
               "can go to any moment of it, but cannot be changed. Ctrl-C ends "
               "the server.",
           .Examples = "  chronicle serve --port 1234 trace.db\n"
                       "  gdb -ex 'target remote :1234' ./program\n"
                       "  chronicle serve --socket ~/run.socket trace.db\n"
                       "  gdb -ex 'target remote ~/run.socket' ./program\n",
           .Statuses = {{"0", "The debugger disconnected (--once)."},
                        {"2", "The file cannot be read, the port is not "
                              "available, or an option is wrong."}},
           .Run = run});
static cl::opt<std::string> Path(cl::Positional, cl::sub(Serve));
static ProcessFlag Process(Serve);
static NumberOption<unsigned>
    Port("port", cl::sub(Serve), cl::value_desc("N"),
         cl::desc("Listen on TCP port N; 0 (the default) takes a free one"));
static cl::opt<std::string>
    Socket("socket", cl::sub(Serve), cl::value_desc("PATH"),
           cl::desc("Listen on a Unix socket, which only you can connect to, "
                    "instead of a port"));
static cl::opt<std::string> Listen(
    "listen", cl::sub(Serve), cl::value_desc("ADDRESS"), cl::init("127.0.0.1"),
    cl::desc("Listen on ADDRESS (default 127.0.0.1, which serves only programs "
             "of this user); every client can read the whole trace"));
static cl::opt<std::string>
    At("at", cl::sub(Serve), cl::value_desc("MOMENT"), cl::init("end"),
       cl::desc("Start debuggers at MOMENT: start, end (the default), crash, "
                "1,234 or 99.8%"));
static FileFlags Files(Serve);
static cl::opt<bool> Once("once", cl::sub(Serve),
                          cl::desc("End when the first debugger disconnects"));

/// Serves one debugger and closes its socket.
static void serveOne(const query::Trace &T, int Socket, Timestamp Start) {
  int On = 1;
  setsockopt(Socket, IPPROTO_TCP, TCP_NODELAY, &On, sizeof(On));
  session::GdbSession Session(T, Socket);
  Error E = Session.start(Start);
  if (!E)
    E = Session.serve();
  if (E)
    fail(Serve, 2, std::move(E));
  close(Socket);
}

/// The command line of gdb, if there is something that it cannot learn by the
/// protocol: where debug files and sources are that are not where it looks by
/// itself. Unpacks sources.
static std::string gdbCommand(const query::Trace &T, StringRef Address) {
  const files::ModuleFinder &Finder = T.symbols().finder();
  std::vector<std::string> Directories = Finder.debugDirectories();
  std::string Text;
  if (Directories != std::vector<std::string>{"/usr/lib/debug"})
    Text += " -ex 'set debug-file-directory " + join(Directories, ":") + "'";
  const files::PackedTree *Packed = Finder.packed();
  if (Packed && Packed->has(pieces::PackedKind::Source)) {
    Expected<std::string> Root = Packed->root();
    Error E = Root ? Packed->extractAll(pieces::PackedKind::Source)
                   : Root.takeError();
    if (E)
      fail(Serve, 2, std::move(E));
    else
      Text += " -ex 'set substitute-path / " + *Root + "/'";
  }
  if (Text.empty())
    return "";
  return ("start gdb by: gdb" + Text + " -ex 'target remote " + Address + "'\n")
      .str();
}

static int run(ArrayRef<const char *>) {
  if (Path.empty())
    return failNoTrace(Serve);
  if (Port > 65535)
    return failUsage(Serve, "invalid port " + Twine(Port) +
                                ": expected a number from 0 to 65535");
  if (Socket.getNumOccurrences() && Socket.empty())
    return failUsage(Serve, "--socket needs a path");
  if (!Socket.empty() &&
      (Port.getNumOccurrences() || Listen.getNumOccurrences()))
    return failUsage(Serve, "--socket excludes --port and --listen");
  if (std::string Wrong = Files.wrong(); !Wrong.empty())
    return failUsage(Serve, Wrong);
  if (Error E = Process.choose(Path))
    return fail(Serve, 2, std::move(E));
  query::TraceOptions Options;
  Options.Files = Files.options();
  Expected<std::unique_ptr<query::Trace>> T =
      query::Trace::open(Path, std::move(Options));
  if (!T)
    return fail(Serve, 2, T.takeError());
  Expected<std::optional<Timestamp>> Start = query::parseMoment(**T, At);
  if (!Start)
    return failUsage(Serve, toString(Start.takeError()));
  if (!*Start)
    return failUsage(Serve, toString(query::invalidMoment(At)));
  Expected<base::Listener> Listener = Socket.empty()
                                          ? base::Listener::tcp(Listen, Port)
                                          : base::Listener::local(Socket);
  if (!Listener)
    return fail(Serve, 2, Listener.takeError());
  const std::string Address =
      Socket.empty() ? formatv("{0}:{1}", Listen, Listener->port()).str()
                     : Socket;
  outs() << "listening on " << Address << '\n' << gdbCommand(**T, Address);
  outs().flush();
  while (true) {
    Expected<int> Client = Listener->accept();
    if (!Client)
      return fail(Serve, 2, Client.takeError());
    if (Error E = base::checkPeerUser(*Client)) {
      fail(Serve, 2, std::move(E));
      close(*Client);
      continue;
    }
    if (Once) {
      serveOne(**T, *Client, **Start);
      return 0;
    }
    std::thread(serveOne, std::cref(**T), *Client, **Start).detach();
  }
}

} // namespace chronicle::cli
