// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs x87 instructions, which have 64-bit precision under Valgrind. What is
// printed is exact in either precision; replay must reproduce the rest.
#include "Check.h"
#include <math.h>

static volatile double Sink;

static void arithmetic(void) {
  volatile long double A = 3, B = 0.5L, C;
  C = A + B;
  CHECK(C == 3.5L);
  C = A - B;
  CHECK(C == 2.5L);
  C = A * B;
  CHECK(C == 1.5L);
  C = A / B;
  CHECK(C == 6);
  C = -A;
  CHECK(C == -3);
  C = __builtin_fabsl(C);
  CHECK(C == 3);
  C = sqrtl(16);
  CHECK(C == 4);
  long Integer = (long)(A * 100);
  CHECK(Integer == 300 && (int)B == 0 && (short)A == 3);
  CHECK(A > B && B < A && A != B && !(A <= B));
  C = (long double)Integer + (long double)(int)7 + (long double)(short)Integer;
  printf("%Lg\n", C);
}

#define UNARY(Name, Insn)                                                      \
  static double Name(double X) {                                               \
    double R;                                                                  \
    __asm__ volatile(Insn : "=t"(R) : "0"(X));                                 \
    return R;                                                                  \
  }
UNARY(fsin, "fsin")
UNARY(fcos, "fcos")
UNARY(f2xm1, "f2xm1")
UNARY(frndint, "frndint")
UNARY(fsqrt, "fsqrt")
UNARY(fabs87, "fabs")
UNARY(fchs, "fchs")
UNARY(fptan, "fptan\n\tfstp %%st(0)")

static void transcendental(void) {
  for (int I = -50; I < 50; ++I) {
    double X = I * 0.37, R;
    Sink += fsin(X) + fcos(X) + f2xm1(I / 64.0) + frndint(X) +
            fsqrt(fabs87(X)) + fchs(X);
    Sink += fptan(X / 10);
    __asm__ volatile("fpatan" : "=t"(R) : "0"(X), "u"(1.5) : "st(1)");
    Sink += R;
    __asm__ volatile("fyl2x" : "=t"(R) : "0"(X * X + 1), "u"(2.0) : "st(1)");
    Sink += R;
    __asm__ volatile("fscale\n\tfstp %%st(1)"
                     : "=t"(R)
                     : "0"(X), "u"(3.0)
                     : "st(1)");
    Sink += R;
    __asm__ volatile("fprem\n\tfstp %%st(1)"
                     : "=t"(R)
                     : "0"(X), "u"(1.25)
                     : "st(1)");
    Sink += R;
    __asm__ volatile("fprem1\n\tfstp %%st(1)"
                     : "=t"(R)
                     : "0"(X), "u"(1.25)
                     : "st(1)");
    Sink += R;
    Sink +=
        (double)logl(X * X + 1) + (double)expl(X / 9) + (double)powl(2, X / 5);
    __asm__ volatile(
        "fldpi\n\tfldl2e\n\tfaddp\n\tfldln2\n\tfmulp\n\tfldlg2\n\tfsubrp\n\t"
        "fldl2t\n\tfdivp\n\tfld1\n\tfxch\n\tfsubp\n\tfldz\n\tfaddp"
        : "=t"(R));
    Sink += R;
  }
}

static void stackAndStores(void) {
  double Out[8];
  float Small[2];
  int16_t Short;
  int32_t Int;
  int64_t Long;
  long double Extended;
  unsigned char Bcd[10];
  __asm__ volatile(
      "fninit\n\t"
      "fld1\n\tfld1\n\tfadd %%st(1), %%st\n\tfld %%st(1)\n\t"
      "fmul %%st(1), %%st\n\tfxch %%st(2)\n\tfaddp\n\t"
      "fstl %0\n\tfsts %1\n\tfistl %3\n\tfistps %2\n\t"
      "fldl %0\n\tfistpll %4\n\tfldl %0\n\tfstpt %5\n\tfstp %%st(0)"
      : "=m"(Out[0]), "=m"(Small[0]), "=m"(Short), "=m"(Int), "=m"(Long),
        "=m"(Extended));
  (void)Bcd;
  printf("%g %g %d %d %ld %g\n", Out[0], (double)Small[0], Short, Int, Long,
         (double)Extended);
  uint16_t Status;
  __asm__ volatile("fldz\n\tfld1\n\tfucompp\n\tfnstsw %0" : "=a"(Status));
  printf("compare %x\n", Status & 0x4500);
  uint8_t Above;
  __asm__ volatile(
      "fldz\n\tfld1\n\tfcomip %%st(1), %%st\n\tseta %0\n\tfstp %%st(0)"
      : "=q"(Above)
      :
      : "cc");
  CHECK(Above);
  double Moved;
  __asm__ volatile("fldz\n\tfld1\n\ttestl %%eax, %%eax\n\tfcmove %%st(1), "
                   "%%st\n\tfstp %%st(1)"
                   : "=t"(Moved)
                   : "a"(0)
                   : "cc");
  CHECK(Moved == 0);
  char Environment[28], State[108];
  __asm__ volatile("fld1\n\tfnstenv %0\n\tfldenv %0\n\tfnsave %1\n\tfrstor "
                   "%1\n\tfstp %%st(0)"
                   : "=m"(Environment), "=m"(State));
  uint16_t Control, Single = 0x007f;
  __asm__ volatile("fnstcw %0\n\tfldcw %1\n\tfldcw %0"
                   : "=m"(Control)
                   : "m"(Single));
  printf("control %x\n", Control);
  // MMX shares the registers.
  uint64_t Mm = 0x0001000200030004, Sum;
  __asm__ volatile(
      "movq %1, %%mm0\n\tpaddw %%mm0, %%mm0\n\tpmullw %1, %%mm0\n\t"
      "movq %%mm0, %0\n\temms"
      : "=m"(Sum)
      : "m"(Mm));
  printf("mmx %016lx\n", Sum);
}

int main(void) {
  arithmetic();
  transcendental();
  stackAndStores();
  return 0;
}
