// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs SSE to SSE4.2, AES and carry-less multiplication on registers and
// memory. Results with unspecified bits (reciprocal estimates) are computed but
// not printed; replay must reproduce them all the same.
#include "Check.h"
#include <immintrin.h>

static __m128i Values[64];
static volatile uint64_t Sink;

static void keep(__m128i V) { hashBytes(&V, sizeof(V)); }
static void keepd(__m128d V) { keep(_mm_castpd_si128(V)); }
static void keeps(__m128 V) { keep(_mm_castps_si128(V)); }

static void integers(__m128i A, __m128i B) {
#define I(Op) keep(Op(A, B));
  // clang-format off
  I(_mm_add_epi8) I(_mm_add_epi16) I(_mm_add_epi32) I(_mm_add_epi64)
  I(_mm_sub_epi8) I(_mm_sub_epi16) I(_mm_sub_epi32) I(_mm_sub_epi64)
  I(_mm_adds_epi8) I(_mm_adds_epi16) I(_mm_adds_epu8) I(_mm_adds_epu16)
  I(_mm_subs_epi8) I(_mm_subs_epi16) I(_mm_subs_epu8) I(_mm_subs_epu16)
  I(_mm_mullo_epi16) I(_mm_mulhi_epi16) I(_mm_mulhi_epu16) I(_mm_mul_epu32)
  I(_mm_madd_epi16) I(_mm_sad_epu8) I(_mm_avg_epu8) I(_mm_avg_epu16)
  I(_mm_min_epu8) I(_mm_max_epu8) I(_mm_min_epi16) I(_mm_max_epi16)
  I(_mm_and_si128) I(_mm_or_si128) I(_mm_xor_si128) I(_mm_andnot_si128)
  I(_mm_cmpeq_epi8) I(_mm_cmpeq_epi16) I(_mm_cmpeq_epi32) I(_mm_cmpgt_epi8)
  I(_mm_cmpgt_epi16) I(_mm_cmpgt_epi32) I(_mm_unpackhi_epi8)
  I(_mm_unpacklo_epi8) I(_mm_unpackhi_epi16) I(_mm_unpacklo_epi16)
  I(_mm_unpackhi_epi32) I(_mm_unpacklo_epi32) I(_mm_unpackhi_epi64)
  I(_mm_unpacklo_epi64) I(_mm_packs_epi16) I(_mm_packs_epi32)
  I(_mm_packus_epi16)
  // SSSE3
  I(_mm_shuffle_epi8) I(_mm_hadd_epi16) I(_mm_hadd_epi32) I(_mm_hadds_epi16)
  I(_mm_hsub_epi16) I(_mm_hsub_epi32) I(_mm_hsubs_epi16) I(_mm_maddubs_epi16)
  I(_mm_mulhrs_epi16) I(_mm_sign_epi8) I(_mm_sign_epi16) I(_mm_sign_epi32)
  // SSE4.1
  I(_mm_packus_epi32) I(_mm_cmpeq_epi64) I(_mm_mul_epi32) I(_mm_mullo_epi32)
  I(_mm_min_epi8) I(_mm_max_epi8) I(_mm_min_epu16) I(_mm_max_epu16)
  I(_mm_min_epi32) I(_mm_max_epi32) I(_mm_min_epu32) I(_mm_max_epu32)
  // SSE4.2
  I(_mm_cmpgt_epi64)
  // AES
  I(_mm_aesenc_si128) I(_mm_aesenclast_si128) I(_mm_aesdec_si128)
  I(_mm_aesdeclast_si128);
  // clang-format on
#undef I
  keep(_mm_aesimc_si128(A)), keep(_mm_aeskeygenassist_si128(A, 0x1b));
  keep(_mm_clmulepi64_si128(A, B, 0x00)),
      keep(_mm_clmulepi64_si128(A, B, 0x11));
  keep(_mm_abs_epi8(A)), keep(_mm_abs_epi16(A)), keep(_mm_abs_epi32(A));
  keep(_mm_alignr_epi8(A, B, 5)), keep(_mm_mpsadbw_epu8(A, B, 5));
  keep(_mm_minpos_epu16(A)), keep(_mm_blendv_epi8(A, B, _mm_xor_si128(A, B)));
  keep(_mm_blend_epi16(A, B, 0x5a)), keep(_mm_shuffle_epi32(A, 0x1b));
  keep(_mm_shufflelo_epi16(A, 0x39)), keep(_mm_shufflehi_epi16(A, 0x93));
  keep(_mm_cvtepi8_epi16(A)), keep(_mm_cvtepu8_epi32(A)),
      keep(_mm_cvtepi32_epi64(A));
  keep(_mm_insert_epi16(A, 77, 3)), keep(_mm_insert_epi64(A, 99, 1));
  hashWord((uint64_t)_mm_extract_epi16(A, 5)),
      hashWord((uint64_t)_mm_movemask_epi8(A));
  hashWord((uint64_t)_mm_extract_epi64(B, 1)),
      hashWord((uint64_t)_mm_testz_si128(A, B));
  __m128i Count =
      _mm_set_epi64x(0, (long long)(((uint64_t)_mm_cvtsi128_si64(B)) & 127));
  keep(_mm_sll_epi16(A, Count)), keep(_mm_srl_epi32(A, Count)),
      keep(_mm_sra_epi32(A, Count));
  keep(_mm_sll_epi64(A, Count)), keep(_mm_sra_epi16(A, Count)),
      keep(_mm_srl_epi64(A, Count));
  keep(_mm_slli_epi32(A, 7)), keep(_mm_srai_epi16(A, 3)),
      keep(_mm_srli_epi64(A, 11));
  keep(_mm_slli_si128(A, 3)), keep(_mm_srli_si128(A, 9));
}

