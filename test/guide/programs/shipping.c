// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What it costs to send a parcel to a country.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int in_union(const char *Country) {
  return strstr("AT BE DE ES FR IT NL PL", Country) != NULL;
}

static int shipping(const char *Country, int Grams) {
  int Cents = 500;
  if (Grams > 1000)
    Cents += 300;
  if (!in_union(Country))
    Cents += 900;
  return Cents;
}

int main(int Count, char **Arguments) {
  if (Count != 3)
    return 2;
  int Cents = shipping(Arguments[1], atoi(Arguments[2]));
  printf("%d.%02d\n", Cents / 100, Cents % 100);
  return 0;
}
