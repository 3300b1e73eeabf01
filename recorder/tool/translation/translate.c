/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/translation/translate.h"
#include "libvex.h"
#include "recorder/tool/chaos/chaos.h"
#include "recorder/tool/code/instrument.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/events/signals.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/memory/watch.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/translation/known_definitions.h"
#include "recorder/tool/translation/stored.h"
#include "recorder/tool/translation/superblocks.h"

/* A translation that takes more is not kept. Most take 2 KiB. */
#define MOST_KEPT_BYTES (128 << 10)
/* Other placeholders to try; they stay below CH_RUN_FAULT. */
#define OTHER_PLACEHOLDER 0x10100u
#define MOST_ATTEMPTS 4096

static Bool keeps_translations;

/* Where the code has the run words. */
static CH_GROWING_ARRAY(UInt) places;

/* ---- placeholders ---- */

/* Stands for the number of the first exit in the code. */
static UInt placeholder;
/* What the translation under way instrumented, or NULL. */
static const struct ch_superblock *instrumented;

static UInt give_placeholder(const struct ch_superblock *s) {
  instrumented = s;
  return placeholder;
}

/* Finds the place of each placeholder. Code behind an exit that is always taken
   is not there, and so its run words have no place. Returns False if the code
   has the bytes of one a second time, by chance. */
static Bool find_places(const UChar *code, UInt size, UInt count) {
  ch_array_reserve(&places, count);
  for (UInt i = 0; i < count; i++)
    places.items[i] = CH_NO_PLACE;
  for (UInt at = 0; at + 4 <= size; at++) {
    const UInt n = *(const UInt *)(code + at) - placeholder;
    if (n >= count)
      continue;
    if (places.items[n] != CH_NO_PLACE)
      return False;
    places.items[n] = at;
  }
  return True;
}

static void fill_in(UChar *code, const UInt *where, UInt count,
                    UInt first_exit) {
  for (UInt i = 0; i < count; i++)
    if (where[i] != CH_NO_PLACE)
      *(UInt *)(code + where[i]) = first_exit + i;
}

/* ---- what a translation depends on ---- */

static UInt mode(void) {
  return (ch_logging_loads ? CH_MODE_LOGS_LOADS : 0) |
         (ch_watching ? CH_MODE_WATCHES : 0) |
         (ch_marking ? CH_MODE_MARKS_STORES : 0) |
         (ch_faults_handled ? CH_MODE_EXACT_AT_FAULTS : 0);
}

static UInt bytes_to_page_end(Addr address) {
  return VKI_PAGE_SIZE - address % VKI_PAGE_SIZE;
}

static struct ch_translation_subject subject_of(const VexTranslateArgs *args) {
  struct ch_translation_subject s;
  const UInt left = bytes_to_page_end(args->guest_bytes_addr);
  VG_(memset)(&s, 0, sizeof s);
  s.address = args->guest_bytes_addr;
  s.mode = mode();
  s.guest_features = args->archinfo_guest.hwcaps;
  s.host_features = args->archinfo_host.hwcaps;
  VG_(memcpy)(s.bytes, args->guest_bytes,
              left < CH_KEY_BYTES ? left : CH_KEY_BYTES);
  return s;
}

static Bool is_redirected(const VexTranslateArgs *args) {
  const VgCallbackClosure *closure = args->callback_opaque;
  return args->preamble_function || closure->nraddr != closure->readdr ||
         args->guest_bytes != (const UChar *)args->guest_bytes_addr;
}

static Bool checks_itself(const VexTranslateArgs *args,
                          const VexGuestExtents *extents) {
  VexRegisterUpdates updates = VexRegUpdAllregsAtEachInsn;
  return args->needs_self_check(args->callback_opaque, &updates, extents) != 0;
}

/* ---- translations of earlier recordings ---- */

static void use_stored(VexTranslateArgs *args, const struct ch_translation *t,
                       VexTranslateResult *result) {
  const UInt *where = (const UInt *)(t + 1);
  struct ch_superblock s = {{0}};
  s.run_words = t->run_words;
  s.reasons = where + t->run_words;
  s.reason_count = t->reasons;
  s.definition.head = (const UChar *)(s.reasons + t->reasons) + t->guest_bytes;
  s.definition.head_size = t->definition_bytes;
  s.definition.hash.low = t->definition_hash[0];
  s.definition.hash.high = t->definition_hash[1];
  VG_(memcpy)(args->host_bytes, s.definition.head + t->definition_bytes,
              t->code_bytes);
  *args->host_bytes_used = t->code_bytes;
  fill_in(args->host_bytes, where, t->run_words, ch_superblock_send(&s));
  VG_(memset)(result, 0, sizeof *result);
  result->status = VexTransOK;
  result->offs_profInc = -1;
  result->n_guest_instrs = t->instructions;
}

static Bool find_stored(VexTranslateArgs *args,
                        const struct ch_translation_subject *subject,
                        VexTranslateResult *result) {
  const struct ch_translation *t =
      ch_stored_find(subject, ch_checksum(subject, sizeof *subject));
  if (!t || t->code_bytes > (UInt)args->host_bytes_size)
    return False;
  const VexGuestExtents extents = {
      {subject->address, 0, 0}, {t->guest_length, 0, 0}, 1};
  if (checks_itself(args, &extents))
    return False;
  *args->guest_extents = extents;
  use_stored(args, t, result);
  return True;
}

