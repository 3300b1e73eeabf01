// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/dap/Session.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::dap {

static json::Object parseObject(StringRef Body) {
  Expected<json::Value> Parsed = json::parse(Body);
  if (!Parsed) {
    consumeError(Parsed.takeError());
    return {};
  }
  if (json::Object *O = Parsed->getAsObject())
    return std::move(*O);
  return {};
}

//===-- From the client ---------------------------------------------------===//

bool Session::fromClient(const Frame &F) {
  std::optional<Peek> P = Peek::at(F.Body);
  if (!P)
    return false;
  if (P->Type == "response" && P->RequestSeq) {
    // An answer to lldb-dap, which knows its request by another number.
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
  if (!serve(*P, F))
    ToAdapter += F.Whole;
  return true;
}

bool Session::serve(const Peek &P, const Frame &F) {
  using Handler = void (Session::*)(Request);
  static const std::pair<StringLiteral, Handler> Handlers[] = {
      {"initialize", &Session::initialize},
      {"launch", &Session::start},
      {"attach", &Session::start},
      {"stepBack", &Session::stepBack},
      {"reverseContinue", &Session::reverseContinue},
      {"gotoTargets", &Session::gotoTargets},
      {"goto", &Session::goTo},
      {"restartFrame", &Session::restartFrame},
      {"pause", &Session::pause},
  };
  Handler Found =
      P.Command.starts_with("chronicle/") ? &Session::custom : nullptr;
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

bool Session::fromAdapter(const Frame &F) {
  std::optional<Peek> P = Peek::at(F.Body);
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
    // Everything that follows a held event follows it to the client.
    bool Moves = P->Event == "stopped" || P->Event == "continued";
    if (Moving && (Moves || !Held.empty()))
      Held.push_back(F.Body.str());
    else
      handleEvent(F, *P);
    return true;
  }
  forward(F, *P);
  return true;
}

void Session::handleEvent(const Frame &F, const Peek &P) {
  if (P.Event == "output" && Starting)
    noteLoadError(parseObject(F.Body));
  if (P.Event != "stopped" && P.Event != "capabilities")
    return forward(F, P);
  json::Object Message = parseObject(F.Body);
  json::Object *Body = Message.getObject("body");
  if (!Body)
    return forward(F, P);
  if (P.Event == "stopped")
    stopped(*Body);
  else if (json::Object *Capabilities = Body->getObject("capabilities"))
    correct(*Capabilities, What);
  send(std::move(Message));
}

void Session::noteLoadError(const json::Object &Message) {
  const json::Object *Body = Message.getObject("body");
  StringRef Text = Body ? Body->getString("output").value_or("") : "";
  if (Text.consume_front("error: "))
    LoadError = Text.rtrim();
}

/// The reasons the protocol has, for the stops that only a recorded run has.
/// LLDB knows breakpoints, watchpoints and signals; for everything else it says
/// what it would say of a step.
void Session::stopped(json::Object &Body) {
  std::string Expected = std::exchange(StopReason, "");
  if (What == Debuggee::Live)
    return;
  StringRef Reason = Body.getString("reason").value_or("");
  StringRef Text = Body.getString("description").value_or("");
  if (Reason == "entry") {
    if (Text.starts_with("signal ")) // opened at its crash
      Body["reason"] = "exception";
    return;
  }
  if (Reason == "exception" && Expected == "pause")
    Body["reason"] = "pause";
  if (Reason.ends_with("breakpoint") || Reason == "exception")
    return;
  // LLDB calls both ends of history the same; backward it is the start.
  if (Text.starts_with("the start of the run") ||
      (Text == "history boundary" && !Expected.empty())) {
    Body["reason"] = "entry";
    Body["description"] = "the start of the run";
  } else if (Text.starts_with("the end of the run") ||
             Text == "history boundary") {
    Body["reason"] = "pause";
    Body["description"] = "the end of the run";
  } else if (!Expected.empty()) {
    Body["reason"] = Expected;
  } else if (Reason == "history boundary") {
    // A command of the debug console went there.
    Body["reason"] = Text.contains("step") ? "step" : "goto";
  }
}

void Session::releaseEvents() {
  if (Moving)
    return;
  for (const std::string &Body : std::exchange(Held, {}))
    if (std::optional<Peek> P = Peek::at(Body)) {
      std::string Whole;
      appendRenumbered(Whole, Body, P->SeqText, *P->Seq);
      handleEvent({Whole, Body}, *P);
    }
}

//===-- To the client -----------------------------------------------------===//

void Session::send(json::Object Message) {
  Message["seq"] = ++LastSeq;
  appendFrame(ToClient, std::move(Message));
}

void Session::forward(const Frame &F, const Peek &P) {
  ++LastSeq;
  if (P.Type == "request" && P.Seq)
    Reverse[LastSeq] = *P.Seq;
  if (!P.Seq || *P.Seq == LastSeq)
    ToClient += F.Whole;
  else
    appendRenumbered(ToClient, F.Body, P.SeqText, LastSeq);
}

void Session::respond(const Request &R, json::Value Body) {
  Open.erase(R.Seq);
  json::Object Message{{"type", "response"},
                       {"request_seq", R.Seq},
                       {"command", R.Command},
                       {"success", true}};
  if (Body != json::Value(nullptr))
    Message["body"] = std::move(Body);
  send(std::move(Message));
}

void Session::fail(const Request &R, const Twine &Why) {
  Open.erase(R.Seq);
  std::string Text = Why.str();
  json::Object Shown{{"id", 1}, {"format", Text}, {"showUser", true}};
  send(json::Object{{"type", "response"},
                    {"request_seq", R.Seq},
                    {"command", R.Command},
                    {"success", false},
                    {"message", Text},
                    {"body", json::Object{{"error", std::move(Shown)}}}});
}

void Session::event(StringRef Name, json::Object Body) {
  send(json::Object{
      {"type", "event"}, {"event", Name}, {"body", std::move(Body)}});
}

void Session::breakOff(StringRef Why) {
  for (const auto &[Seq, Command] : std::exchange(Open, {}))
    fail({Seq, Command, {}}, Why);
  event("output",
        json::Object{{"category", "stderr"}, {"output", (Why + "\n").str()}});
  event("terminated", {});
}

//===-- To lldb-dap -------------------------------------------------------===//

void Session::ask(StringRef Command, json::Object Arguments, Answer Then,
                  std::optional<int64_t> Seq) {
  if (!Seq)
    Seq = ++LastOwnSeq;
  Awaited[*Seq] = std::move(Then);
  appendFrame(ToAdapter, json::Object{{"type", "request"},
                                      {"seq", *Seq},
                                      {"command", Command},
                                      {"arguments", std::move(Arguments)}});
}

/// What an evaluated command printed, or its error.
static Expected<std::string> printedBy(json::Object &Response) {
  json::Object *Body = Response.getObject("body");
  if (Response.getBoolean("success").value_or(false)) {
    // lldb-dap counts a failed command as a success that printed this.
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

void Session::run(std::vector<std::string> Commands, Output Then) {
  assert(!Commands.empty());
  // A backtick makes lldb-dap take it for a command, whatever its mode.
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
