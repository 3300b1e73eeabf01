// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A chat server: rooms know their members, the server owns them.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

struct User {
  explicit User(std::string Name) : Name(std::move(Name)) {}
  virtual ~User() = default;
  virtual void receive(const std::string &Text) { Unread.push_back(Text); }
  std::string Name;
  std::vector<std::string> Unread;
};

struct Room {
  void enter(User *U) { Members.push_back(U); }
  void leave(User *U) { std::erase(Members, U); }
  void say(const std::string &Text) {
    for (User *U : Members)
      U->receive(Text);
  }
  std::vector<User *> Members;
};

class Server {
public:
  User *connect(const std::string &Name) {
    return Users.emplace_back(new User(Name));
  }
  void disconnect(User *U) {
    Lobby.leave(U);
    std::erase(Users, U);
    delete U;
  }
  void dropIdle() {
    std::vector<User *> Idle;
    for (User *U : Users)
      if (U->Unread.size() > 2)
        Idle.push_back(U);
    for (User *U : Idle)
      disconnect(U);
  }
  Room Lobby, Help;

private:
  std::vector<User *> Users;
};

int main() {
  Server S;
  User *Ada = S.connect("ada"), *Bob = S.connect("bob"),
       *Eve = S.connect("eve");
  for (User *U : {Ada, Bob, Eve})
    S.Lobby.enter(U);
  S.Help.enter(Bob);
  for (const char *Text : {"hello", "anybody here?", "bob?"})
    S.Lobby.say(Text);
  Ada->Unread.clear(), Eve->Unread.clear();
  S.dropIdle();
  User *Ian = S.connect("ian");
  S.Help.say("how do I leave?");
  std::printf("ian has %zu messages\n", Ian->Unread.size());
}
