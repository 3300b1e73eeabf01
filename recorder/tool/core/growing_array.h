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

/* For ch_array_reserve(): returns the items in a larger allocation. */
void *ch_array_grow(void *items, UInt *capacity, UInt count, SizeT item_size);

#endif
