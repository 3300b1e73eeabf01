/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/translation/known_definitions.h"

#define FIRST_SIZE (1 << 14)

/* An open-addressed hash table. Its size is a power of two, and it doubles when
   it is half full. */
struct known {
  struct ch_hash hash;
  UInt first_exit; /* 0: the entry is free */
};
static struct known *table;
static ULong table_size, table_used;

/* The entry that has the hash, or the free one where it belongs. */
static struct known *find(struct ch_hash hash) {
  ULong i = hash.low & (table_size - 1);
  while (table[i].first_exit &&
         (table[i].hash.low != hash.low || table[i].hash.high != hash.high))
    i = (i + 1) & (table_size - 1);
  return &table[i];
}

static void grow(void) {
  struct known *old = table;
  const ULong old_size = table_size;
  table_size = old_size ? old_size * 2 : FIRST_SIZE;
  table = VG_(calloc)("chronicle.known", table_size, sizeof *table);
  for (ULong i = 0; i < old_size; i++)
    if (old[i].first_exit)
      *find(old[i].hash) = old[i];
  if (old)
    VG_(free)(old);
}

UInt ch_known_first_exit(struct ch_hash hash) {
  return table ? find(hash)->first_exit : 0;
}

void ch_remember_definition(struct ch_hash hash, UInt first_exit) {
  if (2 * table_used >= table_size)
    grow();
  struct known *entry = find(hash);
  entry->hash = hash;
  entry->first_exit = first_exit;
  table_used++;
}
