// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program of the demo: a chat server and the traffic of one evening. It
// ends by a signal, in a place that has nothing to do with the mistake.
#include "Server.h"
#include <cstdio>
#include <vector>

/// The same traffic in every run.
class Traffic {
public:
  unsigned below(unsigned Limit) {
    State = State * 6364136223846793005u + 1442695040888963407u;
    return (State >> 33) % Limit;
  }
  const char *oneOf(const std::vector<const char *> &Texts) {
    return Texts[below(Texts.size())];
  }

private:
  unsigned long State = 20260;
};

static const std::vector<const char *> Users = {
    "ada",   "barbara", "dennis",   "donald",  "edsger", "frances",
    "grace", "ken",     "margaret", "niklaus", "robin",  "tony"};

static const std::vector<const char *> Texts = {
    "good evening, who is on the parser?",
    "the build is green again, thank you",
    "has anyone seen the Monday report yet?",
    "I would rather have it right than soon",
    "let us measure it before we argue more",
    "this is the third of the two hard things"};

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Server Chat;
  Traffic Random;
  int Socket = 10;
  for (unsigned Second = 0; Second < 3600; ++Second) {
    Chat.tick();
    std::string User = Random.oneOf(Users);
    switch (Random.below(8)) {
    case 0:
      Chat.login(User, ++Socket);
      break;
    case 1:
      if (Random.below(3) == 0)
        Chat.logout(User);
      break;
    default:
      Chat.say(User, Random.oneOf(Texts));
    }
    // The trains of the evening go through a tunnel.
    if (Second % 1000 == 999)
      Chat.resume(User, ++Socket);
    if (Second % 600 == 0)
      std::printf("%4u s: %zu users, %u reminders\n", Second, Chat.users(),
                  Chat.reminders());
  }
  std::printf("the evening is over\n");
}
