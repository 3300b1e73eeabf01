// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The requests that move through time, and what waits for them.

#include "lldb-plugin/dap/DapSession.h"
#include "lldb-plugin/places/LldbPlaces.h"
#include "trace-format/Text.h"
#include "trace-format/UntrustedJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::dap {

//===-- Moves -------------------------------------------------------------===//

/// lldb-dap's frame ids hold LLDB's index of the thread in the upper bits and
/// of the frame in the lower bits.
static constexpr unsigned ThreadShift = 19;
static int64_t frameOf(int64_t Id) {
  return Id & ((int64_t(1) << ThreadShift) - 1);
}

std::vector<std::string> DapSession::selection(const json::Object &Arguments) {
  if (std::optional<int64_t> Id = Arguments.getInteger("frameId"))
    return {formatv("thread select {0}", *Id >> ThreadShift),
            formatv("frame select {0}", frameOf(*Id))};
  if (std::optional<int64_t> Thread = Arguments.getInteger("threadId"))
    return {formatv("thread select -t {0}", *Thread)};
  return {};
}

void DapSession::move(Request R, std::string Text, StringRef Cause,
                      Printed Then, Effect E, std::vector<Request> Along) {
  if (What == Debuggee::Live)
    return fail(R,
                "only a recorded run can go back in time: record the program "
                "with 'chronicle record' and debug the trace");
  // A question holds no events back, and causes no stop: a step of LLDB may be
  // under way already when it is answered.
  const bool Moves = E != Effect::None;
  Moving += Moves;
  Stepping = E == Effect::Stops;
  std::vector<std::string> Commands = selection(R.Arguments);
  Commands.push_back(std::move(Text));
  const int64_t Seq = R.Seq;
  Along.push_back(std::move(R));
  run(
      std::move(Commands),
      [this, Moves, Cause = Cause.str(), Along = std::move(Along),
       Then = std::move(Then)](Expected<std::string> Text) mutable {
        Moving -= Moves;
        const bool Failed = !Text;
        if (!Failed) {
          if (Moves)
            StopCause = Cause;
          Then(*Text);
        } else {
          std::string Why = toString(Text.takeError());
          for (const Request &Each : Along)
            fail(Each, Why);
        }
        releaseEvents();
        if (Failed && Moves && Stepping)
          stepEnded();
      },
      Seq);
}

//===-- Interrupts --------------------------------------------------------===//

bool DapSession::interruptCommands() {
  for (const auto &[Seq, Own] : Commanding)
    ask("cancel", json::Object{{"requestId", Own}}, [](json::Object &) {});
  return !Commanding.empty();
}

bool DapSession::cancel(const Request &R) {
  const int64_t Id = R.Arguments.getInteger("requestId").value_or(0);
  auto Running = Commanding.find(Id);
  if (Running != Commanding.end()) {
    ask("cancel", json::Object{{"requestId", Running->second}},
        [](json::Object &) {});
    respond(R);
    return true;
  }
  for (auto Each = Waiting.begin(); Each != Waiting.end(); ++Each) {
    std::optional<MessagePeek> P = MessagePeek::at(*Each);
    if (*P->Seq != Id)
      continue;
    fail({Id, P->Command.str(), {}}, "cancelled");
    Waiting.erase(Each);
    respond(R);
    return true;
  }
  return false;
}

//===-- Steps -------------------------------------------------------------===//

bool DapSession::wait(const MessagePeek &P, const Frame &F) {
  // These end or interrupt what is under way.
  if (!Stepping || Ending || is_contained({"pause", "cancel"}, P.Command))
    return false;
  Waiting.push_back(F.Body.str());
  return true;
}

void DapSession::stepEnded() {
  Stepping = false;
  while (!Stepping && !Waiting.empty()) {
    std::string Body = std::move(Waiting.front());
    Waiting.pop_front();
    std::string Whole;
    std::optional<MessagePeek> P = MessagePeek::at(Body);
    appendRenumbered(Whole, Body, P->SeqText, *P->Seq);
    fromClient({Whole, Body});
  }
}

std::vector<DapSession::Request> DapSession::sameSteps(const Request &R) {
  std::vector<Request> Result;
  for (; !Waiting.empty(); Waiting.pop_front()) {
    std::optional<MessagePeek> P = MessagePeek::at(Waiting.front());
    if (P->Command != R.Command)
      break;
    Expected<json::Value> Parsed = parseUntrustedJson(Waiting.front());
    if (!Parsed) {
      consumeError(Parsed.takeError()); // it is answered in its turn
      break;
    }
    const json::Object *Arguments =
        Parsed->getAsObject()->getObject("arguments");
    if (!Arguments || *Arguments != R.Arguments)
      break;
    Result.push_back({*P->Seq, R.Command, {}});
  }
  return Result;
}

/// A key that is held down sends steps faster than an editor can show them.
/// Those that wait become one command, with one stop.
void DapSession::stepBack(Request R) {
  StringRef Size = R.Arguments.getString("granularity").value_or("statement");
  std::string Text = Size == "instruction" ? "chronicle reverse-stepi"
                                           : "chronicle reverse-next";
  std::vector<Request> Same = sameSteps(R);
  if (!Same.empty())
    Text += formatv(" {0}", Same.size() + 1).str();
  std::vector<Request> All = Same;
  All.insert(All.begin(), {R.Seq, R.Command, {}});
  move(
      std::move(R), std::move(Text), "step",
      [this, All = std::move(All)](StringRef) {
        for (const Request &Each : All)
          respond(Each);
      },
      Effect::Stops, std::move(Same));
}

void DapSession::reverseContinue(Request R) {
  Request Asked{R.Seq, R.Command, {}};
  move(
      std::move(R), "chronicle reverse-continue", "step",
      [this, Asked](StringRef) {
        respond(Asked, json::Object{{"allThreadsContinued", true}});
      },
      Effect::MayStop);
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
  // The process does not run while a command looks for something.
  if (interruptCommands())
    return respond(R);
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
       [this, Asked](StringRef) { respond(Asked); });
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
         [this, Asked](StringRef) { respond(Asked); });
  });
}

} // namespace chronicle::dap
