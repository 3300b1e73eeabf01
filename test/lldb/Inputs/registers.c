// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every register has a value that is known.
__attribute__((naked, noinline)) void filled(void) {
  __asm__("movabs $0x1111111111111111, %rax\n"
          "movabs $0x2222222222222222, %rcx\n"
          "movabs $0x3333333333333333, %rdx\n"
          "movabs $0x4444444444444444, %rsi\n"
          "movabs $0x5555555555555555, %rdi\n"
          "movabs $0x6666666666666666, %r8\n"
          "movabs $0x7777777777777777, %r9\n"
          "movabs $0x8888888888888888, %r10\n"
          "movabs $0x9999999999999999, %r11\n"
          "movq %rax, %xmm0\n"
          "movq %rcx, %xmm1\n"
          "pinsrq $1, %rdx, %xmm1\n"
          "pcmpeqd %xmm2, %xmm2\n"
          "vmovq %rsi, %xmm3\n"
          "vinserti128 $1, %xmm1, %ymm3, %ymm3\n"
          "vpcmpeqd %ymm15, %ymm15, %ymm15\n"
          "vpsrlq $4, %ymm15, %ymm15\n"
          "fninit\n"
          "fld1\n"
          "fldz\n"
          "fldl2e\n"
          "fstp %st(0)\n"
          "stc\n"
          ".globl there\n"
          "there: nop\n" // everything is set
          "cmp %rax, %rax\n"
          "std\n"
          ".globl flags\n"
          "flags: nop\n"
          "cld\n"
          "fninit\n"
          "vzeroall\n"
          "ret\n");
}

int main(void) {
  filled();
  return 0;
}
