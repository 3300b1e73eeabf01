// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A playlist whose songs share their album's title.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Song {
  char *Title, *Album;
};

static struct Song Songs[3];

static void load(void) {
  char *Album = strdup("Blue");
  Songs[0] = (struct Song){strdup("Carey"), Album};
  Songs[1] = (struct Song){strdup("River"), Album};
  Songs[2] = (struct Song){strdup("Hejira"), strdup("Hejira")};
}

static void clear_song(struct Song *S) {
  free(S->Title);
  free(S->Album);
}

int main(void) {
  load();
  for (int I = 2; I >= 0; --I)
    printf("%s (%s)\n", Songs[I].Title, Songs[I].Album);
  for (int I = 2; I >= 0; --I)
    clear_song(&Songs[I]);
  return 0;
}
