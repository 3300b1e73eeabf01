// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads with the kernel's asynchronous calls. The kernel fills the buffer at
// any time between the call that submits the read and the one that reports its
// end.
#include "Check.h"
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/syscall.h>

static unsigned char Buffer[4096 + 16];

int main(void) {
  char Name[] = "async-io.XXXXXX";
  int File = mkstemp(Name);
  CHECK(File >= 0 && unlink(Name) == 0);
  char Text[4096];
  memset(Text, 'x', sizeof(Text));
  CHECK(write(File, Text, sizeof(Text)) == sizeof(Text));
  aio_context_t Context = 0;
  CHECK(syscall(SYS_io_setup, 4, &Context) == 0);
  for (int I = 0; I < 5; ++I) {
    memset(Buffer, I, sizeof(Buffer));
    struct iocb Request = {.aio_lio_opcode = IOCB_CMD_PREAD,
                           .aio_fildes = File,
                           .aio_buf = (unsigned long)(Buffer + 3),
                           .aio_nbytes = 4090};
    struct iocb *Requests[] = {&Request};
    CHECK(syscall(SYS_io_submit, Context, 1, Requests) == 1);
    // Runs long enough for a block to end.
    for (volatile int Spin = 0; Spin < 60000; ++Spin)
      Buffer[Spin % 3] = (unsigned char)Spin;
    struct io_event Event;
    CHECK(syscall(SYS_io_getevents, Context, 1, 1, &Event, NULL) == 1);
    CHECK(Event.res == 4090);
    for (int At = 3; At < 4093; ++At)
      CHECK(Buffer[At] == 'x');
    hashBytes(Buffer, sizeof(Buffer));
  }
  CHECK(syscall(SYS_io_destroy, Context) == 0);
  printf("async io done %016lx\n", (unsigned long)Hash);
  return 0;
}
