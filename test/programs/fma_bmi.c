// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs FMA, BMI1, BMI2, LZCNT, POPCNT, MOVBE, ADX and F16C instructions.
#include "Check.h"
#include <immintrin.h>

static void keepd(__m256d V) { hashBytes(&V, sizeof(V)); }
static void keeps(__m128 V) { hashBytes(&V, sizeof(V)); }

static void bits(uint64_t A, uint64_t B) {
  hashWord(_andn_u64(A, B)), hashWord(_blsi_u64(A)), hashWord(_blsr_u64(A));
  hashWord(_blsmsk_u64(A)),
      hashWord(_bextr_u64(A, (uint32_t)B & 63, (uint32_t)(B >> 6) & 63));
  hashWord(_bzhi_u64(A, (uint32_t)B & 127)), hashWord(_pdep_u64(A, B)),
      hashWord(_pext_u64(A, B));
  hashWord(_pdep_u32((uint32_t)A, (uint32_t)B)),
      hashWord(_pext_u32((uint32_t)A, (uint32_t)B));
  hashWord(_tzcnt_u64(A)), hashWord(_lzcnt_u64(A)),
      hashWord((uint64_t)_mm_popcnt_u64(A));
  hashWord(_tzcnt_u32((uint32_t)A)), hashWord(_lzcnt_u32((uint32_t)A));
  unsigned long long High, Low = _mulx_u64(A, B, &High);
  hashWord(Low), hashWord(High);
  uint64_t R;
  __asm__("rorxq $13, %1, %0" : "=r"(R) : "r"(A));
  hashWord(R);
  __asm__("sarxq %2, %1, %0" : "=r"(R) : "r"(A), "r"(B));
  hashWord(R);
  __asm__("shlxq %2, %1, %0" : "=r"(R) : "r"(A), "r"(B));
  hashWord(R);
  __asm__("shrxl %k2, %k1, %k0" : "=r"(R) : "r"(A), "r"(B));
  hashWord((uint32_t)R);
  __asm__("movbeq %1, %0" : "=r"(R) : "m"(A));
  hashWord(R);
  uint64_t X = A, Y = B;
  __asm__("xorl %%eax, %%eax\n\tadcxq %2, %0\n\tadoxq %2, %1\n\tadcxq %1, %0"
          : "+r"(X), "+r"(Y)
          : "r"(B)
          : "rax", "cc");
  hashWord(X), hashWord(Y);
}

static void fused(double A, double B, double C) {
  __m256d X = _mm256_set_pd(A, B, C, 1), Y = _mm256_set_pd(B, C, A, 2),
          Z = _mm256_set_pd(C, A, B, -1);
  keepd(_mm256_fmadd_pd(X, Y, Z)), keepd(_mm256_fmsub_pd(X, Y, Z));
  keepd(_mm256_fnmadd_pd(X, Y, Z)), keepd(_mm256_fnmsub_pd(X, Y, Z));
  keepd(_mm256_fmaddsub_pd(X, Y, Z)), keepd(_mm256_fmsubadd_pd(X, Y, Z));
  __m128 P = _mm_set_ps((float)A, (float)B, (float)C, 1.5f),
         Q = _mm_set_ps((float)C, (float)A, 3, .1f);
  keeps(_mm_fmadd_ps(P, Q, P));
  // For a scalar FMA, Valgrind clears the upper lanes (and gives -0 where x - x
  // is +0).
  keeps(_mm_set_ss(_mm_cvtss_f32(_mm_fnmadd_ss(Q, P, Q))));
  keeps(_mm_set_ss(_mm_cvtss_f32(_mm_fmsub_ss(P, P, Q))));
  double S = __builtin_fma(A, B, C);
  hashBytes(&S, sizeof(S));
}

static void halves(float A, float B) {
  __m128i H = _mm_cvtps_ph(_mm_set_ps(A, B, A + B, A - B), 0);
  hashBytes(&H, sizeof(H));
  keeps(_mm_cvtph_ps(H));
}

int main(void) {
  for (unsigned I = 0; I < 40; ++I)
    for (unsigned J = 0; J < 24; ++J)
      bits(interesting(I), interesting(J));
  for (int I = 0; I < 300; ++I) {
    double A = (double)(int64_t)nextRandom() / 3e9,
           B = (double)(int32_t)nextRandom() * 1e-5;
    fused(A, B, -A * B * (1 + 1e-15));
    halves((float)(B * 1e-2), (float)(I * 0.75));
  }
  printf("fma %016lx\n", Hash);
  return 0;
}
