/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's connection to `chronicle record`, through descriptors that the
 * program cannot see. trace-format/Control.h has the protocol.
 */
#ifndef CHRONICLE_RECORDER_TOOL_PROCESSES_LAUNCHER_H
#define CHRONICLE_RECORDER_TOOL_PROCESSES_LAUNCHER_H

#include "recorder/tool/core/valgrind_core.h"
#include "trace-format/Control.h"

/* Takes over both descriptors. `lifeline` is the end of a pipe whose other end
   `chronicle record` holds: when that closes, the kernel kills this process. */
void ch_launcher_init(Int control, Int lifeline);
/* Whether there is a connection. */
Bool ch_launcher_known(void);
/* A forked child needs a lifeline of its own. */
void ch_launcher_in_child(void);

/* The descriptors stay open if the process becomes another program; or again
   they do not. */
void ch_launcher_keep_over_exec(Bool keep);
Int ch_launcher_control(void);
Int ch_launcher_lifeline(void);

#define CH_MOST_ANSWER_DESCRIPTORS (2 + CH_MOST_TRANSLATION_FILES)
struct ch_launcher_answer {
  UInt number;   /* 0: do not record */
  UInt received; /* descriptors: ring, log, translation files */
  Int descriptors[CH_MOST_ANSWER_DESCRIPTORS];
};

/* Asks for a recording. `strings` are those of the request, one after the
   other. Returns the socket that the request went through, or -1 if it could
   not be made; then the number in the answer is 0. */
Int ch_launcher_ask(const struct ch_control_request *request,
                    const HChar *const *strings, UInt count,
                    struct ch_launcher_answer *answer);
/* Takes the request back, and closes what came with the answer. */
void ch_launcher_take_back(Int socket, struct ch_launcher_answer *answer);

#endif