/* ---- new translations ---- */

/* The hash by which a translation that was sent is remembered: the same
   definition may belong to several, one per mode. */
static struct ch_hash hash_when_sent(const struct ch_superblock *s, UInt mode) {
  struct ch_hash hash = s->definition.hash;
  hash.low ^= (mode + 1) * 0x9e3779b97f4a7c15ull;
  return hash;
}

static Bool is_worth_keeping(const VexTranslateArgs *args,
                             const VexTranslateResult *result,
                             const struct ch_superblock *s) {
  const VexGuestExtents *e = args->guest_extents;
  return ch_recording && result->n_sc_extents == 0 &&
         result->offs_profInc == -1 && s->decodes && e->n_used == 1 &&
         e->base[0] == args->guest_bytes_addr && e->len[0];
}

/* The bytes that VEX may have looked at. */
static UInt bytes_looked_at(Addr address, UInt length) {
  const UInt left = bytes_to_page_end(address + length - 1) - 1;
  return length + (left < CH_LOOK_AHEAD ? left : CH_LOOK_AHEAD);
}

static UChar *put(UChar *to, const void *bytes, UInt size) {
  VG_(memcpy)(to, bytes, size);
  return to + size;
}

/* Sends a translation that still has its placeholders. */
static void send(const VexTranslateArgs *args, const VexTranslateResult *result,
                 const struct ch_superblock *s,
                 const struct ch_translation_subject *subject) {
  struct ch_translation t = {0};
  const struct ch_definition *d = &s->definition;
  t.guest_length = args->guest_extents->len[0];
  t.key = ch_checksum(subject, sizeof *subject);
  t.subject = *subject;
  t.definition_hash[0] = d->hash.low;
  t.definition_hash[1] = d->hash.high;
  t.guest_bytes = bytes_looked_at(subject->address, t.guest_length);
  t.instructions = result->n_guest_instrs;
  t.run_words = s->run_words;
  t.reasons = s->reason_count;
  t.definition_bytes = d->head_size + d->body_size;
  t.code_bytes = *args->host_bytes_used;
  t.size = VG_ROUNDUP(ch_translation_bytes(&t), 8);
  if (t.size > MOST_KEPT_BYTES)
    return;
  UChar *start = ch_event(CH_EV_TRANSLATION, t.size);
  UChar *at = put(start, &t, sizeof t);
  at = put(at, places.items, 4 * t.run_words);
  at = put(at, s->reasons, 4 * t.reasons);
  at = put(at, args->guest_bytes, t.guest_bytes);
  at = put(at, d->head, d->head_size);
  at = put(at, d->body, d->body_size);
  at = put(at, args->host_bytes, t.code_bytes);
  VG_(memset)(at, 0, start + t.size - at);
  ((struct ch_translation *)start)->checksum =
      ch_checksum(start + CH_TRANSLATION_CHECKED_FROM,
                  t.size - CH_TRANSLATION_CHECKED_FROM);
}

extern VexTranslateResult __real_LibVEX_Translate(VexTranslateArgs *args);

/* Translates until the code has no placeholder twice. NULL: nothing was
   instrumented. */
static const struct ch_superblock *translate(VexTranslateArgs *args,
                                             VexTranslateResult *result) {
  placeholder = CH_RUN_PLACEHOLDER;
  for (UInt i = 0; i < MOST_ATTEMPTS; i++) {
    instrumented = NULL;
    *result = __real_LibVEX_Translate(args);
    if (result->status != VexTransOK || !instrumented)
      return NULL;
    if (find_places(args->host_bytes, *args->host_bytes_used,
                    instrumented->run_words))
      return instrumented;
    placeholder += OTHER_PLACEHOLDER;
  }
  VG_(tool_panic)("the run words cannot be found in generated code");
}

void ch_translate_init(Bool keep, const HChar *descriptors) {
  keeps_translations = keep;
  ch_number_exits = keep ? give_placeholder : ch_superblock_send;
  if (keep)
    ch_stored_open(descriptors);
}

VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *args) {
  /* A thread's slice may end where a superblock begins, except if a jump
     forward led there: such jumps leave out the check. Under chaos none does.
   */
  if (ch_chaos_in_code)
    args->disp_cp_chain_me_to_fastEP = args->disp_cp_chain_me_to_slowEP;
  if (!keeps_translations)
    return __real_LibVEX_Translate(args);
  VexTranslateResult result;
  /* Under chaos superblocks end early (code/switch_points.c). */
  const Bool is_special = is_redirected(args) || ch_chaos_in_code;
  struct ch_translation_subject subject;
  ch_ring_translation_report()->needed++;
  if (!is_special) {
    subject = subject_of(args);
    if (find_stored(args, &subject, &result)) {
      ch_ring_translation_report()->stored++;
      return result;
    }
  }
  const struct ch_superblock *s = translate(args, &result);
  if (!s)
    return result;
  const UInt first_exit = ch_superblock_send(s);
  const struct ch_hash hash = hash_when_sent(s, mode());
  if (!is_special && is_worth_keeping(args, &result, s) &&
      !ch_known_first_exit(hash)) {
    ch_remember_definition(hash, first_exit);
    send(args, &result, s, &subject);
  }
  fill_in(args->host_bytes, places.items, s->run_words, first_exit);
  return result;
}
