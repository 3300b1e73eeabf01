// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses every rounding mode of SSE and x87, NaN payloads, infinities and
// denormals. Valgrind does not honour the mode everywhere. So the results stay
// in memory, where replay must reproduce them, and the program prints only what
// does not depend on that.
#include "Check.h"
#include <fenv.h>
#include <immintrin.h>
#include <math.h>

static volatile double Doubles[64];
static volatile float Floats[64];
static volatile int64_t Longs[64];
static volatile long double Extended[64];

static double fromBits(uint64_t Bits) {
  double Value;
  memcpy(&Value, &Bits, 8);
  return Value;
}
static uint64_t bitsOf(double Value) {
  uint64_t Bits;
  memcpy(&Bits, &Value, 8);
  return Bits;
}

static void compute(unsigned Mode) {
  static const int Modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD,
                              FE_TOWARDZERO};
  fesetround(Modes[Mode]);
  for (int I = 0; I < 64; ++I) {
    volatile double A = (I - 31) * 0.7300001, B = 3 + I * 1e-3;
    volatile float F = (float)A;
    Doubles[I] += A / B + sqrt(B) * A - B;
    Floats[I] += F / 3 + (float)B;
    Longs[I] +=
        lrint(A) + (int64_t)A + lrintf(F) + _mm_cvtsd_si32(_mm_set_sd(A * 1.5));
    Extended[I] =
        (long double)A * B + rintl((long double)A) + sqrtl((long double)B);
    Doubles[I] += nearbyint(A) + floor(A) + ceil(A) + trunc(A) + (double)F +
                  (double)Longs[I];
  }
  fesetround(FE_TONEAREST);
}

static void payloads(void) {
  static const uint64_t Special[] = {
      0x7ff8000000000001, 0x7ff800000badcafe, 0xfff8000012345678,
      0x7ff0000000000001, 0xfff4000000000042, 0x7ff0000000000000,
      0xfff0000000000000, 0x0000000000000001, 0x800fffffffffffff,
      0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000,
      0xc008000000000000, 0x7fefffffffffffff, 0x0010000000000000};
  enum { N = sizeof(Special) / sizeof(*Special) };
  for (int I = 0; I < N; ++I)
    for (int J = 0; J < N; ++J) {
      volatile double A = fromBits(Special[I]), B = fromBits(Special[J]);
      Doubles[(I + J) & 63] = A + B;
      Doubles[(I + J + 1) & 63] = A - B;
      Doubles[(I + J + 2) & 63] = A * B;
      Doubles[(I + J + 3) & 63] = A / B;
      __m128d V = _mm_set_pd(A, B), W = _mm_set_pd(B, A);
      __m128d R = _mm_add_pd(_mm_max_pd(V, W), _mm_min_sd(W, V));
      Doubles[(I + J + 4) & 63] = _mm_cvtsd_f64(R);
      Doubles[(I + J + 5) & 63] = _mm_cvtsd_f64(_mm_sqrt_sd(V, W));
      Floats[(I + J) & 63] = (float)A + (float)B;
      Longs[(I + J) & 63] = (A < B) + 2 * (A == B) + 4 * (A >= B) +
                            8 * __builtin_isunordered(A, B);
      Longs[(I + J + 1) & 63] = _mm_cvttsd_si64(V) + _mm_cvttsd_si32(W);
      long double X = A, Y = B;
      Extended[(I + J) & 63] = X + Y * X;
      hashWord((uint64_t)Longs[(I + J) & 63]);
    }
  // A quiet NaN keeps its payload through an operation with a number.
  volatile double Nan = fromBits(0x7ff800000badcafe);
  CHECK(bitsOf(Nan + 1) == 0x7ff800000badcafe);
  CHECK(bitsOf(Nan * 2) == 0x7ff800000badcafe);
}

int main(void) {
  for (unsigned Round = 0; Round < 20; ++Round)
    for (unsigned Mode = 0; Mode < 4; ++Mode)
      compute(Mode);
  payloads();
  // lrint honours the mode natively and under Valgrind.
  fesetround(FE_UPWARD);
  long Up = lrint(2.1);
  fesetround(FE_DOWNWARD);
  long Down = lrint(2.9);
  fesetround(FE_TOWARDZERO);
  long Zero = lrint(-2.9);
  fesetround(FE_TONEAREST);
  long Nearest = lrint(2.5);
  printf("%ld %ld %ld %ld %016lx\n", Up, Down, Zero, Nearest, Hash);
  return 0;
}
