// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TraceMutator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace llvm;
using support::endian::read64le;
using support::endian::write32le;
using support::endian::write64le;

namespace chronicle {

/// Pieces that hold offsets of others. They are changed when those are known.
static bool hasOffsets(PieceType Type) {
  return Type == PieceType::Blocks || Type == PieceType::Chunks ||
         Type == PieceType::Directory;
}

Expected<TraceMutator> TraceMutator::create(ArrayRef<uint8_t> File) {
  if (Error E = file::checkFileHeader(File, "seed"))
    return E;
  TraceMutator Result;
  for (uint64_t At = FileHeaderSize; At < File.size();) {
    if (file::isFooter(File, At)) {
      At += FooterSize;
      continue;
    }
    Expected<file::Piece> P = file::Piece::at(File, At);
    if (!P)
      return P.takeError();
    Result.All.push_back({P->Type, P->Key, P->Offset, P->Compression,
                          P->Stored.vec(), P->RawSize});
    At = P->End;
  }
  if (Result.All.empty() || Result.All.back().Type != PieceType::Directory)
    return createStringError("the seed does not end in a directory");
  return Result;
}

Error TraceMutator::Part::open() {
  if (Changed)
    return Error::success();
  std::vector<uint8_t> Raw(RawSize);
  if (Error E = file::decompress(Compression, Stored, Raw.data(), RawSize))
    return E;
  Stored = std::move(Raw);
  Changed = true;
  return Error::success();
}

static const uint64_t Special[] = {0,
                                   1,
                                   2,
                                   0x7f,
                                   0xff,
                                   0xfff,
                                   0x1000,
                                   0x7fff,
                                   0xffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xfffffffe,
                                   0xffffffff,
                                   0x7fffffffffff,
                                   0xfffffffffffff,
                                   uint64_t(1) << 62,
                                   ~uint64_t(0) >> 1,
                                   ~uint64_t(0) - 1,
                                   ~uint64_t(0)};

/// Changes bytes of one piece: single ones, numbers of all sizes, and parts
/// that are repeated, left out, or from another piece of the type.
void TraceMutator::changeBytes(Part &P, const Parts &All, Random &R) {
  std::vector<uint8_t> &B = P.Stored;
  const size_t At = B.empty() ? 0 : R() % B.size(), Left = B.size() - At;
  const uint64_t Value = Special[R() % std::size(Special)];
  switch (R() % 10) {
  case 0:
    if (Left)
      B[At] ^= uint8_t(1 << R() % 8);
    break;
  case 1:
    if (Left)
      B[At] = uint8_t(Value);
    break;
  case 2:
    if (const size_t Aligned = At & ~size_t(3); B.size() - Aligned >= 4)
      write32le(&B[Aligned], uint32_t(Value));
    break;
  case 3:
    if (const size_t Aligned = At & ~size_t(7); B.size() - Aligned >= 8)
      write64le(&B[Aligned], Value);
    break;
  case 4: { // A large number in place of a small one.
    std::vector<uint8_t> Number;
    uint64_t V = Value;
    for (; V >= 0x80; V >>= 7)
      Number.push_back(uint8_t(V) | 0x80);
    Number.push_back(uint8_t(V));
    if (Left)
      B.erase(B.begin() + ptrdiff_t(At));
    B.insert(B.begin() + ptrdiff_t(At), Number.begin(), Number.end());
    break;
  }
  case 5:
    B.erase(B.begin() + ptrdiff_t(At),
            B.begin() + ptrdiff_t(At + (Left ? R() % Left : 0)));
    break;
  case 6: {
    const std::vector<uint8_t> Again(
        B.begin() + ptrdiff_t(At),
        B.begin() + ptrdiff_t(At + std::min<size_t>(Left, R() % 64)));
    B.insert(B.begin() + ptrdiff_t(At), Again.begin(), Again.end());
    break;
  }
  case 7:
    B.resize(At);
    break;
  case 8: {
    const Part &Other = All[R() % All.size()];
    if (Other.Type == P.Type && Other.Changed)
      B = Other.Stored;
    else if (Left)
      B[At] += uint8_t(R());
    break;
  }
  default:
    for (size_t N = 0; N < std::min<size_t>(Left, 1 + R() % 16); ++N)
      B[At + N] = uint8_t(R());
  }
}

void TraceMutator::change(Parts &All, Random &R) {
  // Each type as often as any other: there are thousands of pages.
  std::map<PieceType, std::vector<size_t>> ByType;
  for (size_t I = 0; I < All.size(); ++I)
    if (!hasOffsets(All[I].Type))
      ByType[All[I].Type].push_back(I);
  auto It = std::next(ByType.begin(), ptrdiff_t(R() % ByType.size()));
  const size_t Chosen = It->second[R() % It->second.size()];
  switch (R() % 24) {
  case 0:
    All[Chosen].Key = Special[R() % std::size(Special)];
    return;
  case 1:
    if (All.size() > 2)
      All.erase(All.begin() + ptrdiff_t(Chosen));
    return;
  case 2:
    All.insert(All.begin() + ptrdiff_t(Chosen), Part(All[Chosen]));
    return;
  case 3:
    std::swap(All[Chosen], All[It->second[R() % It->second.size()]]);
    return;
  default:
    if (Error E = All[Chosen].open())
      return consumeError(std::move(E));
    for (size_t Times = 1 + R() % 3; Times; --Times)
      changeBytes(All[Chosen], All, R);
  }
}

/// Changes the tables of blocks and chunks and the directory, whose offsets are
/// those of the new file already.
void TraceMutator::changeTables(Parts &All, Random &R, unsigned Changes) {
  for (Part &P : All)
    for (unsigned N = 0; N < Changes; ++N)
      if (hasOffsets(P.Type) && R() % 3 == 0)
        changeBytes(P, All, R);
}

static uint64_t paddedSize(size_t Stored) {
  return alignTo(PieceHeaderSize + Stored, 8);
}

std::vector<uint8_t> TraceMutator::assemble(Parts All, Random *R,
                                            unsigned Changes) {
  std::map<uint64_t, uint64_t> Moved;
  uint64_t At = FileHeaderSize;
  for (Part &P : All) {
    if (hasOffsets(P.Type))
      cantFail(P.open());
    Moved.insert({P.Offset, At});
    At += paddedSize(P.Stored.size());
  }
  auto Now = [&](uint64_t Offset) {
    auto It = Moved.find(Offset);
    return It == Moved.end() ? Offset : It->second;
  };
  for (Part &P : All) {
    std::vector<uint8_t> &B = P.Stored;
    if (P.Type == PieceType::Blocks)
      for (size_t I = 0; I + 24 <= B.size(); I += 24)
        write64le(&B[I], Now(read64le(&B[I])));
    if (P.Type == PieceType::Chunks)
      for (size_t I = 0; I + 96 <= B.size(); I += 96)
        write64le(&B[I + 24], Now(read64le(&B[I + 24])));
    if (P.Type != PieceType::Directory)
      continue;
    Expected<file::Directory> D = file::decodeDirectory(B);
    if (!D) {
      consumeError(D.takeError());
      continue;
    }
    for (file::OtherPiece &O : D->Pieces)
      O.Offset = Now(O.Offset);
    llvm::sort(D->Pieces, [](auto &A, auto &B) { return A.Offset < B.Offset; });
    ByteWriter Out;
    file::encodeDirectory(Out, *D);
    B.assign(Out.data().begin(), Out.data().end());
  }
  if (R)
    changeTables(All, *R, Changes);
  std::vector<uint8_t> File(FileHeaderSize);
  file::encodeFileHeader(File.data());
  uint64_t Directory = 0;
  for (const Part &P : All) {
    const uint64_t Start = File.size();
    if (P.Type == PieceType::Directory)
      Directory = Start;
    File.resize(Start + paddedSize(P.Stored.size()));
    file::encodePieceHeader(
        &File[Start], P.Type, P.Changed ? file::Codec::None : P.Compression,
        P.Changed ? uint32_t(P.Stored.size()) : P.RawSize, P.Key, P.Stored);
    llvm::copy(P.Stored, File.begin() + ptrdiff_t(Start + PieceHeaderSize));
  }
  const uint64_t End = File.size();
  File.resize(End + FooterSize);
  file::encodeFooter(&File[End], Directory, File.size());
  return File;
}

std::vector<uint8_t> TraceMutator::mutate(uint64_t Seed) const {
  Random R(Seed);
  Parts Changed = All;
  const unsigned Changes = 1 + R() % 4;
  // Some changes concern the tables only, some the contents only.
  if (R() % 4)
    for (unsigned N = 0; N < Changes; ++N)
      change(Changed, R);
  return assemble(std::move(Changed), R() % 3 ? nullptr : &R, Changes);
}

std::vector<uint8_t> TraceMutator::rebuild() const {
  return assemble(All, nullptr, 0);
}

} // namespace chronicle
