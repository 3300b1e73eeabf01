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
 */
#ifndef CHRONICLE_TRACE_FORMAT_CONTROL_H
#define CHRONICLE_TRACE_FORMAT_CONTROL_H

#include "trace-format/Stream.h"

#define CH_CONTROL_VERSION 1
#define CH_CONTROL_FAILED 'F'

enum ch_control_kind {
  CH_CONTROL_EXEC = 1, /* the process is about to become another program */
};

struct ch_control_request {
  ch_u32 version; /* CH_CONTROL_VERSION */
  ch_u32 kind;
  ch_u32 asker; /* the number of the recording that the process belongs to */
  ch_u32 arguments; /* how many strings there are */
  ch_u32 variables;
  ch_u32 reserved;
  ch_u64 bytes; /* of all strings, which follow */
};
CH_STATIC_ASSERT(sizeof(struct ch_control_request) == 32, "docs/format.md");

/* The kernel allows 32 pages for one string, and at most 6 MiB for all. */
#define CH_CONTROL_MOST_BYTES (16u << 20)

struct ch_control_answer {
  ch_u32 number; /* of the new recording; 0: the process is not recorded */
  ch_u32 translations; /* how many translation files come with it */
};
CH_STATIC_ASSERT(sizeof(struct ch_control_answer) == 8, "docs/format.md");

#endif
