// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs AVX and AVX2 instructions: 256-bit arithmetic, permutes, gathers, masked
// moves and broadcasts.
#include "Check.h"
#include <immintrin.h>

static void keep(__m256i V) { hashBytes(&V, sizeof(V)); }
static void keepd(__m256d V) { keep(_mm256_castpd_si256(V)); }
static void keeps(__m256 V) { keep(_mm256_castps_si256(V)); }

static void integers(__m256i A, __m256i B) {
#define I(Op) keep(_mm256_##Op(A, B));
  // clang-format off
  I(add_epi8) I(add_epi16) I(add_epi32) I(add_epi64) I(sub_epi8) I(sub_epi16)
  I(sub_epi32) I(sub_epi64) I(adds_epi8) I(adds_epu16) I(subs_epu8)
  I(subs_epi16) I(mullo_epi16) I(mullo_epi32) I(mulhi_epi16) I(mulhi_epu16)
  I(mul_epu32) I(mul_epi32) I(madd_epi16) I(maddubs_epi16) I(mulhrs_epi16)
  I(sad_epu8) I(avg_epu8) I(avg_epu16) I(min_epu8) I(max_epu8) I(min_epi8)
  I(max_epi8) I(min_epi16) I(max_epu16) I(min_epi32) I(max_epi32) I(min_epu32)
  I(max_epu32) I(and_si256) I(or_si256) I(xor_si256) I(andnot_si256)
  I(cmpeq_epi8) I(cmpeq_epi16) I(cmpeq_epi32) I(cmpeq_epi64) I(cmpgt_epi8)
  I(cmpgt_epi16) I(cmpgt_epi32) I(cmpgt_epi64) I(unpackhi_epi8)
  I(unpacklo_epi16) I(unpackhi_epi32) I(unpacklo_epi64) I(packs_epi16)
  I(packs_epi32) I(packus_epi16) I(packus_epi32) I(shuffle_epi8) I(hadd_epi16)
  I(hadd_epi32) I(hsub_epi16) I(hadds_epi16) I(sign_epi8) I(sign_epi16)
  I(sign_epi32) I(sllv_epi32) I(sllv_epi64) I(srlv_epi32) I(srlv_epi64)
  I(srav_epi32) I(permutevar8x32_epi32);
  // clang-format on
#undef I
  keep(_mm256_abs_epi8(A)), keep(_mm256_abs_epi32(A)),
      keep(_mm256_alignr_epi8(A, B, 9));
  keep(_mm256_blend_epi16(A, B, 0x5a)), keep(_mm256_blend_epi32(A, B, 0x36));
  keep(_mm256_blendv_epi8(A, B, _mm256_xor_si256(A, B))),
      keep(_mm256_mpsadbw_epu8(A, B, 0x2d));
  keep(_mm256_permute4x64_epi64(A, 0x1b)),
      keep(_mm256_permute2x128_si256(A, B, 0x21));
  keep(_mm256_permute2x128_si256(A, B, 0x83)),
      keep(_mm256_shuffle_epi32(A, 0x93));
  keep(_mm256_slli_epi64(A, 5)), keep(_mm256_srai_epi32(A, 9)),
      keep(_mm256_slli_si256(A, 3));
  __m128i Low = _mm256_castsi256_si128(A),
          High = _mm256_extracti128_si256(B, 1);
  keep(_mm256_broadcastb_epi8(Low)), keep(_mm256_broadcastd_epi32(High));
  keep(_mm256_broadcastsi128_si256(Low)),
      keep(_mm256_inserti128_si256(A, High, 0));
  keep(_mm256_cvtepi8_epi16(Low)), keep(_mm256_cvtepu16_epi32(High)),
      keep(_mm256_cvtepi32_epi64(Low));
  hashWord((uint64_t)_mm256_movemask_epi8(A)),
      hashWord((uint64_t)_mm256_testc_si256(A, B));
  hashWord((uint64_t)_mm256_testz_si256(A, B));
}

