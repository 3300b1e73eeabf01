// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// This program is built in many ways: static, static-pie, PIE, not PIE,
// stripped, with clang, and at several optimisation levels.
#include "Check.h"
#include <time.h>

static int compare(const void *A, const void *B) {
  return (*(const int *)A > *(const int *)B) -
         (*(const int *)A < *(const int *)B);
}

struct Tree {
  struct Tree *Left, *Right;
  int Key;
};
static struct Tree *insert(struct Tree *Tree, int Key) {
  if (!Tree) {
    Tree = calloc(1, sizeof(*Tree));
    Tree->Key = Key;
  } else if (Key < Tree->Key)
    Tree->Left = insert(Tree->Left, Key);
  else
    Tree->Right = insert(Tree->Right, Key);
  return Tree;
}
static int depth(const struct Tree *Tree) {
  if (!Tree)
    return 0;
  int L = depth(Tree->Left), R = depth(Tree->Right);
  return 1 + (L > R ? L : R);
}

int main(int Count, char **Arguments) {
  static int Numbers[5000];
  struct Tree *Tree = NULL;
  double Mean = 0;
  for (int I = 0; I < 5000; ++I) {
    Numbers[I] = (int)(nextRandom() % 100000);
    Tree = insert(Tree, Numbers[I]);
    Mean += Numbers[I] / 5000.0;
  }
  qsort(Numbers, 5000, sizeof(int), compare);
  hashBytes(Numbers, sizeof(Numbers));
  struct tm Day = {.tm_year = 126, .tm_mday = 1};
  char Text[100];
  strftime(Text, sizeof(Text), "%Y-%m-%d", &Day);
  printf("%s %016lx %.3f %d %d\n", Text, Hash, Mean, depth(Tree), Count);
  return Arguments[0] ? 0 : 1;
}
