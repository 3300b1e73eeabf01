/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies for Valgrind's core and for the tool. The core's own function copies
 * byte by byte where source and destination are not aligned alike. Generated
 * code and definitions rarely are. CMakeLists.txt wraps it.
 */
#include "recorder/tool/core/valgrind_core.h"

void *__wrap_vgPlain_memcpy(void *to, const void *from, SizeT size);

/* Two pieces of a constant size, which overlap if `size` is less than both. */
#define COPY_ENDS(bytes)                                                       \
  do {                                                                         \
    struct {                                                                   \
      UChar b[bytes];                                                          \
    } first, last;                                                             \
    __builtin_memcpy(&first, from, bytes);                                     \
    __builtin_memcpy(&last, (const UChar *)from + size - bytes, bytes);        \
    __builtin_memcpy(to, &first, bytes);                                       \
    __builtin_memcpy((UChar *)to + size - bytes, &last, bytes);                \
  } while (0)

void *__wrap_vgPlain_memcpy(void *to, const void *from, SizeT size) {
  if (size > 64) {
    void *end = to;
    __asm__ __volatile__("rep movsb"
                         : "+D"(end), "+S"(from), "+c"(size)
                         :
                         : "memory");
  } else if (size >= 32) {
    COPY_ENDS(32);
  } else if (size >= 16) {
    COPY_ENDS(16);
  } else if (size >= 8) {
    COPY_ENDS(8);
  } else if (size >= 4) {
    COPY_ENDS(4);
  } else {
    for (SizeT i = 0; i < size; i++)
      ((UChar *)to)[i] = ((const UChar *)from)[i];
  }
  return to;
}
