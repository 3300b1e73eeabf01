// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Follows pointers: a std::map of strings grows, is searched and shrinks again.
// `map N` makes N changes. It is also built with -g -O0, for stepping through
// it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

class Shop {
public:
  void deliver(uint32_t Article, int Count) {
    std::string Name = nameOf(Article);
    Stock[Name] += Count;
    ++Changes;
  }
  bool sell(uint32_t Article) {
    auto It = Stock.find(nameOf(Article));
    ++Changes;
    if (It == Stock.end())
      return false;
    if (--It->second == 0)
      Stock.erase(It);
    return true;
  }
  int total() const {
    int Sum = 0;
    for (const auto &[Name, Count] : Stock)
      Sum += Count + int(Name.size());
    return Sum;
  }
  long changes() const { return Changes; }

private:
  static std::string nameOf(uint32_t Article) {
    std::string Name = "article number ";
    Name += std::to_string(Article);
    return Name;
  }
  std::map<std::string, int> Stock;
  long Changes = 0;
};

uint32_t pseudoRandom() {
  static uint32_t State = 12345;
  State = State * 1664525 + 1013904223;
  return State >> 8;
}

void day(Shop &S, long &Left) {
  uint32_t Article = pseudoRandom() % 20000;
  S.deliver(Article, 2);
  S.sell(Article);
  S.sell(pseudoRandom() % 20000);
  --Left;
}

} // namespace

int main(int Argc, char **Argv) {
  long Left = Argc > 1 ? std::atol(Argv[1]) : 1000;
  Shop S;
  while (Left > 0)
    day(S, Left);
  std::printf("%d %ld\n", S.total(), S.changes());
  return 0;
}
