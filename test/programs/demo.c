// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The demo: a small bank. Its transfers keep the total, until one writes past
// the end of a name and into a balance. The program notices at the end that
// money is missing, long after it happened, and exits with status 3.
#include <stdio.h>
#include <string.h>

struct Account {
  char Name[8];
  long Balance;
};

static struct Account Accounts[4] = {
    {"alice", 1000}, {"bob", 2000}, {"carol", 3000}, {"dave", 4000}};

static long total(void) {
  long Sum = 0;
  for (int I = 0; I < 4; ++I)
    Sum += Accounts[I].Balance;
  return Sum;
}

static void transfer(int From, int To, long Amount) {
  if (Accounts[From].Balance < Amount)
    return;
  Accounts[From].Balance -= Amount;
  Accounts[To].Balance += Amount;
}

// The bug: a name may be longer than its field.
static void rename_account(int Index, const char *Name) {
  char *To = Accounts[Index].Name;
  while ((*To++ = *Name++))
    ;
}

int main(void) {
  long Before = total();
  unsigned Random = 1;
  for (int Day = 0; Day < 20000; ++Day) {
    Random = Random * 1103515245 + 12345;
    transfer(Random >> 16 & 3, Random >> 20 & 3, Random >> 24);
    if (Day == 12345)
      rename_account(2, "caroline");
  }
  for (int I = 0; I < 4; ++I)
    printf("%-8.8s %6ld\n", Accounts[I].Name, Accounts[I].Balance);
  if (total() != Before) {
    printf("%ld went in, %ld are there\n", Before, total());
    return 3;
  }
  printf("the books are right\n");
  return 0;
}
