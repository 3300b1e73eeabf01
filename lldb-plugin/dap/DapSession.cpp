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

/// The requests by which a client steps forward, which pass to lldb-dap.
static bool isStep(StringRef Command) {
  return is_contained({"next", "stepIn", "stepOut"}, Command);
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
  // lldb-dap ends itself on such a number, which old clients use.
  if (*P->Seq < 1) {
    Renumbered[++LastOwnSeq] = *P->Seq;
    std::string Whole;
    appendRenumbered(Whole, F.Body, P->SeqText, LastOwnSeq);
    return fromClient({Whole, StringRef(Whole).split("\r\n\r\n").second});
  }
  Open[*P->Seq] = P->Command.str();
  if (!Refusal.empty()) {
    fail({*P->Seq, P->Command.str(), {}}, Refusal);
    return true;
  }
  if (P->Command == "disconnect" || P->Command == "terminate") {
    Ending = true;
    for (const std::string &Body : std::exchange(Waiting, {})) {
      std::optional<MessagePeek> Late = MessagePeek::at(Body);
      fail({*Late->Seq, Late->Command.str(), {}}, "the session ends");
    }
    interruptCommands();
  }
  if (wait(*P, F))
    return true;
  // LLDB moves the process now, so an earlier command did not cause the stop.
  const bool Steps = isStep(P->Command);
  if (Steps || P->Command == "continue")
    StopCause.clear();
  if (Steps && What == Debuggee::Trace)
    Stepping = true;
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
  // Of a live process these pass as they are.
  if (What == Debuggee::Trace && P.Command == "stackTrace")
    Found = &DapSession::stackTrace;
  if (What == Debuggee::Trace && P.Command == "restart") {
    refuseRestart({*P.Seq, P.Command.str(), {}});
    return true;
  }
  bool Console = P.Command == "evaluate" && F.Body.contains("chronicle ");
  const bool Cancel = P.Command == "cancel";
  if (!Found && !Console && !Cancel)
    return false;
  json::Object Message = parseObject(F.Body);
  Request R{*P.Seq, P.Command.str(), {}};
  if (json::Object *Arguments = Message.getObject("arguments"))
    R.Arguments = std::move(*Arguments);
  if (Console)
    return console(R);
  if (Cancel)
    return cancel(R);
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
    auto Known = Open.find(*P->RequestSeq);
    const bool Step = Stepping && Known != Open.end() && isStep(Known->second);
    if (Known != Open.end())
      Open.erase(Known);
    forward(F, *P);
    if (Step && !parseObject(F.Body).getBoolean("success").value_or(false))
      stepEnded();
    return true;
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
    return loadOutput(parseObject(F.Body));
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

/// What loading a trace prints. Editors show "important" output as a
/// notification: a session without sources should say why where it is seen.
void DapSession::loadOutput(json::Object Message) {
  if (json::Object *Body = Message.getObject("body")) {
    StringRef Text = Body->getString("output").value_or("");
    if (Text.consume_front("error: "))
      LoadError = Text.rtrim();
    else if (Text.starts_with("warning: "))
      (*Body)["category"] = "important";
  }
  send(std::move(Message));
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
  if (Reason == "entry" || Reason == HistoryBoundary)
    return sendLocated(std::move(Message), std::move(Cause));
  bool Known = StringRef(Reason).ends_with("breakpoint") ||
               (Reason == "exception" && Cause != "pause");
  if (!Known && !Cause.empty())
    Body["reason"] = Cause;
  sendStop(std::move(Message));
}

/// Tells the client about a stop. What waited for it may go on.
void DapSession::sendStop(json::Object Stop) {
  const bool All =
      Stop.getObject("body")->getBoolean("allThreadsStopped").value_or(false);
  send(std::move(Stop));
  if (All)
    stepEnded();
}

/// Sets the reason of a stop by its position.
/// \param Now what `chronicle now --json` printed.
static void setReason(json::Object &Body, StringRef Cause,
                      const json::Object &Now,
                      std::optional<int64_t> CrashTime) {
  std::optional<int64_t> Time = Now.getInteger("time");
  bool AtEnd = Time && Time == Now.getInteger("instructions");
  if (Time && Time == CrashTime) {
    Body["reason"] = "exception";
  } else if (Body.getString("reason") == "entry") {
    return;
  } else if (Cause == "goto") {
    Body["reason"] = Cause;
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
  // Only `info` says how the run ended.
  const bool First = Stop.getObject("body")->getString("reason") == "entry";
  run({First ? "chronicle info --json" : "chronicle now --json"},
      [this, First, Stop = std::move(Stop),
       Cause = std::move(Cause)](Expected<std::string> Printed) mutable {
        Locating = false;
        json::Object Answer;
        // Without an answer this is a live process, or one that has gone on.
        if (Printed)
          Answer = parseObject(*Printed);
        else
          consumeError(Printed.takeError());
        const json::Object *Now = First ? Answer.getObject("now") : &Answer;
        if (First && Now &&
            answers::RunEnd::of(Answer.getObject("end")).signal())
          CrashTime = Now->getInteger("instructions");
        if (Now && !Now->empty())
          setReason(*Stop.getObject("body"), Cause, *Now, CrashTime);
        sendStop(std::move(Stop));
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
  if (std::optional<int64_t> To = Message.getInteger("request_seq"))
    if (auto Known = Renumbered.find(*To); Known != Renumbered.end()) {
      Message["request_seq"] = Known->second;
      Renumbered.erase(Known);
    }
  appendFrame(ToClient, std::move(Message));
}

void DapSession::forward(const Frame &F, const MessagePeek &P) {
  if (P.RequestSeq && Renumbered.count(*P.RequestSeq))
    return send(parseObject(F.Body));
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

void DapSession::run(std::vector<std::string> Commands, Output Then,
                     std::optional<int64_t> For) {
  assert(!Commands.empty());
  // The backtick marks a command in every mode of lldb-dap's console.
  json::Object Arguments{{"expression", "`" + Commands.front()},
                         {"context", "repl"}};
  Commands.erase(Commands.begin());
  ask("evaluate", std::move(Arguments),
      [this, For, Rest = std::move(Commands),
       Then = std::move(Then)](json::Object &Response) mutable {
        if (For)
          Commanding.erase(*For);
        Expected<std::string> Printed = printedBy(Response);
        if (!Printed || Rest.empty())
          Then(std::move(Printed));
        else
          run(std::move(Rest), std::move(Then), For);
      });
  if (For)
    Commanding[*For] = LastOwnSeq;
}

} // namespace chronicle::dap
