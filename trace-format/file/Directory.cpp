// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/file/Directory.h"

using namespace llvm;

namespace chronicle::file {

/// Sections that a reader may do without. They go on from TotalsSection.
static constexpr uint8_t StartsSection = 5, CopiesSection = 6;

void encodeDirectory(ByteWriter &Out, const Directory &D) {
  auto Section = [&](uint8_t Id, const ByteWriter &Bytes) {
    Out.u8(Id);
    Out.v(Bytes.size());
    Out.bytes(Bytes.data());
  };
  ByteWriter Pieces;
  Pieces.v(D.Pieces.size());
  uint64_t Offset = 0;
  for (const OtherPiece &P : D.Pieces) {
    Pieces.u8(uint8_t(P.Type));
    Pieces.v(P.Offset - Offset);
    Pieces.v(P.Key);
    Offset = P.Offset;
  }
  Section(PiecesSection, Pieces);
  ByteWriter Starts;
  Starts.v(D.Starts.size());
  for (const DefinitionStart &S : D.Starts) {
    Starts.v(S.Superblock);
    Starts.v(S.Exit);
  }
  Section(StartsSection, Starts);
  ByteWriter Copies;
  Copies.v(D.Copies.size());
  for (const PieceCopy &C : D.Copies) {
    Copies.v(C.Offset);
    Copies.v(C.Raw.size());
    Copies.bytes(C.Raw);
  }
  Section(CopiesSection, Copies);
  // The totals come last, so that a directory that was cut off is not taken for
  // a whole one.
  ByteWriter Totals;
  Totals.v(D.Instructions);
  Totals.v(D.Blocks);
  Totals.v(D.Executions);
  Section(TotalsSection, Totals);
}

static bool decodePieces(ByteReader R, Directory &D) {
  uint64_t Count = R.v();
  if (Count > R.left())
    return false;
  D.Pieces.reserve(Count);
  uint64_t Offset = 0;
  for (; Count && !R.failed(); --Count) {
    auto Type = PieceType(R.u8());
    Offset += R.v();
    D.Pieces.push_back({Type, Offset, R.v()});
  }
  return !R.failed();
}

static bool decodeStarts(ByteReader R, Directory &D) {
  for (uint64_t Count = R.v(); Count && !R.failed(); --Count) {
    const uint64_t Superblock = R.v();
    D.Starts.push_back({Superblock, R.v()});
  }
  return !R.failed();
}

static bool decodeCopies(ByteReader R, Directory &D) {
  for (uint64_t Count = R.v(); Count && !R.failed(); --Count) {
    const uint64_t Offset = R.v();
    D.Copies.push_back({Offset, R.bytes(R.v()).vec()});
  }
  return !R.failed();
}

Expected<Directory> decodeDirectory(ArrayRef<uint8_t> Raw) {
  Directory D;
  ByteReader R(Raw);
  bool Sound = true, HasTotals = false;
  while (Sound && !R.atEnd()) {
    uint8_t Id = R.u8();
    ByteReader Section(R.bytes(R.v()));
    if (R.failed())
      break;
    switch (Id) {
    case PiecesSection:
      Sound = decodePieces(Section, D);
      break;
    case StartsSection:
      Sound = decodeStarts(Section, D);
      break;
    case CopiesSection:
      Sound = decodeCopies(Section, D);
      break;
    case TotalsSection:
      D.Instructions = Section.v();
      D.Blocks = Section.v();
      D.Executions = Section.v();
      HasTotals = !Section.failed();
      break;
    }
  }
  if (!Sound || R.failed() || !HasTotals)
    return createStringError("the directory is damaged");
  return D;
}

} // namespace chronicle::file
