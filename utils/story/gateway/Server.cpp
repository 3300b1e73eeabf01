// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Server.h"

Server::~Server() {
  while (!Sessions.empty())
    logout(std::string(Sessions.begin()->first));
}

Session *Server::find(const std::string &User) {
  auto It = Sessions.find(User);
  return It == Sessions.end() ? nullptr : It->second;
}

void Server::login(const std::string &User, int Socket) {
  if (find(User))
    return;
  auto *S = new Session{new Connection{Socket, 0}, User, Now, 0, 0};
  S->Timer = Timers.arm(Now + Patience, S);
  Sessions[User] = S;
  deliver(User + " is here");
}

void Server::resume(const std::string &User, int Socket) {
  Session *S = find(User);
  if (!S)
    return;
  delete S->Peer;
  S->Peer = new Connection{Socket, 0};
  S->LastHeard = Now;
  S->Timer = Timers.arm(Now + Patience, S);
}

void Server::say(const std::string &User, const std::string &Text) {
  Session *S = find(User);
  if (!S)
    return;
  S->LastHeard = Now;
  ++S->Messages;
  deliver(User + ": " + Text);
}

void Server::logout(const std::string &User) {
  Session *S = find(User);
  if (!S)
    return;
  Timers.cancel(S->Timer);
  Sessions.erase(User);
  delete S->Peer;
  delete S;
}

void Server::tick() {
  ++Now;
  for (Session *S : Timers.due(Now))
    remind(S);
}

void Server::remind(Session *S) {
  if (S->LastHeard + Patience <= Now)
    ++Reminders;
  S->Peer->Sent += 1;
  S->Timer = Timers.arm(Now + Patience, S);
}

void Server::deliver(const std::string &Line) {
  for (auto &[User, S] : Sessions)
    ++S->Peer->Sent;
  Archive.push_back(Line);
  if (Archive.size() > Lines)
    Archive.pop_front();
}
