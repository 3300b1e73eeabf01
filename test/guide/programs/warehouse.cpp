// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A warehouse: pallets of screws come in, orders go out.
#include <cstdio>
#include <map>
#include <string>

struct Article {
  int Shelf = 0;
  short Pieces = 0;
};

class Warehouse {
public:
  void store(const std::string &Name, int Pieces) {
    Articles[Name].Pieces += Pieces;
  }
  bool take(const std::string &Name, int Pieces) {
    Article &A = Articles.at(Name);
    if (A.Pieces < Pieces)
      return false;
    A.Pieces -= Pieces;
    return true;
  }
  void print() const {
    for (const auto &[Name, A] : Articles)
      std::printf("%-7s %6d\n", Name.c_str(), A.Pieces);
  }

private:
  std::map<std::string, Article> Articles;
};

int main() {
  Warehouse W;
  for (int Day = 0; Day < 84; ++Day) {
    W.store("screws", Day % 7 ? 600 : 1000);
    W.store("nails", 400);
    W.take("screws", 250 + Day % 10);
    W.take("nails", 390);
  }
  W.print();
}
