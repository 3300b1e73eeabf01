// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/dap/DapSession.h"
#include "query/answers/RunEnd.h"
#include "trace-format/Text.h"
#include "trace-format/UntrustedJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::dap {

static json::Object parseObject(StringRef Body) {
  Expected<json::Value> Parsed = parseUntrustedJson(Body);
  if (!Parsed) {
    consumeError(Parsed.takeError());
    return {};
  }
  if (json::Object *O = Parsed->getAsObject())
    return std::move(*O);
  return {};
}

//===-- From the client ---------------------------------------------------===//

bool DapSession::fromClient(const Frame &F) {
  std::optional<MessagePeek> P = MessagePeek::at(F.Body);
  if (!P)
    return false;
  if (P->Type == "response" && P->RequestSeq) {
    // A response to lldb-dap, which numbered its request differently.
    auto Known = Reverse.find(*P->RequestSeq);
    if (Known == Reverse.end()) {
      ToAdapter += F.Whole;
      return true;
    }
    appendRenumbered(ToAdapter, F.Body, P->RequestSeqText, Known->second);
    Reverse.erase(Known);
    return true;
  }
  if (P->Type != "request" || !P->Seq) {
    ToAdapter += F.Whole;
    return true;
  }
  Open[*P->Seq] = P->Command.str();
  if (!Refusal.empty()) {
    fail({*P->Seq, P->Command.str(), {}}, Refusal);
    return true;
  }
  if (P->Command == "disconnect" || P->Command == "terminate")
    Ending = true;
  // LLDB moves the process now, so an earlier command did not cause the stop.
  if (is_contained({"continue", "next", "stepIn", "stepOut"}, P->Command))
    StopCause.clear();
  if (!serve(*P, F))
    ToAdapter += F.Whole;
  return true;
}

bool DapSession::serve(const MessagePeek &P, const Frame &F) {
  using Handler = void (DapSession::*)(Request);
  static const std::pair<StringLiteral, Handler> Handlers[] = {
      {"initialize", &DapSession::initialize},
      {"launch", &DapSession::start},
      {"attach", &DapSession::start},
      {"stepBack", &DapSession::stepBack},
      {"reverseContinue", &DapSession::reverseContinue},
      {"gotoTargets", &DapSession::gotoTargets},
      {"goto", &DapSession::goTo},
      {"restartFrame", &DapSession::restartFrame},
      {"pause", &DapSession::pause},
  };
  Handler Found =
      P.Command.starts_with("chronicle/") ? &DapSession::custom : nullptr;
  for (const auto &[Name, Handler] : Handlers)
    if (P.Command == Name)
      Found = Handler;
  bool Console = P.Command == "evaluate" && F.Body.contains("chronicle ");
  if (!Found && !Console)
    return false;
  json::Object Message = parseObject(F.Body);
  Request R{*P.Seq, P.Command.str(), {}};
  if (json::Object *Arguments = Message.getObject("arguments"))
    R.Arguments = std::move(*Arguments);
  if (Console)
    return console(R);
  (this->*Found)(std::move(R));
  return true;
}

//===-- From lldb-dap -----------------------------------------------------===//

bool DapSession::fromAdapter(const Frame &F) {
  std::optional<MessagePeek> P = MessagePeek::at(F.Body);
  if (!P)
    return false;
  if (P->Type == "response" && P->RequestSeq) {
    auto Waiting = Awaited.find(*P->RequestSeq);
    if (Waiting != Awaited.end()) {
      Answer Then = std::move(Waiting->second);
      Awaited.erase(Waiting);
      json::Object Response = parseObject(F.Body);
      Then(Response);
      return true;
    }
    Open.erase(*P->RequestSeq);
  }
  if (P->Type == "event") {
    // Events that follow a held event must wait as well.
    bool Moves = P->Event == "stopped" || P->Event == "continued";
    if (Locating || (Moving && (Moves || !Held.empty())))
      Held.push_back(F.Body.str());
    else
      handleEvent(F, *P);
    return true;
  }
  forward(F, *P);
  return true;
}

