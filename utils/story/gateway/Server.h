// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef GATEWAY_SERVER_H
#define GATEWAY_SERVER_H

#include "Timers.h"
#include <deque>
#include <string>
#include <unordered_map>

/// One network connection. A user who loses it comes back with another.
struct Connection {
  int Socket;
  unsigned Sent;
};

/// What the server keeps of a user from login to logout.
struct Session {
  Connection *Peer;
  std::string User;
  unsigned LastHeard;
  unsigned Messages;
  unsigned Timer; // looks after the user from time to time
};

/// A chat server: users log in, say things, lose their connection, come back
/// and log out. It keeps the last lines that were said, and reminds silent
/// users.
class Server {
public:
  ~Server();

  void login(const std::string &User, int Socket);
  /// The user lost the connection and is back on another.
  void resume(const std::string &User, int Socket);
  void say(const std::string &User, const std::string &Text);
  void logout(const std::string &User);
  /// A second has passed.
  void tick();

  unsigned now() const { return Now; }
  size_t users() const { return Sessions.size(); }
  unsigned reminders() const { return Reminders; }
  bool knows(const std::string &User) const { return Sessions.count(User); }

private:
  static constexpr unsigned Patience = 900; // seconds until a reminder
  static constexpr size_t Lines = 500;      // how many the archive keeps

  Session *find(const std::string &User);
  void remind(Session *S);
  void deliver(const std::string &Line);

  unsigned Now = 0;
  unsigned Reminders = 0;
  std::unordered_map<std::string, Session *> Sessions;
  std::deque<std::string> Archive;
  TimerQueue Timers;
};

#endif
