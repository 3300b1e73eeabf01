// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A 32-bit program without a library.
void _start(void) {
  __asm__ volatile("movl $1, %eax\n\txorl %ebx, %ebx\n\tint $0x80");
}
