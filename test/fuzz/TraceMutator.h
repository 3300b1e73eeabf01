// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Makes hostile traces: files whose structure and checksums are right and
/// whose contents are not.

#ifndef CHRONICLE_TEST_FUZZ_TRACEMUTATOR_H
#define CHRONICLE_TEST_FUZZ_TRACEMUTATOR_H

#include "trace-format/file/Directory.h"
#include "trace-format/file/Piece.h"
#include <random>
#include <vector>

namespace chronicle {

/// A trace taken apart into its pieces. Random flips of a file's bytes only
/// test the checksums: this changes what is behind them, and puts the file
/// together again, with offsets, sizes and checksums that fit.
class TraceMutator {
public:
  /// Fails if the file is not a whole trace.
  static llvm::Expected<TraceMutator> create(llvm::ArrayRef<uint8_t> File);

  /// The file with one to four changes, which depend on the seed alone.
  std::vector<uint8_t> mutate(uint64_t Seed) const;
  /// Without a change.
  std::vector<uint8_t> rebuild() const;

private:
  struct Part {
    PieceType Type;
    uint64_t Key;
    uint64_t Offset; ///< in the file that was taken apart
    file::Codec Compression;
    std::vector<uint8_t> Stored;
    uint32_t RawSize;
    bool Changed = false; ///< Stored is the raw payload
    llvm::Error open();   ///< makes it so
  };
  using Parts = std::vector<Part>;
  using Random = std::mt19937_64;

  static void change(Parts &All, Random &R);
  static void changeBytes(Part &P, const Parts &All, Random &R);
  static void changeTables(Parts &All, Random &R, unsigned Changes);
  static std::vector<uint8_t> assemble(Parts All, Random *R, unsigned Changes);

  Parts All;
};

} // namespace chronicle

#endif
