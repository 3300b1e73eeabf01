/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The files of the translation cache: machine code that Valgrind made of the
 * program's code, for later recordings of the same code. The Valgrind tool (C,
 * no libc) makes and uses translations; `chronicle record` keeps the files.
 * docs/format.md, "The translation cache", explains every field.
 *
 *   file        := ch_translations_header, translation*, slot * slots
 *   translation := ch_translation, places:u32 * run_words,
 *                  reasons:u32 * reasons, guest bytes, definition, code,
 *                  zeros up to a multiple of 8 bytes
 *   slot        := ch_translation_slot
 */
#ifndef CHRONICLE_TRACE_FORMAT_TRANSLATIONS_H
#define CHRONICLE_TRACE_FORMAT_TRANSLATIONS_H

#include "trace-format/Stream.h"

#define CH_TRANSLATIONS_MAGIC 0x4e4152544e524843ull /* "CHRNTRAN" */
/* Bump on any change of this file. */
#define CH_TRANSLATIONS_VERSION 1
/* The tool is given at most this many files. */
#define CH_MOST_TRANSLATION_FILES 16

/* ---- what the tool tells `chronicle record` ---- */

/* An event of the stream beside those of Stream.h: a translation that the tool
   made, to be kept. The trace does not have it. */
#define CH_EV_TRANSLATION 24u
CH_STATIC_ASSERT((unsigned)CH_EV_LOADED < CH_EV_TRANSLATION, "Stream.h");

/* In the first page of the ring, behind its header. Written by the recorded
   process alone. */
#define CH_TRANSLATION_REPORT_OFFSET 1024
CH_STATIC_ASSERT(sizeof(struct ch_ring_header) <= CH_TRANSLATION_REPORT_OFFSET,
                 "Stream.h");
struct ch_translation_report {
  ch_u32 needed;        /* translations so far */
  ch_u32 stored;        /* how many of them were in the files */
  ch_u32 used_files;    /* one bit per file that the tool was given, */
  ch_u32 damaged_files; /* in their order */
};

/* ---- the files ---- */

struct ch_translations_header {
  ch_u64 magic;
  ch_u32 version;
  ch_u32 translations; /* how many there are */
  ch_u64 tool[2];      /* hash of the tool's file */
  ch_u64 size;         /* of this file */
  ch_u64 table;        /* offset of the first slot */
  ch_u64 slots;        /* a power of two */
  ch_u64 checksum;     /* of the fields before it */
};
CH_STATIC_ASSERT(sizeof(struct ch_translations_header) == 64, "docs/format.md");

/* A hash table with linear probing. A translation is at or behind the slot
   number (key modulo slots), with no free slot between. Slots have no checksum:
   what a slot leads to has one. */
struct ch_translation_slot {
  ch_u32 tag; /* the upper half of the key */
  ch_u32 at;  /* offset of the translation divided by 8; 0: the slot is free */
};

/* What code was made for. */
#define CH_MODE_LOGS_LOADS 1
#define CH_MODE_WATCHES 2
#define CH_MODE_MARKS_STORES 4
#define CH_MODE_EXACT_AT_FAULTS 8

/* Bytes of the program behind the address of the superblock that are part of
   the key, as far as they are on the same page. */
#define CH_KEY_BYTES 16
/* Bytes behind the superblock that must be the same, too, as far as they are on
   its last page: VEX looks that far ahead for requests to Valgrind. */
#define CH_LOOK_AHEAD 20

/* What a translation is found by: the key is the hash of this. */
struct ch_translation_subject {
  ch_u64 address;
  ch_u32 mode;                          /* CH_MODE_* bits */
  ch_u32 guest_features, host_features; /* VEX's bits for the processor */
  ch_u32 reserved;
  unsigned char bytes[CH_KEY_BYTES]; /* the rest is zero */
};
CH_STATIC_ASSERT(sizeof(struct ch_translation_subject) == 40, "docs/format.md");

struct ch_translation {
  ch_u64 checksum; /* of all that follows */
  ch_u32 size;     /* of the whole translation, a multiple of 8 */
  ch_u32 guest_length;
  ch_u64 key;
  struct ch_translation_subject subject;
  ch_u64 definition_hash[2];
  ch_u32 guest_bytes; /* guest_length and what was looked ahead at */
  ch_u32 instructions;
  ch_u32 run_words; /* side exits plus 1 */
  ch_u32 reasons;
  ch_u32 definition_bytes;
  ch_u32 code_bytes;
};
CH_STATIC_ASSERT(sizeof(struct ch_translation) == 104, "docs/format.md");

/* A run word in the code of a translation: this plus the number of the exit
   among those of its superblock. Where they are is in `places`; each is
   replaced by the number of the exit in the run. */
#define CH_RUN_PLACEHOLDER 0x6b7d5a00u
/* The code does not have this run word. */
#define CH_NO_PLACE 0xffffffffu

#define CH_TRANSLATION_CHECKED_FROM 8
CH_STATIC_ASSERT(__builtin_offsetof(struct ch_translation, size) ==
                     CH_TRANSLATION_CHECKED_FROM,
                 "what the checksum covers");

/* A hash of `size` bytes, which are a multiple of 8: eight bytes per
   multiplication, in four lanes. It finds damage, and is no protection against
   an attacker, who could as well write another checksum. */
static inline ch_u64 ch_checksum(const void *bytes, ch_u64 size) {
  const unsigned char *p = (const unsigned char *)bytes;
  const ch_u64 prime = 0x9e3779b97f4a7c15ull;
  ch_u64 lane[4] = {size ^ 0x243f6a8885a308d3ull, 0x13198a2e03707344ull,
                    0xa4093822299f31d0ull, 0x082efa98ec4e6c89ull};
  ch_u64 sum = 0;
  for (; size >= 32; size -= 32, p += 32)
    for (int i = 0; i < 4; i++) {
      ch_u64 word;
      __builtin_memcpy(&word, p + 8 * i, 8);
      lane[i] = (lane[i] ^ word) * prime;
      lane[i] ^= lane[i] >> 32;
    }
  for (; size >= 8; size -= 8, p += 8) {
    ch_u64 word;
    __builtin_memcpy(&word, p, 8);
    lane[0] = (lane[0] ^ word) * prime;
    lane[0] ^= lane[0] >> 32;
  }
  for (int i = 0; i < 4; i++) {
    sum = (sum ^ lane[i]) * prime;
    sum ^= sum >> 29;
  }
  return sum;
}

/* The bytes that the parts of a translation take, without those at its end that
   make its size a multiple of 8. */
static inline ch_u64 ch_translation_bytes(const struct ch_translation *t) {
  return sizeof *t + 4ull * t->run_words + 4ull * t->reasons + t->guest_bytes +
         t->definition_bytes + t->code_bytes;
}

/* Whether `left` bytes hold a whole translation that is not damaged. */
static inline int ch_translation_is_whole(const struct ch_translation *t,
                                          ch_u64 left) {
  return left >= sizeof *t && t->size <= left && t->size % 8 == 0 &&
         ch_translation_bytes(t) <= t->size && t->run_words &&
         t->run_words <= CH_MAX_ORDINAL + 1 &&
         t->guest_bytes >= t->guest_length && t->definition_bytes &&
         t->code_bytes &&
         t->checksum ==
             ch_checksum((const unsigned char *)t + CH_TRANSLATION_CHECKED_FROM,
                         t->size - CH_TRANSLATION_CHECKED_FROM);
}

#endif
