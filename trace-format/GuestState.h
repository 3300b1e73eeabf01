/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Offsets into a snapshot: the guest state of Valgrind 3.19 for amd64. The
 * recorder asserts each against Valgrind's own header.
 */
#ifndef CHRONICLE_TRACE_FORMAT_GUESTSTATE_H
#define CHRONICLE_TRACE_FORMAT_GUESTSTATE_H

/* CH_GUEST(NAME, offset, size) */
#define CH_GUEST_FIELDS(CH_GUEST)                                              \
  CH_GUEST(RAX, 16, 8)                                                         \
  CH_GUEST(RCX, 24, 8)                                                         \
  CH_GUEST(RDX, 32, 8)                                                         \
  CH_GUEST(RBX, 40, 8)                                                         \
  CH_GUEST(RSP, 48, 8)                                                         \
  CH_GUEST(RBP, 56, 8)                                                         \
  CH_GUEST(RSI, 64, 8)                                                         \
  CH_GUEST(RDI, 72, 8)                                                         \
  CH_GUEST(R8, 80, 8)                                                          \
  CH_GUEST(R9, 88, 8)                                                          \
  CH_GUEST(R10, 96, 8)                                                         \
  CH_GUEST(R11, 104, 8)                                                        \
  CH_GUEST(R12, 112, 8)                                                        \
  CH_GUEST(R13, 120, 8)                                                        \
  CH_GUEST(R14, 128, 8)                                                        \
  CH_GUEST(R15, 136, 8)                                                        \
  CH_GUEST(CC_OP, 144, 8)   /* the flags, unevaluated: what operation */       \
  CH_GUEST(CC_DEP1, 152, 8) /* ... on which operands */                        \
  CH_GUEST(CC_DEP2, 160, 8)                                                    \
  CH_GUEST(CC_NDEP, 168, 8)                                                    \
  CH_GUEST(DFLAG, 176, 8) /* 1 or -1 */                                        \
  CH_GUEST(RIP, 184, 8)                                                        \
  CH_GUEST(ACFLAG, 192, 8)                                                     \
  CH_GUEST(IDFLAG, 200, 8)                                                     \
  CH_GUEST(FS_CONST, 208, 8) /* the fs base */                                 \
  CH_GUEST(SSEROUND, 216, 8)                                                   \
  CH_GUEST(YMM0, 224, 512) /* ymm0 to ymm15, 32 bytes each */                  \
  CH_GUEST(YMM16, 736, 32) /* Valgrind's scratch */                            \
  CH_GUEST(FTOP, 768, 4)                                                       \
  CH_GUEST(FPREG, 776, 64) /* eight doubles */                                 \
  CH_GUEST(FPTAG, 840, 8)                                                      \
  CH_GUEST(FPROUND, 848, 8)                                                    \
  CH_GUEST(FC3210, 856, 8)                                                     \
  CH_GUEST(EMNOTE, 864, 4)                                                     \
  CH_GUEST(CMSTART, 872, 8)                                                    \
  CH_GUEST(CMLEN, 880, 8)                                                      \
  CH_GUEST(NRADDR, 888, 8)                                                     \
  CH_GUEST(SC_CLASS, 896, 8)                                                   \
  CH_GUEST(GS_CONST, 904, 8)                                                   \
  CH_GUEST(IP_AT_SYSCALL, 912, 8)

enum ch_guest_offset {
#define CH_GUEST(NAME, OFFSET, SIZE) CH_OFFSET_##NAME = OFFSET,
  CH_GUEST_FIELDS(CH_GUEST)
#undef CH_GUEST
};

#endif
