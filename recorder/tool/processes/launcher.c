/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/processes/launcher.h"

#define AF_UNIX 1
#define SOCK_STREAM 1
#define SOCK_CLOEXEC 02000000
#define SOL_SOCKET 1
#define SCM_RIGHTS 1
#define MSG_NOSIGNAL 0x4000
#define F_SETSIG 10
#define O_ASYNC 020000
#define POLLHUP 0x10

static Int control = -1, lifeline = -1;

struct descriptor_message {
  struct vki_cmsghdr header;
  Int descriptors[CH_MOST_ANSWER_DESCRIPTORS];
};

static Word call(UWord number, UWord a, UWord b, UWord c, UWord d, UWord e) {
  for (;;) {
    SysRes r = VG_(do_syscall)(number, a, b, c, d, e, 0, 0, 0);
    if (!sr_isError(r))
      return (Word)sr_Res(r);
    if (sr_Err(r) != VKI_EINTR)
      return -1;
  }
}

/* ---- the lifeline ---- */

/* Opens the pipe again, since the owner of a descriptor, whom the kernel sends
   a signal, is the same in all its copies. */
static Int own_lifeline(Int other) {
  HChar path[32];
  VG_(sprintf)(path, "/proc/self/fd/%d", other);
  SysRes opened = VG_(open)(path, VKI_O_RDONLY | VKI_O_NONBLOCK, 0);
  VG_(close)(other);
  if (sr_isError(opened))
    return -1;
  const Int own = VG_(safe_fd)(sr_Res(opened));
  VG_(fcntl)(own, VKI_F_SETOWN, VG_(getpid)());
  VG_(fcntl)(own, F_SETSIG, VKI_SIGKILL);
  VG_(fcntl)(own, VKI_F_SETFL, VKI_O_NONBLOCK | O_ASYNC);
  struct vki_pollfd poll = {own, 0, 0};
  VG_(poll)(&poll, 1, 0);
  if (poll.revents & POLLHUP)
    VG_(kill)(VG_(getpid)(), VKI_SIGKILL);
  return own;
}

void ch_launcher_init(Int control_fd, Int lifeline_fd) {
  if (control_fd < 0 || lifeline_fd < 0)
    return;
  control = VG_(safe_fd)(control_fd);
  lifeline = own_lifeline(lifeline_fd);
}

Bool ch_launcher_known(void) { return control >= 0; }

void ch_launcher_in_child(void) {
  if (lifeline >= 0)
    lifeline = own_lifeline(lifeline);
}

static void set_close_on_exec(Int fd, Bool on) {
  if (fd >= 0)
    VG_(fcntl)(fd, VKI_F_SETFD, on ? VKI_FD_CLOEXEC : 0);
}

void ch_launcher_keep_over_exec(Bool keep) {
  set_close_on_exec(control, !keep);
  set_close_on_exec(lifeline, !keep);
}

Int ch_launcher_control(void) { return control; }
Int ch_launcher_lifeline(void) { return lifeline; }

/* ---- requests ---- */

static Bool send_descriptor(Int socket, Int descriptor) {
  struct descriptor_message rights;
  HChar byte = 0;
  struct vki_iovec data = {&byte, 1};
  struct vki_msghdr message;
  VG_(memset)(&message, 0, sizeof message);
  rights.header.cmsg_len = sizeof rights.header + sizeof(Int);
  rights.header.cmsg_level = SOL_SOCKET;
  rights.header.cmsg_type = SCM_RIGHTS;
  rights.descriptors[0] = descriptor;
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = &rights;
  message.msg_controllen = sizeof rights.header + 8; /* aligned */
  return call(__NR_sendmsg, socket, (UWord)&message, MSG_NOSIGNAL, 0, 0) == 1;
}

static Bool send_all(Int socket, const void *from, SizeT length) {
  while (length) {
    const Word n =
        call(__NR_sendto, socket, (UWord)from, length, MSG_NOSIGNAL, 0);
    if (n <= 0)
      return False;
    from = (const UChar *)from + n;
    length -= n;
  }
  return True;
}

static void receive(Int socket, struct ch_launcher_answer *answer) {
  struct ch_control_answer head;
  struct descriptor_message rights;
  struct vki_iovec data = {&head, sizeof head};
  struct vki_msghdr message;
  VG_(memset)(&message, 0, sizeof message);
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = &rights;
  message.msg_controllen = sizeof rights;
  if (call(__NR_recvmsg, socket, (UWord)&message, 0, 0, 0) != sizeof head)
    return;
  if (message.msg_controllen >= sizeof rights.header &&
      rights.header.cmsg_level == SOL_SOCKET &&
      rights.header.cmsg_type == SCM_RIGHTS) {
    answer->received =
        (rights.header.cmsg_len - sizeof rights.header) / sizeof(Int);
    VG_(memcpy)(answer->descriptors, rights.descriptors,
                answer->received * sizeof(Int));
  }
  /* If the program has no numbers of descriptors left, some are missing. */
  answer->number = answer->received == 2 + head.translations ? head.number : 0;
}

Int ch_launcher_ask(const struct ch_control_request *request,
                    const HChar *const *strings, UInt count,
                    struct ch_launcher_answer *answer) {
  Int pair[2];
  VG_(memset)(answer, 0, sizeof *answer);
  if (control < 0 || call(__NR_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC,
                          0, (UWord)pair, 0) != 0)
    return -1;
  Bool sent = send_descriptor(control, pair[1]);
  VG_(close)(pair[1]);
  sent = sent && send_all(pair[0], request, sizeof *request);
  for (UInt i = 0; sent && i < count; i++)
    sent = send_all(pair[0], strings[i], VG_(strlen)(strings[i]) + 1);
  if (sent)
    receive(pair[0], answer);
  return pair[0];
}

void ch_launcher_take_back(Int socket, struct ch_launcher_answer *answer) {
  const HChar failed = CH_CONTROL_FAILED;
  for (UInt i = 0; i < answer->received; i++)
    VG_(close)(answer->descriptors[i]);
  answer->received = 0;
  if (socket < 0)
    return;
  (void)send_all(socket, &failed, 1);
  VG_(close)(socket);
}
