// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The requests that chronicle-dap serves, or changes on their way.

#include "lldb-plugin/dap/DapSession.h"
#include "lldb-plugin/places/LldbPlaces.h"
#include "query/Trace.h"
#include "query/files/PackedTree.h"
#include "query/processes/RunDirectory.h"
#include "trace-format/Text.h"
#include "trace-format/UntrustedJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::dap {

static std::string textOf(const json::Value &V) {
  if (std::optional<StringRef> Text = V.getAsString())
    return Text->str();
  return formatv("{0}", V);
}

//===-- Start of the session ----------------------------------------------===//

void DapSession::initialize(Request R) {
  // This debug type only has traces. Others may debug live processes too.
  if (R.Arguments.getString("adapterID").value_or("") == "chronicle")
    What = Debuggee::Trace;
  json::Object Same = R.Arguments;
  const auto Seq = R.Seq;
  ask(
      "initialize", std::move(Same),
      [this, R = std::move(R)](json::Object &Response) mutable {
        Open.erase(R.Seq);
        if (json::Object *Capabilities = Response.getObject("body");
            Capabilities && Response.getBoolean("success").value_or(false))
          correct(*Capabilities, What);
        send(std::move(Response));
      },
      Seq);
}

/// Reads lldb-dap's `sourceMap`: [["recorded", "here"], …] or
/// {"recorded": "here", …}.
static std::vector<std::pair<std::string, std::string>>
sourceMapIn(const json::Object &Arguments) {
  std::vector<std::pair<std::string, std::string>> Result;
  if (const json::Object *Map = Arguments.getObject("sourceMap"))
    for (const auto &[Recorded, Here] : *Map)
      Result.emplace_back(Recorded.str(), textOf(Here));
  if (const json::Array *List = Arguments.getArray("sourceMap"))
    for (const json::Value &Each : *List)
      if (const json::Array *Pair = Each.getAsArray();
          Pair && Pair->size() == 2)
        Result.emplace_back(textOf((*Pair)[0]), textOf((*Pair)[1]));
  return Result;
}

/// LLDB shows the sources that a trace carries from where they are unpacked.
static void
addPackedSources(const query::Trace &T,
                 std::vector<std::pair<std::string, std::string>> &Map) {
  files::PackedTree Packed(T.reader());
  if (!Packed.has(pieces::PackedKind::Source))
    return;
  if (Expected<std::string> Root = Packed.root())
    Map.emplace_back("/", *Root + "/");
  else
    consumeError(Root.takeError()); // LLDB reports it
}

/// The options of `chronicle load` that say where files are.
static std::string fileOptions(const json::Object &Arguments) {
  std::string Text;
  if (const json::Value *Sysroot = Arguments.get("sysroot"))
    Text += " --sysroot " + places::quoteForLldb(textOf(*Sysroot));
  if (const json::Array *List = Arguments.getArray("debugDirectories"))
    for (const json::Value &Each : *List)
      Text += " --debug-directory " + places::quoteForLldb(textOf(Each));
  return Text;
}

/// Handles `launch` and `attach`. With a trace, the request becomes an `attach`
/// that loads it. Without one, it passes unchanged.
void DapSession::start(Request R) {
  json::Value *Trace = R.Arguments.get("trace");
  if (!Trace && What == Debuggee::Trace && !R.Arguments.get("attachCommands"))
    return fail(R, "no trace: set \"trace\" in the launch configuration to the "
                   "file that 'chronicle record' wrote");
  SourceMap = sourceMapIn(R.Arguments);
  json::Object Arguments = R.Arguments;
  std::string Command = R.Command;
  if (Trace) {
    SmallString<256> Path(textOf(*Trace));
    if (std::optional<StringRef> Directory = R.Arguments.getString("cwd"))
      sys::path::make_absolute(*Directory, Path);
    (void)sys::fs::make_absolute(Path);
    // Opens the trace to report an error now. lldb-dap loads it only after the
    // configuration is done, and does not report why loading failed.
    const json::Value *Process = R.Arguments.get("process");
    Expected<processes::ChosenTrace> Chosen =
        processes::chooseTrace(Path, Process ? textOf(*Process) : "");
    if (!Chosen)
      return fail(R, toString(Chosen.takeError()));
    Path = Chosen->Path;
    Expected<std::unique_ptr<chronicle::query::Trace>> Opened =
        chronicle::query::Trace::open(Path);
    if (!Opened)
      return fail(R, toString(Opened.takeError()));
    addPackedSources(**Opened, SourceMap);
    What = Debuggee::Trace;
    Starting = true;
    std::string Load = "!chronicle load " + places::quoteForLldb(Path);
    if (json::Value *At = R.Arguments.get("at"))
      Load += " --at " + places::quoteForLldb(textOf(*At));
    Load += fileOptions(R.Arguments);
    json::Array Commands{std::move(Load)};
    if (json::Array *More = R.Arguments.getArray("attachCommands"))
      for (json::Value &Word : *More)
        Commands.push_back(Word);
    for (StringRef Name : {"trace", "at", "process", "sysroot",
                           "debugDirectories", "program", "args", "env"})
      Arguments.erase(Name);
    Arguments["attachCommands"] = std::move(Commands);
    // By default a recorded run does not continue by itself.
    Arguments.try_emplace("stopOnEntry", true);
    Command = "attach";
  }
  int64_t Seq = R.Seq;
  ask(
      Command, std::move(Arguments),
      [this, R = std::move(R)](json::Object &Response) mutable {
        started(std::move(R), Response);
      },
      Seq);
}

