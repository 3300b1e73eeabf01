// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports orders in three steps and reports after each.
#include <cstdio>
#include <string>
#include <vector>

struct Order {
  std::string Customer;
  int Cents;
};

static std::vector<Order> Orders;

static int price(const std::string &Text) {
  int Cents = 0;
  for (char C : Text)
    if (C >= '0' && C <= '9')
      Cents = 10 * Cents + (C - '0');
  return Cents;
}
static void add(const std::string &Customer, const std::string &Price) {
  Orders.push_back({Customer, price(Price)});
}
static void round_prices() {
  for (Order &O : Orders)
    O.Cents -= O.Cents % 5;
}
static void report(const char *Step) {
  long Sum = 0;
  for (const Order &O : Orders)
    Sum += O.Cents;
  std::printf("%-9s%3zu orders, %6ld.%02ld\n", Step, Orders.size(), Sum / 100,
              Sum % 100);
  std::fflush(stdout);
}

int main() {
  add("smith", "12.50"), add("jones", "3.20");
  report("monday:");
  add("brown", "8.90"), add("davis", "49.5"), add("wilson", "10.00");
  report("tuesday:");
  round_prices();
  report("rounded:");
}
