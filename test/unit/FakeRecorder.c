/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Stands in for the recorder in SupervisorTest: takes the recorder's command
 * line, publishes one last chunk in the ring, and becomes the program. With
 * FAKE_RECORDER_FAILS=<status> it complains to the log and ends instead.
 */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier): the C library asks
                    // for it.
#include "trace-format/Stream.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int ring = -1, log = -1, at;
  for (at = 1; at < argc && strcmp(argv[at], "--") != 0; ++at) {
    sscanf(argv[at], "--ring-fd=%d", &ring);
    sscanf(argv[at], "--log-fd=%d", &log);
  }
  const char *failure = getenv("FAKE_RECORDER_FAILS");
  if (failure) {
    dprintf(log, "==%d== \nvalgrind: %s: cannot be loaded\n", getpid(),
            argv[at + 1]);
    return atoi(failure);
  }
  if (!getenv("VALGRIND_LAUNCHER"))
    return 99;
  unsetenv("VALGRIND_LAUNCHER");
  struct stat status;
  if (fstat(ring, &status) != 0)
    return 98;
  struct ch_ring_header *header =
      mmap(0, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
  if (header == MAP_FAILED || header->magic != CH_RING_MAGIC)
    return 97;
  struct ch_chunk_header *chunk =
      (void *)((char *)header + CH_RING_HEADER_SIZE);
  chunk->number = 1;
  chunk->flags = CH_CHUNK_LAST | CH_CHUNK_BLOCK_END;
  __atomic_store_n(&header->published, 1, __ATOMIC_RELEASE);
  close(ring);
  close(log);
  execvp(argv[at + 1], argv + at + 1);
  return 96;
}
