/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/passed_descriptors.h"
#include "recorder/tool/memory/reading.h"

#define SOL_SOCKET 1
#define SCM_RIGHTS 1
#define MOST_MESSAGES 1024

/* Whether control data of a message has descriptors. Data that cannot be read
   makes the call fail. */
static Bool control_has(Addr control, SizeT length) {
  struct vki_cmsghdr c;
  while (length >= sizeof c) {
    if (ch_memory_read(control, &c, sizeof c) != sizeof c ||
        c.cmsg_len < sizeof c || c.cmsg_len > length)
      return False;
    if (c.cmsg_level == SOL_SOCKET && c.cmsg_type == SCM_RIGHTS)
      return True;
    const SizeT n = VG_ROUNDUP(c.cmsg_len, sizeof(UWord));
    if (n >= length)
      return False;
    control += n;
    length -= n;
  }
  return False;
}

static Bool message_has(Addr message) {
  struct vki_msghdr m;
  return ch_memory_read(message, &m, sizeof m) == sizeof m &&
         control_has((Addr)m.msg_control, m.msg_controllen);
}

Bool ch_passes_descriptors(UInt number, const UWord *args) {
  if (number == __NR_sendmsg)
    return message_has(args[1]);
  const UInt count = args[2] < MOST_MESSAGES ? args[2] : MOST_MESSAGES;
  for (UInt i = 0; i < count; i++)
    if (message_has(args[1] + i * sizeof(struct vki_mmsghdr)))
      return True;
  return False;
}
