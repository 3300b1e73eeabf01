/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The program that becomes a process of a moment: it gives itself up to its
 * parent, closes every descriptor and stops. Its parent then makes it run the
 * loop below on tables of system calls, by which it empties and fills the
 * stub's memory. The loop is position independent: the parent copies it to
 * where the memory of the recorded program has room.
 *
 * rbx points to the table, r12 is its length. An entry has the number of the
 * call, six arguments and the result.
 */
__asm__(".text\n"
        ".globl _start\n"
        "_start:\n"
        "  mov $101, %eax\n" /* ptrace(PTRACE_TRACEME) */
        "  xor %edi, %edi\n"
        "  syscall\n"
        "  mov $436, %eax\n" /* close_range(0, ~0, 0) */
        "  xor %edi, %edi\n"
        "  mov $-1, %esi\n"
        "  xor %edx, %edx\n"
        "  syscall\n"
        "  int3\n"
        "loop:\n"
        "  test %r12, %r12\n"
        "  jz done\n"
        "  mov (%rbx), %rax\n"
        "  mov 8(%rbx), %rdi\n"
        "  mov 16(%rbx), %rsi\n"
        "  mov 24(%rbx), %rdx\n"
        "  mov 32(%rbx), %r10\n"
        "  mov 40(%rbx), %r8\n"
        "  mov 48(%rbx), %r9\n"
        "  syscall\n"
        "  mov %rax, 56(%rbx)\n"
        "  add $64, %rbx\n"
        "  dec %r12\n"
        "  jmp loop\n"
        "done:\n"
        "  int3\n"
        ".balign 128, 0xcc\n");
