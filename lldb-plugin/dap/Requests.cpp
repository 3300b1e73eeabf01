// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The requests that chronicle-dap serves, or changes on their way.

#include "lldb-plugin/LldbPlaces.h"
#include "lldb-plugin/dap/Session.h"
#include "query/Trace.h"
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

//===-- The beginning -----------------------------------------------------===//

void Session::initialize(Request R) {
  // Chronicle's own debug type; another one may debug live processes too.
  if (R.Arguments.getString("adapterID").value_or("") == "chronicle")
    What = Debuggee::Trace;
  json::Object Same = R.Arguments;
  ask(
      "initialize", std::move(Same),
      [this, R = std::move(R)](json::Object &Response) mutable {
        Open.erase(R.Seq);
        if (json::Object *Capabilities = Response.getObject("body");
            Capabilities && Response.getBoolean("success").value_or(false))
          correct(*Capabilities, What);
        send(std::move(Response));
      },
      R.Seq);
}

/// `launch` or `attach`. With a trace it becomes an attach that loads it;
/// without one it goes on as it came.
void Session::start(Request R) {
  json::Value *Trace = R.Arguments.get("trace");
  if (!Trace && What == Debuggee::Trace && !R.Arguments.get("attachCommands"))
    return fail(R, "which trace? set \"trace\" in the launch configuration to "
                   "the file that 'chronicle record' wrote");
  json::Object Arguments = R.Arguments;
  std::string Command = R.Command;
  if (Trace) {
    SmallString<256> Path(textOf(*Trace));
    if (std::optional<StringRef> Directory = R.Arguments.getString("cwd"))
      sys::path::make_absolute(*Directory, Path);
    sys::fs::make_absolute(Path);
    // Now, because lldb-dap loads it only once everything is configured, and
    // does not say why it could not.
    if (Expected<std::unique_ptr<chronicle::Trace>> Opened =
            chronicle::Trace::open(Path);
        !Opened)
      return fail(R, toString(Opened.takeError()));
    What = Debuggee::Trace;
    Starting = true;
    std::string Load = "!chronicle load " + quoteForLldb(Path);
    if (json::Value *At = R.Arguments.get("at"))
      Load += " --at " + quoteForLldb(textOf(*At));
    json::Array Commands{std::move(Load)};
    if (json::Array *More = R.Arguments.getArray("attachCommands"))
      for (json::Value &Word : *More)
        Commands.push_back(Word);
    for (StringRef Name : {"trace", "at", "program", "args", "env"})
      Arguments.erase(Name);
    Arguments["attachCommands"] = std::move(Commands);
    // A run that is over has no reason to go on by itself.
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

void Session::started(Request R, json::Object &Response) {
  bool Success = Response.getBoolean("success").value_or(false);
  if (std::exchange(Starting, false) && !Success && !LoadError.empty())
    return fail(R, std::exchange(LoadError, ""));
  Open.erase(R.Seq);
  Response["command"] = R.Command;
  send(std::move(Response));
  if (!Success || R.Arguments.get("trace"))
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

/// The commands that select what a request is about: lldb-dap itself runs
/// commands in whatever was selected last. Its frame ids are LLDB's number of
/// the thread and, in the lower bits, of the frame.
static std::vector<std::string> selection(const json::Object &Arguments) {
  constexpr unsigned ThreadShift = 19;
  if (std::optional<int64_t> Frame = Arguments.getInteger("frameId"))
    return {formatv("thread select {0}", *Frame >> ThreadShift),
            formatv("frame select {0}",
                    *Frame & ((int64_t(1) << ThreadShift) - 1))};
  if (std::optional<int64_t> Thread = Arguments.getInteger("threadId"))
    return {formatv("thread select -t {0}", *Thread)};
  return {};
}

void Session::move(Request R, std::string Text, StringRef Reason, Output Then) {
  if (What == Debuggee::Live)
    return fail(R, "only a recorded run goes back in time: record it by "
                   "'chronicle record' and debug the trace");
  ++Moving;
  std::vector<std::string> Commands = selection(R.Arguments);
  Commands.push_back(std::move(Text));
  run(std::move(Commands),
      [this, R = std::move(R), Reason = Reason.str(),
       Then = std::move(Then)](Expected<std::string> Printed) mutable {
        --Moving;
        if (Printed) {
          StopReason = Reason;
          Then(std::move(Printed));
        } else {
          fail(R, toString(Printed.takeError()));
        }
        releaseEvents();
      });
}

void Session::stepBack(Request R) {
  StringRef Size = R.Arguments.getString("granularity").value_or("statement");
  Request Asked{R.Seq, R.Command, {}};
  move(std::move(R),
       Size == "instruction" ? "chronicle reverse-stepi"
                             : "chronicle reverse-next",
       "step", [this, Asked](Expected<std::string>) { respond(Asked); });
}

void Session::reverseContinue(Request R) {
  Request Asked{R.Seq, R.Command, {}};
  move(std::move(R), "chronicle reverse-continue", "step",
       [this, Asked](Expected<std::string>) {
         respond(Asked, json::Object{{"allThreadsContinued", true}});
       });
}

void Session::gotoTargets(Request R) { fail(R, "not yet"); }
void Session::goTo(Request R) { fail(R, "not yet"); }
void Session::restartFrame(Request R) { fail(R, "not yet"); }

//===-- Commands as requests ----------------------------------------------===//

/// What a command printed as JSON: an object as it is, anything else in one.
static json::Value jsonOf(StringRef Printed) {
  if (Expected<json::Value> Parsed = json::parse(Printed)) {
    if (Parsed->getAsObject())
      return std::move(*Parsed);
    return json::Object{{"result", std::move(*Parsed)}};
  } else {
    consumeError(Parsed.takeError());
  }
  return json::Object{{"output", Printed}};
}

/// `chronicle/lastWrite` is `chronicle last-write --json`. Its words are
/// arguments.arguments, and arguments.expression as one word at the end.
void Session::custom(Request R) {
  StringRef Name = StringRef(R.Command).drop_front(strlen("chronicle/"));
  std::string Text = "chronicle ";
  for (char C : Name) {
    if (!isAlpha(C))
      return fail(R, "'" + R.Command + "' is no command of Chronicle");
    if (isUpper(C))
      Text += '-';
    Text += toLower(C);
  }
  Text += " --json";
  if (json::Value *Given = R.Arguments.get("arguments")) {
    if (json::Array *Words = Given->getAsArray())
      for (const json::Value &Word : *Words)
        Text += " " + quoteForLldb(textOf(Word));
    else
      Text += " " + textOf(*Given);
  }
  if (json::Value *Expression = R.Arguments.get("expression"))
    Text += " " + quoteForLldb(textOf(*Expression));
  Request Asked{R.Seq, R.Command, {}};
  move(std::move(R), Text, "goto",
       [this, Asked](Expected<std::string> Printed) {
         respond(Asked, jsonOf(*Printed));
       });
}

/// A command typed in the debug console. lldb-dap would take it for an
/// expression, because it does not know groups of commands that plugins add;
/// and it is about the frame the editor shows.
bool Session::console(const Request &R) {
  StringRef Text =
      R.Arguments.getString("expression").value_or("").ltrim("` \t");
  if (R.Arguments.getString("context").value_or("") != "repl" ||
      !Text.starts_with("chronicle "))
    return false;
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
        if (!Printed) // that frame is gone; the command does without
          consumeError(Printed.takeError());
        ToAdapter += Request;
      });
  return true;
}

} // namespace chronicle::dap
