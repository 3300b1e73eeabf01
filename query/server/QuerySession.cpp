// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/server/QuerySession.h"
#include "query/base/UnknownName.h"
#include "query/json/JsonAnswers.h"
#include "query/json/JsonCommands.h"
#include "trace-format/Text.h"
#include "trace-format/UntrustedJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;

namespace chronicle::server {

using namespace jsonapi;

static std::string textOf(const json::Value &V) {
  std::string Text;
  raw_string_ostream(Text) << V;
  return Text;
}

struct Session::Job {
  json::Object Request;
  json::Value Id = nullptr;
  std::string Key; ///< Id as text; empty: none
  const JsonCommand *Command = nullptr;
  answers::Cancellation Cancel;
};

/// The results of a search that have not been sent yet.
class Session::Partials {
public:
  Partials(Session &S, const json::Value &Id) : S(S), Id(Id) {
    std::lock_guard<std::mutex> Guard(S.PartialsLock);
    S.Open.push_back(this);
    S.PartialsChanged.notify_one();
  }
  /// Nothing is sent by the watcher after this.
  void close() {
    {
      std::lock_guard<std::mutex> Guard(S.PartialsLock);
      llvm::erase(S.Open, this);
    }
    send();
  }
  void add(json::Value V) {
    std::lock_guard<std::mutex> Guard(Lock);
    Waiting.push_back(std::move(V));
    if (Waiting.size() >= 500)
      sendLocked();
  }
  void send() {
    std::lock_guard<std::mutex> Guard(Lock);
    sendLocked();
  }

private:
  void sendLocked() {
    if (Waiting.empty())
      return;
    S.answer(Id, json::Object{{"partial", std::move(Waiting)}});
    Waiting = json::Array();
  }

