/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fused multiplication and addition by the processor. VEX calls software
 * routines, which take most of the time of code that was compiled for FMA.
 * CMakeLists.txt wraps them. The instruction is used where the processor has it
 * and the routine would round once, as it does. Results are then the same,
 * except that the routine gives 0 * -1 + -0 the wrong sign. In replay,
 * op_MAddF32 and op_MAddF64 (query/replay/operations/FloatOperations.h) compute
 * the same.
 */
#include "recorder/tool/core/valgrind_core.h"
#include <cpuid.h>
#include <immintrin.h>

#define AVX_AND_FMA (bit_AVX | bit_FMA | bit_OSXSAVE)
#define EXPONENT_BIAS 1023
#define EXPONENT_SPECIAL 0x7ff /* infinities and NaNs */
#define MANTISSA_BITS 53

extern void __real_h_generic_calc_MAddF32(Float *result, Float *x, Float *y,
                                          Float *z);
extern void __real_h_generic_calc_MAddF64(Double *result, Double *x, Double *y,
                                          Double *z);
void __wrap_h_generic_calc_MAddF32(Float *result, Float *x, Float *y, Float *z);
void __wrap_h_generic_calc_MAddF64(Double *result, Double *x, Double *y,
                                   Double *z);

static Bool has_instruction(void) {
  static enum { UNKNOWN, NO, YES } known;
  if (known == UNKNOWN) {
    UInt eax, ebx, ecx = 0, edx;
    __get_cpuid(1, &eax, &ebx, &ecx, &edx);
    known = (ecx & AVX_AND_FMA) == AVX_AND_FMA ? YES : NO;
  }
  return known == YES;
}

static Int exponent(const Double *value) {
  ULong bits;
  __builtin_memcpy(&bits, value, sizeof bits);
  return bits >> 52 & EXPONENT_SPECIAL;
}

/* Whether the routine computes with one rounding. It uses two if an operand is
   special, if the product is certain to overflow, and if the product is so
   small that it can only change the sign of a zero. */
static Bool rounds_once(const Double *x, const Double *y, const Double *z) {
  const Int ex = exponent(x), ey = exponent(y), product = ex + ey;
  return ex != EXPONENT_SPECIAL && ey != EXPONENT_SPECIAL &&
         exponent(z) != EXPONENT_SPECIAL &&
         product <= EXPONENT_SPECIAL + EXPONENT_BIAS &&
         product >= EXPONENT_BIAS - MANTISSA_BITS - 2;
}

__attribute__((target("fma"))) void
__wrap_h_generic_calc_MAddF64(Double *result, Double *x, Double *y, Double *z) {
  if (!has_instruction() || !rounds_once(x, y, z)) {
    __real_h_generic_calc_MAddF64(result, x, y, z);
    return;
  }
  _mm_store_sd(result,
               _mm_fmadd_sd(_mm_load_sd(x), _mm_load_sd(y), _mm_load_sd(z)));
}

/* Only the choice among NaNs differs. */
__attribute__((target("fma"))) void
__wrap_h_generic_calc_MAddF32(Float *result, Float *x, Float *y, Float *z) {
  if (has_instruction()) {
    const Float sum = _mm_cvtss_f32(
        _mm_fmadd_ss(_mm_load_ss(x), _mm_load_ss(y), _mm_load_ss(z)));
    if (sum == sum) {
      *result = sum;
      return;
    }
  }
  __real_h_generic_calc_MAddF32(result, x, y, z);
}