void DapSession::started(Request R, json::Object &Response) {
  bool Success = Response.getBoolean("success").value_or(false);
  if (std::exchange(Starting, false) && !Success && !LoadError.empty())
    return fail(R, std::exchange(LoadError, ""));
  Open.erase(R.Seq);
  Response["command"] = R.Command;
  send(std::move(Response));
  if (!Success)
    return;
  // lldb-dap answers the first `threads` request with the threads that existed
  // at the start, whenever it arrives. This request takes that answer, so that
  // the client's first one gets the threads of its first stop.
  ask("threads", {}, [](json::Object &) {});
  if (R.Arguments.get("trace"))
    return;
  run({"chronicle now"}, [this](Expected<std::string> Printed) {
    Debuggee Found = Printed ? Debuggee::Trace : Debuggee::Live;
    if (!Printed)
      consumeError(Printed.takeError());
    if (Found == What)
      return;
    What = Found;
    event("capabilities", json::Object{{"capabilities", correctionFor(What)}});
  });
}

//===-- Moves -------------------------------------------------------------===//

/// lldb-dap's frame ids hold LLDB's index of the thread in the upper bits and
/// of the frame in the lower bits.
static constexpr unsigned ThreadShift = 19;
static int64_t frameOf(int64_t Id) {
  return Id & ((int64_t(1) << ThreadShift) - 1);
}

/// The commands that select the thread and frame of a request. lldb-dap itself
/// runs commands in the frame that was selected last.
static std::vector<std::string> selection(const json::Object &Arguments) {
  if (std::optional<int64_t> Id = Arguments.getInteger("frameId"))
    return {formatv("thread select {0}", *Id >> ThreadShift),
            formatv("frame select {0}", frameOf(*Id))};
  if (std::optional<int64_t> Thread = Arguments.getInteger("threadId"))
    return {formatv("thread select -t {0}", *Thread)};
  return {};
}

void DapSession::move(Request R, std::string Text, StringRef Cause,
                      Output Then) {
  if (What == Debuggee::Live)
    return fail(R,
                "only a recorded run can go back in time: record the program "
                "with 'chronicle record' and debug the trace");
  ++Moving;
  std::vector<std::string> Commands = selection(R.Arguments);
  Commands.push_back(std::move(Text));
  run(std::move(Commands),
      [this, R = std::move(R), Cause = Cause.str(),
       Then = std::move(Then)](Expected<std::string> Printed) mutable {
        --Moving;
        if (Printed) {
          StopCause = Cause;
          Then(std::move(Printed));
        } else {
          fail(R, toString(Printed.takeError()));
        }
        releaseEvents();
      });
}

void DapSession::stepBack(Request R) {
  StringRef Size = R.Arguments.getString("granularity").value_or("statement");
  Request Asked{R.Seq, R.Command, {}};
  move(std::move(R),
       Size == "instruction" ? "chronicle reverse-stepi"
                             : "chronicle reverse-next",
       "step", [this, Asked](Expected<std::string>) { respond(Asked); });
}

void DapSession::reverseContinue(Request R) {
  Request Asked{R.Seq, R.Command, {}};
  move(std::move(R), "chronicle reverse-continue", "step",
       [this, Asked](Expected<std::string>) {
         respond(Asked, json::Object{{"allThreadsContinued", true}});
       });
}