static void floats(__m256 A, __m256 B) {
#define F(Op) keeps(_mm256_##Op##_ps(A, B));
  // clang-format off
  F(add) F(sub) F(mul) F(div) F(min) F(max) F(hadd) F(hsub) F(addsub)
  F(unpackhi) F(and) F(or) F(xor) F(andnot);
  // clang-format on
#undef F
  keeps(_mm256_cmp_ps(A, B, _CMP_LT_OQ)),
      keeps(_mm256_cmp_ps(A, B, _CMP_NEQ_UQ));
  keeps(_mm256_sqrt_ps(_mm256_mul_ps(A, A))), keeps(_mm256_dp_ps(A, B, 0xf1));
  keeps(_mm256_round_ps(A, 3)), keeps(_mm256_shuffle_ps(A, B, 0x4e)),
      keep(_mm256_cvtps_epi32(A));
  keeps(_mm256_permute_ps(A, 0x1b)), keeps(_mm256_moveldup_ps(A)),
      keeps(_mm256_movehdup_ps(A));
  keeps(_mm256_permutevar8x32_ps(A, _mm256_castps_si256(B))),
      keeps(_mm256_blendv_ps(A, B, A));
  hashWord((uint64_t)_mm256_movemask_ps(A));
}

static void doubles(__m256d A, __m256d B) {
#define D(Op) keepd(_mm256_##Op##_pd(A, B));
  // clang-format off
  D(add) D(sub) D(mul) D(div) D(min) D(max) D(hadd) D(hsub) D(addsub)
  D(unpacklo);
  // clang-format on
#undef D
  keepd(_mm256_cmp_pd(A, B, _CMP_GE_OQ)),
      keepd(_mm256_sqrt_pd(_mm256_mul_pd(A, A)));
  keepd(_mm256_floor_pd(A)), keepd(_mm256_permute_pd(A, 5)),
      keepd(_mm256_movedup_pd(B));
  keepd(_mm256_cvtps_pd(_mm256_cvtpd_ps(A))),
      keepd(_mm256_cvtepi32_pd(_mm256_cvtpd_epi32(B)));
  keepd(_mm256_permute4x64_pd(A, 0x39)), keepd(_mm256_blend_pd(A, B, 6));
}

int main(void) {
  static int64_t Table[256] __attribute__((aligned(32)));
  static int32_t Narrow[256] __attribute__((aligned(32)));
  for (int I = 0; I < 256; ++I)
    Table[I] = (int64_t)interesting((unsigned)I & 63),
    Narrow[I] = (int32_t)nextRandom();
  for (int I = 0; I < 60; ++I) {
    __m256i A = _mm256_load_si256((__m256i *)(Table + I / 4 * 4));
    __m256i B = _mm256_loadu_si256((__m256i *)(Table + I * 3));
    integers(A, B);
    double X = (double)(int32_t)nextRandom() / 1024,
           Y = (double)(int32_t)nextRandom() * 77;
    doubles(_mm256_set_pd(X, Y, 1, -3), _mm256_set_pd(Y, 2, X, 0.1));
    floats(_mm256_set_ps((float)X, 1, (float)Y, 4, 5, -6, 7, .3f),
           _mm256_set1_ps((float)(X * Y)));
    __m256i Index = _mm256_set_epi32(I, 3, 200, 7, 9, I * 4, 1, 0);
    keep(_mm256_i32gather_epi32(Narrow, Index, 4));
    keep(_mm256_mask_i32gather_epi32(A, Narrow, Index, B, 4));
    keep(_mm256_i32gather_epi64((long long *)Table,
                                _mm256_castsi256_si128(Index), 8));
    keepd(
        _mm256_i64gather_pd((double *)Table, _mm256_set_epi64x(I, 2, 3, 4), 8));
    keep(_mm256_maskload_epi32(Narrow + I, B));
    _mm256_maskstore_epi64((long long *)Table + I, B, A);
    _mm256_maskstore_epi32(Narrow + I, A, B);
    _mm256_stream_si256((__m256i *)(Narrow + I / 8 * 8), A);
    _mm256_storeu_si256((__m256i *)(Narrow + I), B);
    keepd(_mm256_broadcast_sd((double *)Table + I)),
        keeps(_mm256_broadcast_ss((float *)Narrow + I));
  }
  _mm256_zeroupper();
  hashBytes(Table, sizeof(Table)), hashBytes(Narrow, sizeof(Narrow));
  _mm256_zeroall();
  printf("avx %016lx\n", Hash);
  return 0;
}
