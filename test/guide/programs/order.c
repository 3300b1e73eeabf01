// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds up an order, and takes off a discount.
#include <stdio.h>
#include <stdlib.h>

struct Line {
  int Count, Price;
};
static struct Line Order[] = {{2, 1000}, {3, 250}, {1, 4999}};
static int Discount, Total;

static int cost(const struct Line *L) {
  int Cost = L->Count * L->Price;
  return Cost;
}

static void readDiscount(const char *Text) { Discount = atoi(Text) * 100; }

int main(void) {
  for (int I = 0; I < 3; ++I)
    Total += cost(&Order[I]);
  readDiscount("1000");
  Total -= Discount;
  printf("to pay: %d\n", Total);
  return Total < 0;
}