void DapSession::handleEvent(const Frame &F, const MessagePeek &P) {
  if (P.Event == "output" && Starting)
    noteLoadError(parseObject(F.Body));
  if (P.Event != "stopped" && P.Event != "capabilities")
    return forward(F, P);
  json::Object Message = parseObject(F.Body);
  json::Object *Body = Message.getObject("body");
  if (!Body)
    return forward(F, P);
  if (P.Event == "stopped")
    return stopped(std::move(Message));
  if (json::Object *Capabilities = Body->getObject("capabilities"))
    correct(*Capabilities, What);
  send(std::move(Message));
}

void DapSession::noteLoadError(const json::Object &Message) {
  const json::Object *Body = Message.getObject("body");
  StringRef Text = Body ? Body->getString("output").value_or("") : "";
  if (Text.consume_front("error: "))
    LoadError = Text.rtrim();
}

/// lldb-dap's reason for a stop at either end of a recording, and for every
/// stop that Chronicle's plugin moved the process to.
static constexpr StringLiteral HistoryBoundary = "history boundary";

/// Turns lldb-dap's reasons into those of the protocol. LLDB knows about
/// breakpoints, watchpoints and signals. At a boundary of history it does not
/// say which one it is, nor at the first stop whether the program crashed
/// there: the position decides, which the plugin is asked for.
void DapSession::stopped(json::Object Message) {
  std::string Cause = std::exchange(StopCause, "");
  json::Object &Body = *Message.getObject("body");
  std::string Reason = Body.getString("reason").value_or("").str();
  if (What == Debuggee::Live)
    return send(std::move(Message));
  if (Reason == "entry" || (Reason == HistoryBoundary && Cause != "goto"))
    return sendLocated(std::move(Message), std::move(Cause));
  bool Known = StringRef(Reason).ends_with("breakpoint") ||
               (Reason == "exception" && Cause != "pause");
  if (!Known && !Cause.empty())
    Body["reason"] = Cause;
  send(std::move(Message));
}

/// Sets the reason of a stop by its position.
/// \param Info what `chronicle info --json` or `chronicle now --json` printed.
static void setReason(json::Object &Body, StringRef Cause,
                      const json::Object &Info) {
  const json::Object *Now = Info.getObject("now");
  if (!Now)
    Now = &Info;
  std::optional<int64_t> Time = Now->getInteger("time");
  bool AtEnd = Time && Time == Now->getInteger("instructions");
  if (Body.getString("reason") == "entry") {
    if (AtEnd && answers::RunEnd::of(Info.getObject("end")).signal())
      Body["reason"] = "exception";
  } else if (Time == 0) {
    Body["reason"] = "entry";
    Body["description"] = "the start of the run";
  } else if (AtEnd) {
    Body["reason"] = "pause";
    Body["description"] = "the end of the run";
  } else {
    Body["reason"] = Cause.empty() ? "goto" : Cause;
  }
}

void DapSession::sendLocated(json::Object Stop, std::string Cause) {
  Locating = true;
  bool First = Stop.getObject("body")->getString("reason") == "entry";
  run({First ? "chronicle info --json" : "chronicle now --json"},
      [this, Stop = std::move(Stop),
       Cause = std::move(Cause)](Expected<std::string> Printed) mutable {
        Locating = false;
        // Without an answer this is a live process, or one that has gone on.
        if (Printed)
          setReason(*Stop.getObject("body"), Cause, parseObject(*Printed));
        else
          consumeError(Printed.takeError());
        send(std::move(Stop));
        releaseEvents();
      });
}

void DapSession::releaseEvents() {
  while (!Moving && !Locating && !Held.empty()) {
    std::string Body = std::move(Held.front());
    Held.pop_front();
    std::optional<MessagePeek> P = MessagePeek::at(Body);
    if (!P)
      continue;
    std::string Whole;
    appendRenumbered(Whole, Body, P->SeqText, *P->Seq);
    handleEvent({Whole, Body}, *P);
  }
}

