/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/core/growing_array.h"

void *ch_array_grow(void *items, UInt *capacity, UInt count, SizeT item_size) {
  const UInt old = *capacity;
  *capacity = 2 * count + 16;
  items = VG_(realloc)("chronicle.array", items, *capacity * item_size);
  VG_(memset)((UChar *)items + old * item_size, 0,
              (*capacity - old) * item_size);
  return items;
}