/// lldb-dap's own `pause` does nothing while LLDB is at a stop that it hides,
/// such as at a breakpoint whose condition is false.
void DapSession::pause(Request R) {
  if (What == Debuggee::Live) {
    json::Object Same = R.Arguments;
    int64_t Seq = R.Seq;
    ask(
        "pause", std::move(Same),
        [this, Seq](json::Object &Response) {
          Open.erase(Seq);
          send(std::move(Response));
        },
        Seq);
    return;
  }
  std::string Before = std::exchange(StopCause, "pause");
  run({"process interrupt"},
      [this, R = std::move(R), Before](Expected<std::string> Printed) {
        if (Printed)
          return respond(R);
        StopCause = Before;
        fail(R, toString(Printed.takeError()));
      });
}

//===-- Jumps -------------------------------------------------------------===//

/// The JSON object that a command printed.
static Expected<json::Object> objectIn(Expected<std::string> Printed) {
  if (!Printed)
    return Printed.takeError();
  Expected<json::Value> Parsed = parseUntrustedJson(*Printed);
  if (!Parsed)
    return Parsed.takeError();
  if (json::Object *O = Parsed->getAsObject())
    return std::move(*O);
  return createStringError("expected a JSON object from LLDB, got: " +
                           *Printed);
}

/// The targets are the last and the next execution of the line.
void DapSession::gotoTargets(Request R) {
  const json::Object *Source = R.Arguments.getObject("source");
  std::optional<StringRef> Path;
  if (Source)
    Path = Source->getString("path");
  std::optional<int64_t> Line = R.Arguments.getInteger("line");
  if (!Path || !Line)
    return fail(R, "gotoTargets needs a source file and a line");
  SmallString<256> Recorded(*Path);
  for (const auto &[There, Here] : SourceMap)
    if (sys::path::replace_path_prefix(Recorded, Here, There))
      break;
  std::string Place =
      places::quoteForLldb(formatv("{0}:{1}", Recorded, *Line).str());
  run({"chronicle last-exec --json --no-jump " + Place},
      [this, R = std::move(R), Place](Expected<std::string> Printed) mutable {
        json::Array List;
        std::string Why = addTarget(List, "last execution", std::move(Printed));
        run({"chronicle next-exec --json --no-jump " + Place},
            [this, R = std::move(R), List = std::move(List),
             Why = std::move(Why)](Expected<std::string> Printed) mutable {
              addTarget(List, "next execution", std::move(Printed));
              if (List.empty())
                return fail(R, Why);
              respond(R, json::Object{{"targets", std::move(List)}});
            });
      });
}

std::string DapSession::addTarget(json::Array &List, StringRef Label,
                                  Expected<std::string> Printed) {
  Expected<json::Object> Execution = objectIn(std::move(Printed));
  if (!Execution)
    return toString(Execution.takeError());
  std::optional<int64_t> Time = Execution->getInteger("time");
  if (!Time)
    return "the execution has no time";
  Targets.push_back(*Time);
  const json::Object *Symbol = Execution->getObject("symbol");
  List.push_back(json::Object{
      {"id", int64_t(Targets.size())},
      {"label", formatv("{0} (time {1})", Label, groupedDigits(*Time)).str()},
      {"line", Symbol ? Symbol->getInteger("line").value_or(0) : 0},
      {"instructionPointerReference",
       Execution->getString("pc").value_or("").str()}});
  return "";
}

void DapSession::goTo(Request R) {
  int64_t Id = R.Arguments.getInteger("targetId").value_or(0);
  if (Id < 1 || uint64_t(Id) > Targets.size())
    return fail(R, "unknown target: request gotoTargets first");
  Request Asked{R.Seq, R.Command, {}};
  // Selects no thread: the one that runs at that time becomes the current one.
  R.Arguments.clear();
  move(std::move(R), formatv("chronicle goto {0}", Targets[Id - 1]), "goto",
       [this, Asked](Expected<std::string>) { respond(Asked); });
}

/// Where a breakpoint on the function of one of LLDB's frames stopped when it
/// was called. History has one frame per call; LLDB also has one per function
/// inlined into it.
static std::optional<int64_t> startOf(const json::Object &Stack,
                                      int64_t Frame) {
  const json::Array *Frames = Stack.getArray("frames");
  if (!Frames)
    return std::nullopt;
  for (const json::Value &Each : *Frames) {
    const json::Object *Call = Each.getAsObject();
    if (!Call)
      break;
    const json::Object *Symbol = Call->getObject("symbol");
    const json::Array *Outer =
        Symbol ? Symbol->getArray("inlined-into") : nullptr;
    Frame -= 1 + (Outer ? Outer->size() : 0);
    if (Frame < 0)
      return Call->getInteger("start");
  }
  return std::nullopt;
}

