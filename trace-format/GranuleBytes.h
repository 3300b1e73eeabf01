// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Takes bytes out of a granule and puts them back, by a mask with one bit per
/// byte. Each is one shuffle without a branch, because reading a page does this
/// thousands of times, and so does writing a block.

#ifndef CHRONICLE_TRACE_FORMAT_GRANULEBYTES_H
#define CHRONICLE_TRACE_FORMAT_GRANULEBYTES_H

#include "trace-format/FileFormat.h"
#include <array>
#include <cstring>
#include <smmintrin.h>

namespace chronicle {

/// For each mask: which byte goes where. A byte with its top bit set goes
/// nowhere.
struct GranuleShuffles {
  using Shuffle = std::array<uint8_t, GranuleSize>;
  std::array<Shuffle, 256> Gather; ///< chosen bytes to the front
  std::array<Shuffle, 256> Spread; ///< from the front to their places
};

inline constexpr GranuleShuffles Shuffles = [] {
  GranuleShuffles S = {};
  for (unsigned Mask = 0; Mask < 256; ++Mask) {
    unsigned Chosen = 0;
    for (unsigned I = 0; I < GranuleSize; ++I)
      S.Gather[Mask][I] = S.Spread[Mask][I] = 0x80;
    for (unsigned I = 0; I < GranuleSize; ++I)
      if (Mask >> I & 1) {
        S.Gather[Mask][Chosen] = static_cast<uint8_t>(I);
        S.Spread[Mask][I] = static_cast<uint8_t>(Chosen++);
      }
  }
  return S;
}();

/// Writes all 8 bytes at Out, first those that the mask has.
inline void gatherBytes(const uint8_t *Granule, uint8_t Mask, uint8_t *Out) {
  __m128i From = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(Granule));
  __m128i How = _mm_loadl_epi64(
      reinterpret_cast<const __m128i *>(Shuffles.Gather[Mask].data()));
  _mm_storel_epi64(reinterpret_cast<__m128i *>(Out),
                   _mm_shuffle_epi8(From, How));
}

/// Reads 8 bytes at In, and puts as many as the mask has in their places.
inline void spreadBytes(const uint8_t *In, uint8_t Mask, uint8_t *Granule) {
  auto *To = reinterpret_cast<__m128i *>(Granule);
  __m128i From = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(In));
  __m128i How = _mm_loadl_epi64(
      reinterpret_cast<const __m128i *>(Shuffles.Spread[Mask].data()));
  // The top bit, which makes a shuffle give 0, makes a blend take the other.
  _mm_storel_epi64(To, _mm_blendv_epi8(_mm_shuffle_epi8(From, How),
                                       _mm_loadl_epi64(To), How));
}

} // namespace chronicle

#endif