static void strings(__m128i A, __m128i B) {
  hashWord((uint64_t)_mm_cmpistri(A, B, 0x00)),
      hashWord((uint64_t)_mm_cmpistri(A, B, 0x0c));
  hashWord((uint64_t)_mm_cmpistri(A, B, 0x44)),
      hashWord((uint64_t)_mm_cmpistrz(A, B, 0x18));
  hashWord((uint64_t)_mm_cmpestri(A, 7, B, 12, 0x00)),
      keep(_mm_cmpistrm(A, B, 0x40));
  hashWord((uint64_t)_mm_cmpestri(A, 16, B, 16, 0x44));
  hashWord(_mm_crc32_u64(1, (uint64_t)_mm_cvtsi128_si64(A)));
  hashWord(_mm_crc32_u8(2, (uint8_t)_mm_cvtsi128_si32(B)));
}

static void floats(__m128 A, __m128 B) {
#define F(Op) keeps(Op(A, B));
  // clang-format off
  F(_mm_add_ps) F(_mm_sub_ps) F(_mm_mul_ps) F(_mm_div_ps) F(_mm_min_ps)
  F(_mm_max_ps) F(_mm_add_ss) F(_mm_sub_ss) F(_mm_mul_ss) F(_mm_div_ss)
  F(_mm_min_ss) F(_mm_max_ss) F(_mm_cmpeq_ps) F(_mm_cmplt_ps) F(_mm_cmple_ps)
  F(_mm_cmpunord_ps) F(_mm_cmpneq_ps) F(_mm_cmpnlt_ss) F(_mm_hadd_ps)
  F(_mm_hsub_ps) F(_mm_addsub_ps) F(_mm_unpackhi_ps) F(_mm_movelh_ps)
  F(_mm_movehl_ps);
  // clang-format on
#undef F
  keeps(_mm_sqrt_ps(_mm_mul_ps(A, A))), keeps(_mm_shuffle_ps(A, B, 0x4e));
  keep(_mm_cvtps_epi32(A)), keep(_mm_cvttps_epi32(B)), keepd(_mm_cvtps_pd(A));
  keeps(_mm_round_ps(A, 1)), keeps(_mm_dp_ps(A, B, 0xff)),
      keeps(_mm_blend_ps(A, B, 5));
  hashWord((uint64_t)_mm_movemask_ps(A)),
      hashWord((uint64_t)_mm_comilt_ss(A, B));
  __m128 Estimate = _mm_add_ps(_mm_rcp_ps(A), _mm_rsqrt_ps(B));
  Sink += (uint64_t)_mm_cvtsi128_si64(_mm_castps_si128(Estimate));
}

