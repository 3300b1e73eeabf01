/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An array that grows as items are added and is never freed. A zeroed one is
 * empty:
 *
 *   static CH_GROWING_ARRAY(struct point) points;
 *   ch_array_append(&points, p);
 *   points.items[points.used - 1]
 */
#ifndef CHRONICLE_RECORDER_TOOL_CORE_GROWING_ARRAY_H
#define CHRONICLE_RECORDER_TOOL_CORE_GROWING_ARRAY_H

#include "recorder/tool/core/valgrind_core.h"

#define CH_GROWING_ARRAY(type)                                                 \
  struct {                                                                     \
    type *items;                                                               \
    UInt used;                                                                 \
    UInt capacity;                                                             \
  }

/* Makes room for `count` items in all. The old items keep their values and the
   new ones are zero; pointers to items become invalid. Costs one comparison if
   there is room already. */
#define ch_array_reserve(array, count)                                         \
  do {                                                                         \
    if ((array)->capacity < (UInt)(count))                                     \
      (array)->items = ch_array_grow((array)->items, &(array)->capacity,       \
                                     (count), sizeof *(array)->items);         \
  } while (0)

#define ch_array_append(array, item)                                           \
  do {                                                                         \
    ch_array_reserve(array, (array)->used + 1);                                \
    (array)->items[(array)->used++] = (item);                                  \
  } while (0)

/* Removes one item and puts the last one in its place. */
#define ch_array_remove(array, index)                                          \
  ((array)->items[index] = (array)->items[--(array)->used])

/* Inserts an item before the one at that index. Costs a copy of those behind.
 */
#define ch_array_insert(array, index, item)                                    \
  do {                                                                         \
    ch_array_reserve(array, (array)->used + 1);                                \
    VG_(memmove)(&(array)->items[(index) + 1], &(array)->items[index],         \
                 ((array)->used - (index)) * sizeof *(array)->items);          \
    (array)->items[index] = (item);                                            \
    (array)->used++;                                                           \
  } while (0)

/* Removes one item and keeps the others in order. */
#define ch_array_erase(array, index)                                           \
  do {                                                                         \
    (array)->used--;                                                           \
    VG_(memmove)(&(array)->items[index], &(array)->items[(index) + 1],         \
                 ((array)->used - (index)) * sizeof *(array)->items);          \
  } while (0)

/* The index of the first item that ends behind the address, in an array of
   ranges that do not overlap, in order. */
#define ch_array_first_behind(array, address)                                  \
  ({                                                                           \
    UInt ch_low = 0, ch_high = (array)->used;                                  \
    while (ch_low < ch_high) {                                                 \
      const UInt ch_middle = ch_low + (ch_high - ch_low) / 2;                  \
      if ((array)->items[ch_middle].end <= (address))                          \
        ch_low = ch_middle + 1;                                                \
      else                                                                     \
        ch_high = ch_middle;                                                   \
    }                                                                          \
    ch_low;                                                                    \
  })

/* For ch_array_reserve(): returns the items in a larger allocation. */
void *ch_array_grow(void *items, UInt *capacity, UInt count, SizeT item_size);

#endif