  Session &S;
  const json::Value &Id;
  std::mutex Lock;
  json::Array Waiting;
};

Session::Session(const query::Trace &T, ThreadPoolInterface &Pool, Output Out)
    : T(T), Group(Pool), Out(std::move(Out)),
      Watcher([this] { watchPartials(); }) {}

Session::~Session() {
  finish();
  {
    std::lock_guard<std::mutex> Guard(PartialsLock);
    Ending = true;
    PartialsChanged.notify_one();
  }
  Watcher.join();
}

void Session::watchPartials() {
  std::unique_lock<std::mutex> Guard(PartialsLock);
  while (!Ending) {
    if (Open.empty()) {
      PartialsChanged.wait(Guard);
      continue;
    }
    PartialsChanged.wait_for(Guard, std::chrono::milliseconds(50));
    for (Partials *P : Open)
      P->send();
  }
}

void Session::answer(json::Value Id, json::Object Body) {
  json::Object Line{{"id", std::move(Id)}};
  for (auto &[Key, Value] : Body)
    Line[Key] = std::move(Value);
  std::string Text = textOf(std::move(Line)) + "\n";
  bool Lost = false;
  {
    std::lock_guard<std::mutex> Guard(OutputLock);
    if (!Gone)
      Gone = Lost = !Out(Text);
  }
  if (Lost)
    cancelAll();
}

void Session::answerError(json::Value Id, StringRef Code, StringRef Message) {
  Errors = true;
  answer(
      std::move(Id),
      json::Object{{"error", json::Object{{"code", Code.str()},
                                          {"message", shownText(Message)}}}});
}

void Session::answerError(json::Value Id, Error E) {
  std::string Code = "failed", Message;
  handleAllErrors(
      std::move(E),
      [&](const questions::QueryError &Q) {
        Code = Q.Code;
        Message += (Message.empty() ? "" : "; ") + Q.Message;
      },
      [&](const ErrorInfoBase &Other) {
        Message += (Message.empty() ? "" : "; ") + Other.message();
      });
  answerError(std::move(Id), Code, Message);
}

void Session::refuse(StringRef Code, const Twine &Message) {
  answerError(nullptr, Code, Message.str());
}

static std::string unknownCommand(StringRef Name) {
  std::vector<StringRef> Names;
  for (const JsonCommand &C : jsonCommands())
    Names.push_back(C.Name);
  return base::unknownName("command", Name, Names,
                           "the commands are " + join(Names, ", "));
}

void Session::request(StringRef Line) {
  Expected<json::Value> Parsed = parseUntrustedJson(Line);
  if (!Parsed) {
    answerError(nullptr, "malformed",
                "the request is not valid JSON: " +
                    toString(Parsed.takeError()));
    return;
  }
  json::Object *Request = Parsed->getAsObject();
  if (!Request) {
    answerError(nullptr, "malformed",
                "a request is a JSON object, like {\"cmd\":\"info\"}");
    return;
  }
  json::Value Id = nullptr;
  if (const json::Value *Given = Request->get("id"))
    Id = *Given;
  bool Named =
      Id.kind() == json::Value::String || Id.kind() == json::Value::Number;
  if (!Named && Id.kind() != json::Value::Null) {
    answerError(nullptr, "bad-argument", "'id' must be a string or a number");
    return;
  }
  const json::Value *Name = Request->get("cmd");
  if (!Name) {
    answerError(Id, "missing-argument",
                "missing argument 'cmd': expected the name of a command");
    return;
  }
  if (!Name->getAsString()) {
    answerError(Id, "bad-argument", "'cmd' must be a string");
    return;
  }
  if (*Name->getAsString() == "cancel") {
    cancel(*Request, Id);
    return;
  }
  auto J = std::make_shared<Job>();
  J->Command = findJsonCommand(*Name->getAsString());
  if (!J->Command) {
    answerError(Id, "unknown-command", unknownCommand(*Name->getAsString()));
    return;
  }
  J->Id = Id;
  J->Request = std::move(*Request);
  {
    std::lock_guard<std::mutex> Guard(JobsLock);
    erase_if(Anonymous, [](auto &Weak) { return Weak.expired(); });
    if (Named) {
      J->Key = textOf(Id);
      if (!Jobs.try_emplace(J->Key, J).second)
        J->Command = nullptr;
    } else {
      Anonymous.push_back(J);
    }
  }
  if (!J->Command) {
    answerError(Id, "duplicate-id",
                "a request with this id is still in progress");
    return;
  }
  ++UnderWay;
  Group.async([this, J] {
    run(*J);
    --UnderWay;
  });
}

void Session::run(Job &J) {
  Partials Found(*this, J.Id);
  JsonArguments Arguments(J.Request, T);
  auto Emit = [&](json::Value V) {
    Found.add(std::move(V));
    return !J.Cancel.Cancelled;
  };
  JsonQuery Query{T, Arguments, J.Cancel, Emit};
  Expected<json::Value> Result = J.Cancel.Cancelled
                                     ? Expected<json::Value>(nullptr)
                                     : J.Command->Run(Query);
  Found.close();
  // From here on the id may be used again.
  if (!J.Key.empty()) {
    std::lock_guard<std::mutex> Guard(JobsLock);
    Jobs.erase(J.Key);
  }
  if (J.Cancel.Cancelled) {
    consumeError(Result.takeError()); // the search may have ended by it
    answerError(J.Id, "cancelled", "the request was cancelled");
    return;
  }
  if (!Result) {
    answerError(J.Id, Result.takeError());
    return;
  }
  json::Object Body{{"done", true}};
  if (J.Command->Searches) {
    for (auto &[Key, Value] : *Result->getAsObject())
      Body[Key] = std::move(Value);
  } else {
    Body["result"] = std::move(*Result);
  }
  // What is not found may have come after the end.
  if (StringRef Why = T.reader().truncated(); !Why.empty())
    Body["truncated"] = jsonText(Why);
  answer(J.Id, std::move(Body));
}

void Session::cancel(const json::Object &Request, json::Value Id) {
  const json::Value *Target = Request.get("target");
  if (!Target) {
    answerError(std::move(Id), "missing-argument",
                "missing argument 'target': expected the id of a request");
    return;
  }
  bool Found = false;
  {
    std::lock_guard<std::mutex> Guard(JobsLock);
    auto Job = Jobs.find(textOf(*Target));
    if (Job != Jobs.end()) {
      Job->second->Cancel.Cancelled = true;
      Found = true;
    }
  }
  answer(std::move(Id),
         json::Object{{"done", true},
                      {"result", json::Object{{"cancelled", Found}}}});
}

void Session::finish() { Group.wait(); }

void Session::cancelAll() {
  std::lock_guard<std::mutex> Guard(JobsLock);
  for (auto &Entry : Jobs)
    Entry.second->Cancel.Cancelled = true;
  for (std::weak_ptr<Job> &Weak : Anonymous)
    if (std::shared_ptr<Job> J = Weak.lock())
      J->Cancel.Cancelled = true;
}

} // namespace chronicle::server