static void doubles(__m128d A, __m128d B) {
#define D(Op) keepd(Op(A, B));
  // clang-format off
  D(_mm_add_pd) D(_mm_sub_pd) D(_mm_mul_pd) D(_mm_div_pd) D(_mm_min_pd)
  D(_mm_max_pd) D(_mm_add_sd) D(_mm_sub_sd) D(_mm_mul_sd) D(_mm_div_sd)
  D(_mm_min_sd) D(_mm_max_sd) D(_mm_cmpeq_pd) D(_mm_cmplt_pd) D(_mm_cmple_sd)
  D(_mm_cmpunord_pd) D(_mm_cmpneq_pd) D(_mm_hadd_pd) D(_mm_addsub_pd)
  D(_mm_unpacklo_pd);
  // clang-format on
#undef D
  keepd(_mm_sqrt_pd(_mm_mul_pd(A, A))), keep(_mm_cvtpd_epi32(A)),
      keep(_mm_cvttpd_epi32(B));
  keeps(_mm_cvtpd_ps(A)), keepd(_mm_floor_pd(A)), keepd(_mm_ceil_sd(A, B));
  hashWord((uint64_t)_mm_cvttsd_si64(A)), hashWord((uint64_t)_mm_cvtsd_si32(B));
  hashWord((uint64_t)_mm_comile_sd(A, B)),
      hashWord((uint64_t)_mm_ucomieq_sd(A, B));
  keepd(_mm_cvtsi64_sd(A, (long long)nextRandom()));
}

// NaNs keep their payload. Which of two wins is not printed; replay must
// reproduce it.
static double finiteOf(uint64_t Bits) {
  double Value;
  Bits = (Bits & 0x800fffffffffffff) | ((uint64_t)(1000 + Bits % 40) << 52);
  memcpy(&Value, &Bits, 8);
  return Value;
}

int main(void) {
  for (int I = 0; I < 64; ++I)
    Values[I] = _mm_set_epi64x((long long)interesting((unsigned)I & 31),
                               (long long)nextRandom());
  for (int I = 0; I < 64; ++I) {
    __m128i A = Values[I], B = Values[I * 37 % 64];
    integers(A, B), strings(A, B);
    double X = finiteOf(nextRandom()), Y = finiteOf(nextRandom());
    doubles(_mm_set_pd(X, Y), _mm_set_pd(Y * 3, X / 7));
    floats(_mm_set_ps((float)X, (float)Y, 1.5f, -2.25f),
           _mm_set_ps((float)Y, 3, 1e-3f, 7));
  }
  char Buffer[80];
  for (int I = 0; I < 17; ++I) {
    _mm_storeu_si128((__m128i *)(Buffer + I), Values[I]);
    _mm_storel_epi64((__m128i *)(Buffer + 40 + I), Values[I]);
    _mm_maskmoveu_si128(Values[I], Values[I + 1], Buffer + 20);
  }
  _mm_stream_si128(&Values[3], Values[4]);
  _mm_sfence();
  hashBytes(Buffer, 60), hashBytes(Values, sizeof(Values));
  unsigned Csr = _mm_getcsr();
  _mm_setcsr(Csr);
  unsigned char Area[512] __attribute__((aligned(16)));
  __asm__ volatile("fxsave %0" : "=m"(Area));
  __asm__ volatile("fxrstor %0" : : "m"(Area));
  printf("sse %016lx\n", Hash);
  return 0;
}
