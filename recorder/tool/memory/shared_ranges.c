/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/shared_ranges.h"
#include "recorder/tool/core/growing_array.h"

struct object {
  ULong device, inode;
  Bool own;
};
static CH_GROWING_ARRAY(struct object) objects;         /* by number - 1 */
static CH_GROWING_ARRAY(struct ch_shared_range) ranges; /* by address */
static Bool have_anonymous;

static UInt add_object(ULong device, ULong inode, Bool own) {
  struct object o = {device, inode, own};
  ch_array_append(&objects, o);
  return objects.used;
}

UInt ch_shared_object_number(ULong device, ULong inode) {
  for (UInt i = 0; i < objects.used; i++)
    if (objects.items[i].device == device && objects.items[i].inode == inode)
      return i + 1;
  return add_object(device, inode, False);
}

UInt ch_new_anonymous_object(void) {
  have_anonymous = True;
  return add_object(~0ull, ~0ull, True);
}

Bool ch_have_anonymous_objects(void) { return have_anonymous; }

void ch_shared_object_made(ULong device, ULong inode) {
  const UInt object = ch_shared_object_number(device, inode);
  objects.items[object - 1].own = True;
}

Bool ch_shared_object_is_own(UInt object) {
  return objects.items[object - 1].own;
}

void ch_shared_range_add(Addr start, Addr end, ULong offset, UInt object) {
  struct ch_shared_range r = {start, end, offset, object};
  ch_array_insert(&ranges, ch_array_first_behind(&ranges, start), r);
}

void ch_shared_range_forget(Addr start, Addr end) {
  UInt i = ch_array_first_behind(&ranges, start);
  while (i < ranges.used && ranges.items[i].start < end) {
    const struct ch_shared_range r = ranges.items[i];
    ch_array_erase(&ranges, i);
    if (r.end > end)
      ch_shared_range_add(end, r.end, r.offset + (end - r.start), r.object);
    if (r.start < start) {
      ch_shared_range_add(r.start, start, r.offset, r.object);
      i++;
    }
  }
}

const struct ch_shared_range *ch_shared_ranges(UInt *count) {
  *count = ranges.used;
  return ranges.items;
}

const struct ch_shared_range *ch_shared_range_find(Addr address) {
  const UInt i = ch_array_first_behind(&ranges, address);
  return i < ranges.used && ranges.items[i].start <= address ? &ranges.items[i]
                                                             : NULL;
}
