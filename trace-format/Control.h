/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a recorder and `chronicle record` say to each other about processes.
 * Included by the Valgrind tool (C, no libc) and by the launcher (C++).
 * docs/format.md, "Following processes", explains it.
 *
 * All recorders of a run share one end of a pair of sockets (SOCK_SEQPACKET). A
 * recorder that wants a process recorded makes a pair of sockets of its own
 * (SOCK_STREAM) and sends one of them there, with one byte. Through the other
 * one it sends a request and gets an answer:
 *
 *   request := ch_control_request, path 0, (argument 0)*, (variable 0)*
 *   answer  := ch_control_answer, with the descriptors of ring, log and
 *              translation files unless its number is 0
 *
 * The recorder keeps its socket until the request is fulfilled, which closes
 * it: exec does so. If that fails, it first sends CH_CONTROL_FAILED.
 *
 * A forked process asks without strings. It closes the socket once it has what
 * its parent's trace says of its beginning; its parent waits until then.
 */
#ifndef CHRONICLE_TRACE_FORMAT_CONTROL_H
#define CHRONICLE_TRACE_FORMAT_CONTROL_H

#include "trace-format/Stream.h"

#define CH_CONTROL_VERSION 2
#define CH_CONTROL_FAILED 'F'

enum ch_control_kind {
  CH_CONTROL_EXEC = 1, /* the process is about to become another program */
  CH_CONTROL_FORK = 2, /* the process was forked by that of the asker */
};

struct ch_control_request {
  ch_u32 version; /* CH_CONTROL_VERSION */
  ch_u32 kind;
  ch_u32 asker; /* the number of the recording that the process belongs to */
  ch_u32 arguments; /* how many strings there are */
  ch_u32 variables;
  ch_u32 fork;      /* FORK: the number that its CH_EV_FORK has */
  ch_u64 bytes;     /* of all strings, which follow */
  ch_u64 auxiliary; /* FORK: where the auxiliary vector was at the start */
};
CH_STATIC_ASSERT(sizeof(struct ch_control_request) == 40, "docs/format.md");

/* The kernel allows 32 pages for one string, and at most 6 MiB for all. */
#define CH_CONTROL_MOST_BYTES (16u << 20)

struct ch_control_answer {
  ch_u32 number; /* of the new recording; 0: the process is not recorded */
  ch_u32 translations; /* how many translation files come with it */
};
CH_STATIC_ASSERT(sizeof(struct ch_control_answer) == 8, "docs/format.md");

/* An event of the stream beside those of Stream.h: the process is about to
   fork. All that it did before has been sent. The trace does not have it. */
#define CH_EV_FORK 25u
struct ch_ev_fork {
  ch_u32 thread;
  ch_u32 number; /* from 1, in this process */
};

#endif