void DapSession::restartFrame(Request R) {
  std::vector<std::string> Commands = selection(R.Arguments);
  int64_t Frame = frameOf(R.Arguments.getInteger("frameId").value_or(0));
  Commands.emplace_back("chronicle backtrace --json");
  run(std::move(Commands), [this, R = std::move(R),
                            Frame](Expected<std::string> Printed) mutable {
    Expected<json::Object> Stack = objectIn(std::move(Printed));
    if (!Stack)
      return fail(R, toString(Stack.takeError()));
    std::optional<int64_t> Start = startOf(*Stack, Frame);
    if (!Start)
      return fail(R, "the recording does not show when this frame was called");
    Request Asked{R.Seq, R.Command, {}};
    R.Arguments.clear();
    move(std::move(R), formatv("chronicle goto {0}", *Start), "goto",
         [this, Asked](Expected<std::string>) { respond(Asked); });
  });
}

//===-- Commands as requests ----------------------------------------------===//

/// What a command printed, as a JSON object. Anything that is not an object is
/// put into one.
static json::Value jsonOf(StringRef Printed) {
  if (Expected<json::Value> Parsed = parseUntrustedJson(Printed)) {
    if (Parsed->getAsObject())
      return std::move(*Parsed);
    return json::Object{{"result", std::move(*Parsed)}};
  } else {
    consumeError(Parsed.takeError());
  }
  return json::Object{{"output", Printed}};
}

/// The stop reason of a move by a Chronicle command.
static StringRef causeOf(StringRef Command) {
  return Command.starts_with("reverse") ? "step" : "goto";
}

/// Runs `chronicle last-write --json` for `chronicle/lastWrite`. The command's
/// words are arguments.arguments, followed by arguments.expression as one word.
void DapSession::custom(Request R) {
  StringRef Name = StringRef(R.Command).drop_front(strlen("chronicle/"));
  std::string Text = "chronicle ";
  for (char C : Name) {
    if (!isAlpha(C))
      return fail(R, "unknown request '" + R.Command + "'");
    if (isUpper(C))
      Text += '-';
    Text += toLower(C);
  }
  Text += " --json";
  if (json::Value *Given = R.Arguments.get("arguments")) {
    if (json::Array *Words = Given->getAsArray())
      for (const json::Value &Word : *Words)
        Text += " " + places::quoteForLldb(textOf(Word));
    else
      Text += " " + textOf(*Given);
  }
  if (json::Value *Expression = R.Arguments.get("expression"))
    Text += " " + places::quoteForLldb(textOf(*Expression));
  Request Asked{R.Seq, R.Command, {}};
  StringRef Cause = causeOf(Name);
  move(std::move(R), Text, Cause, [this, Asked](Expected<std::string> Printed) {
    respond(Asked, jsonOf(*Printed));
  });
}

/// Handles a command typed in the debug console. lldb-dap would evaluate it as
/// an expression, because it does not know commands that plugins add. It runs
/// in the frame that the editor shows.
bool DapSession::console(const Request &R) {
  StringRef Text =
      R.Arguments.getString("expression").value_or("").ltrim("` \t");
  if (R.Arguments.getString("context").value_or("") != "repl" ||
      !Text.starts_with("chronicle "))
    return false;
  StopCause = causeOf(Text.drop_front(strlen("chronicle ")).ltrim());
  json::Object Arguments = R.Arguments;
  Arguments["expression"] = ("`" + Text).str();
  std::string Request;
  appendFrame(Request, json::Object{{"type", "request"},
                                    {"seq", R.Seq},
                                    {"command", "evaluate"},
                                    {"arguments", std::move(Arguments)}});
  std::vector<std::string> Commands = selection(R.Arguments);
  if (Commands.empty()) {
    ToAdapter += Request;
    return true;
  }
  run(std::move(Commands),
      [this, Request = std::move(Request)](Expected<std::string> Printed) {
        if (!Printed) // the frame no longer exists; run the command anyway
          consumeError(Printed.takeError());
        ToAdapter += Request;
      });
  return true;
}

} // namespace chronicle::dap