//===-- To the client -----------------------------------------------------===//

void DapSession::send(json::Object Message) {
  Message["seq"] = ++LastSeq;
  appendFrame(ToClient, std::move(Message));
}

void DapSession::forward(const Frame &F, const MessagePeek &P) {
  ++LastSeq;
  if (P.Type == "request" && P.Seq)
    Reverse[LastSeq] = *P.Seq;
  if (!P.Seq || *P.Seq == LastSeq)
    ToClient += F.Whole;
  else
    appendRenumbered(ToClient, F.Body, P.SeqText, LastSeq);
}

void DapSession::respond(const Request &R, json::Value Body) {
  Open.erase(R.Seq);
  json::Object Message{{"type", "response"},
                       {"request_seq", R.Seq},
                       {"command", R.Command},
                       {"success", true}};
  if (Body != json::Value(nullptr))
    Message["body"] = std::move(Body);
  send(std::move(Message));
}

void DapSession::fail(const Request &R, const Twine &Why) {
  Open.erase(R.Seq);
  std::string Text = shownText(Why.str());
  json::Object Shown{{"id", 1}, {"format", Text}, {"showUser", true}};
  send(json::Object{{"type", "response"},
                    {"request_seq", R.Seq},
                    {"command", R.Command},
                    {"success", false},
                    {"message", Text},
                    {"body", json::Object{{"error", std::move(Shown)}}}});
}

void DapSession::event(StringRef Name, json::Object Body) {
  send(json::Object{
      {"type", "event"}, {"event", Name}, {"body", std::move(Body)}});
}

void DapSession::breakOff(StringRef Why) {
  for (const auto &[Seq, Command] : std::exchange(Open, {}))
    fail({Seq, Command, {}}, Why);
  event("output", json::Object{{"category", "stderr"},
                               {"output", shownText(Why) + "\n"}});
  event("terminated", {});
}

//===-- To lldb-dap -------------------------------------------------------===//

void DapSession::ask(StringRef Command, json::Object Arguments, Answer Then,
                     std::optional<int64_t> Seq) {
  if (!Seq)
    Seq = ++LastOwnSeq;
  Awaited[*Seq] = std::move(Then);
  appendFrame(ToAdapter, json::Object{{"type", "request"},
                                      {"seq", *Seq},
                                      {"command", Command},
                                      {"arguments", std::move(Arguments)}});
}

/// What the command of an `evaluate` response printed, or its error.
static Expected<std::string> printedBy(json::Object &Response) {
  json::Object *Body = Response.getObject("body");
  if (Response.getBoolean("success").value_or(false)) {
    // lldb-dap reports a failed command as a success, and LLDB starts what it
    // prints with this.
    StringRef Printed = Body ? Body->getString("result").value_or("") : "";
    StringRef Why = Printed;
    if (!Why.consume_front("error: "))
      return Printed.str();
    return createStringError(Why.rtrim());
  }
  StringRef Why =
      Response.getString("message").value_or("lldb-dap gave no reason");
  if (json::Object *Shown = Body ? Body->getObject("error") : nullptr)
    Why = Shown->getString("format").value_or(Why);
  return createStringError(Why);
}

void DapSession::run(std::vector<std::string> Commands, Output Then) {
  assert(!Commands.empty());
  // The backtick marks a command in every mode of lldb-dap's console.
  json::Object Arguments{{"expression", "`" + Commands.front()},
                         {"context", "repl"}};
  Commands.erase(Commands.begin());
  ask("evaluate", std::move(Arguments),
      [this, Rest = std::move(Commands),
       Then = std::move(Then)](json::Object &Response) mutable {
        Expected<std::string> Printed = printedBy(Response);
        if (!Printed || Rest.empty())
          Then(std::move(Printed));
        else
          run(std::move(Rest), std::move(Then));
      });
}

} // namespace chronicle::dap
