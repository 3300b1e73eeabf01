/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/translation/stored.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/stream/ring.h"

/* More slots in a row are never taken in a table that is at most half full. */
#define MOST_PROBES 4096
/* Superblocks are much shorter. */
#define MOST_GUEST_BYTES 4096

static struct {
  const UChar *bytes;
  const struct ch_translations_header *header;
  Bool unusable;
} files[CH_MOST_TRANSLATION_FILES];
static UInt file_count;

/* `chronicle record` has checked who the file belongs to and that it is one of
   this tool. What is checked here keeps the tool inside of the file. */
static Bool is_consistent(const struct ch_translations_header *h, ULong size) {
  return h->magic == CH_TRANSLATIONS_MAGIC &&
         h->version == CH_TRANSLATIONS_VERSION && h->size == size && h->slots &&
         !(h->slots & (h->slots - 1)) && h->table <= size &&
         h->table % 8 == 0 && h->table >= sizeof *h &&
         h->slots <= (size - h->table) / sizeof(struct ch_translation_slot);
}

static void map_file(Int fd) {
  const UInt number = file_count++;
  const Long size = VG_(fsize)(fd);
  files[number].unusable = True;
  if (size >= (Long)sizeof *files[number].header) {
    SysRes mapped =
        VG_(am_mmap_file_float_valgrind)(size, VKI_PROT_READ, fd, 0);
    if (!sr_isError(mapped)) {
      files[number].bytes = (const UChar *)(Addr)sr_Res(mapped);
      files[number].header = (const void *)files[number].bytes;
      files[number].unusable = !is_consistent(files[number].header, size);
    }
  }
  VG_(close)(fd);
}

void ch_stored_open(const HChar *descriptors) {
  while (*descriptors && file_count < CH_MOST_TRANSLATION_FILES) {
    HChar *end;
    const Long fd = VG_(strtoll10)(descriptors, &end);
    if (end == descriptors)
      return;
    map_file(fd);
    descriptors = *end == ',' ? end + 1 : end;
  }
}

/* Whether the program has these bytes at the address. The first page is there,
   because Valgrind is about to translate from it; the next may not be. */
static Bool is_there(Addr address, const UChar *bytes, UInt size) {
  static UChar copy[MOST_GUEST_BYTES];
  if (size > sizeof copy)
    return False;
  if (address % VKI_PAGE_SIZE + size <= VKI_PAGE_SIZE)
    return VG_(memcmp)((const void *)address, bytes, size) == 0;
  return ch_memory_copy(address, copy, size) &&
         VG_(memcmp)(copy, bytes, size) == 0;
}

static Bool is_same(const struct ch_translation_subject *a,
                    const struct ch_translation_subject *b) {
  return VG_(memcmp)(a, b, sizeof *a) == 0;
}

/* Whether all places lie within the code. */
static Bool has_valid_places(const struct ch_translation *t) {
  const UInt *places = (const UInt *)(t + 1);
  for (UInt i = 0; i < t->run_words; i++)
    if (places[i] != CH_NO_PLACE &&
        (t->code_bytes < 4 || places[i] > t->code_bytes - 4))
      return False;
  return True;
}

static const UChar *guest_bytes_of(const struct ch_translation *t) {
  return (const UChar *)(t + 1) + 4 * (t->run_words + t->reasons);
}

static const struct ch_translation *
find_in(UInt number, const struct ch_translation_subject *subject, ULong key) {
  const UChar *bytes = files[number].bytes;
  const struct ch_translations_header *h = files[number].header;
  const struct ch_translation_slot *slots = (const void *)(bytes + h->table);
  for (ULong i = 0; i < MOST_PROBES && i < h->slots; i++) {
    const struct ch_translation_slot s = slots[(key + i) & (h->slots - 1)];
    if (!s.at)
      return NULL;
    if (s.tag != key >> 32)
      continue;
    const ULong at = 8ull * s.at;
    const struct ch_translation *t = (const void *)(bytes + at);
    if (at < sizeof *h || at >= h->table ||
        !ch_translation_is_whole(t, h->table - at) || !has_valid_places(t)) {
      files[number].unusable = True;
      ch_ring_translation_report()->damaged_files |= 1u << number;
      return NULL;
    }
    if (is_same(&t->subject, subject) &&
        is_there(subject->address, guest_bytes_of(t), t->guest_bytes))
      return t;
  }
  return NULL;
}

const struct ch_translation *
ch_stored_find(const struct ch_translation_subject *subject, ULong key) {
  for (UInt i = 0; i < file_count; i++) {
    const struct ch_translation *t =
        files[i].unusable ? NULL : find_in(i, subject, key);
    if (t) {
      ch_ring_translation_report()->used_files |= 1u << i;
      return t;
    }
  }
  return NULL;
}
