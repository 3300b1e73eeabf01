// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The requests that chronicle-dap serves, or changes on their way.

#include "lldb-plugin/dap/DapSession.h"
#include "lldb-plugin/places/LldbPlaces.h"
#include "query/Trace.h"
#include "query/files/PackedTree.h"
#include "query/processes/RunDirectory.h"
#include "query/questions/CallQuestions.h"
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
  if (Arguments.getBoolean("anyBuild").value_or(false))
    Text += " --any-build";
  return Text;
}

/// The moment that `at` means. LLDB does not know "main-end": the last
/// instruction of main, where the user's code is still on the stack. If main
/// did not return, that is the end of the run, as for a crash.
static std::string momentOf(const query::Trace &T, const json::Value *At) {
  std::string Text = At ? textOf(*At) : "end";
  if (Text != "main-end")
    return Text;
  questions::SearchOptions Last;
  Last.When = {0, T.instructions()};
  Last.Limit = 1;
  Last.Backward = true;
  std::optional<questions::CallEnd> Left;
  Expected<questions::SearchEnd> Searched =
      questions::searchCalls(T, "main", Last,
                             [&](const questions::CallAnswer &Call) {
                               Left = Call.End;
                               return false;
                             },
                             {});
  if (!Searched)
    consumeError(Searched.takeError()); // there is no function main
  if (!Left || Left->How != questions::CallEnd::Kind::Return || !Left->Time)
    return "end";
  return formatv("{0}", *Left->Time - 1);
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
    Load += " --at " +
            places::quoteForLldb(momentOf(**Opened, R.Arguments.get("at")));
    Load += fileOptions(R.Arguments);
    json::Array Commands{std::move(Load)};
    if (json::Array *More = R.Arguments.getArray("attachCommands"))
      for (json::Value &Word : *More)
        Commands.push_back(Word);
    for (StringRef Name :
         {"trace", "at", "process", "sysroot", "debugDirectories", "anyBuild",
          "program", "args", "env"})
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

//===-- Requests that are changed -----------------------------------------===//

/// The debug information of system libraries names files that are seldom there.
/// An editor shows an error page for such a file, so the frame gets none: the
/// editor goes to the first frame that has a source.
static void dropMissingSources(json::Object &Response) {
  json::Object *Body = Response.getObject("body");
  json::Array *Frames = Body ? Body->getArray("stackFrames") : nullptr;
  if (!Frames)
    return;
  for (json::Value &Each : *Frames) {
    json::Object *Frame = Each.getAsObject();
    const json::Object *Source = Frame ? Frame->getObject("source") : nullptr;
    if (!Source || Source->getInteger("sourceReference").value_or(0))
      continue;
    StringRef Path = Source->getString("path").value_or("");
    if (sys::path::is_absolute(Path) && sys::fs::exists(Path))
      continue;
    Frame->erase("source");
    (*Frame)["line"] = 0;
    (*Frame)["column"] = 0;
    (*Frame)["presentationHint"] = "subtle";
  }
}

void DapSession::stackTrace(Request R) {
  const int64_t Seq = R.Seq;
  ask(
      "stackTrace", std::move(R.Arguments),
      [this, Seq](json::Object &Response) {
        Open.erase(Seq);
        dropMissingSources(Response);
        send(std::move(Response));
      },
      Seq);
}

/// lldb-dap has no command line to start again, and ends itself.
void DapSession::refuseRestart(const Request &R) {
  fail(R, "a recorded run cannot be restarted: go to its start by 'chronicle "
          "goto start', or record it again");
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

DapSession::Effect DapSession::effectOf(StringRef Name, StringRef Text) {
  if (Name == "reverseContinue")
    return Effect::MayStop;
  const bool Jumps = Name == "goto" || Name.starts_with("reverse") ||
                     Name.starts_with("last") || Name.starts_with("next");
  const bool Stays = Text.contains("--no-jump") || Text.contains("--help");
  return Jumps && !Stays ? Effect::Stops : Effect::None;
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
  const Effect Does = effectOf(Name, Text);
  move(
      std::move(R), Text, Cause,
      [this, Asked](StringRef Text) { respond(Asked, jsonOf(Text)); }, Does);
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
