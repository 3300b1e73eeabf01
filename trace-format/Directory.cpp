// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/Directory.h"
#include <algorithm>

using namespace llvm;

namespace chronicle {

void DirectoryWriter::addBlock(const BlockEntry &E) {
  Blocks.z(int64_t(E.Offset - BlockOffset));
  Blocks.v(E.First - BlockFirst);
  Blocks.v(E.Kinds);
  Blocks.v(E.Threads.size());
  for (uint32_t Thread : E.Threads)
    Blocks.v(Thread);
  BlockOffset = E.Offset;
  BlockFirst = E.First;
  ++BlockCount;
}

void DirectoryWriter::addPiece(const OtherPiece &E) {
  Pieces.u8(uint8_t(E.Type));
  Pieces.v(E.Offset - PieceOffset);
  Pieces.v(E.Key);
  PieceOffset = E.Offset;
  ++PieceCount;
}

void DirectoryWriter::encode(ByteWriter &Out, Timestamp Instructions,
                             uint64_t Executions) const {
  auto Section = [&](uint8_t Id, uint64_t Count, const ByteWriter &Entries) {
    ByteWriter Head;
    Head.v(Count);
    Out.u8(Id);
    Out.v(Head.size() + Entries.size());
    Out.bytes(Head.data());
    Out.bytes(Entries.data());
  };
  Section(BlocksSection, BlockCount, Blocks);
  Section(PiecesSection, PieceCount, Pieces);
  Out.u8(ExecutionIndexSection);
  Out.v(ExecutionIndex.size());
  Out.bytes(ExecutionIndex.data());
  // Last, so that no directory without its end is taken for a whole one.
  ByteWriter Totals;
  Totals.v(Instructions);
  Totals.v(BlockCount);
  Totals.v(Executions);
  Out.u8(TotalsSection);
  Out.v(Totals.size());
  Out.bytes(Totals.data());
}

static void decodeBlocks(ByteReader R, Directory &D) {
  uint64_t Count = R.v();
  if (Count > R.left())
    return;
  D.Blocks.reserve(Count);
  uint64_t Offset = 0, First = 0;
  for (; Count && !R.failed(); --Count) {
    BlockEntry &E = D.Blocks.emplace_back();
    E.Offset = Offset += uint64_t(R.z());
    E.First = First += R.v();
    E.Kinds = R.v();
    uint64_t Threads = R.v();
    if (Threads > R.left())
      R.fail();
    for (; Threads && !R.failed(); --Threads)
      E.Threads.push_back(uint32_t(R.v()));
  }
  if (R.failed())
    D.Blocks.clear();
}

static bool decodePieces(ByteReader R, Directory &D) {
  uint64_t Count = R.v();
  if (Count > R.left())
    return false;
  uint64_t Offset = 0;
  for (; Count && !R.failed(); --Count) {
    auto Type = PieceType(R.u8());
    Offset += R.v();
    D.Pieces.push_back({Type, Offset, R.v()});
  }
  return !R.failed();
}

Expected<Directory> decodeDirectory(ArrayRef<uint8_t> Raw) {
  Directory D;
  ByteReader R(Raw);
  bool Sound = true, HasTotals = false;
  uint64_t Blocks = 0;
  while (Sound && !R.atEnd()) {
    uint8_t Id = R.u8();
    const ArrayRef<uint8_t> Bytes = R.bytes(R.v());
    ByteReader Section(Bytes);
    if (R.failed())
      break;
    switch (Id) {
    case BlocksSection:
      decodeBlocks(Section, D);
      break;
    case PiecesSection:
      Sound = decodePieces(Section, D);
      break;
    case TotalsSection:
      D.Instructions = Section.v();
      Blocks = Section.v();
      D.Executions = Section.v();
      HasTotals = !Section.failed();
      break;
    case ExecutionIndexSection:
      D.ExecutionIndex = Bytes.vec();
      break;
    }
  }
  if (!Sound || R.failed() || !HasTotals || Blocks != D.Blocks.size() ||
      (Blocks && D.Blocks.back().First > D.Instructions))
    return createStringError("the directory is damaged");
  return D;
}

} // namespace chronicle
