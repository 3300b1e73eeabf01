// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/file/DirectoryRebuilder.h"
#include "trace-format/file/Piece.h"
#include "trace-format/pieces/BlockFormat.h"
#include "trace-format/pieces/PageChunkFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::file {

/// Returns the sound pieces from the start of the file. \p Stop says why there
/// are no more.
static std::vector<Piece> scanPieces(ArrayRef<uint8_t> File,
                                     std::string &Stop) {
  std::vector<Piece> Pieces;
  for (uint64_t Offset = FileHeaderSize; Offset < File.size();) {
    if (isFooter(File, Offset)) {
      Offset += FooterSize;
      continue;
    }
    Expected<Piece> P = Piece::at(File, Offset);
    Error E = P ? P->check() : P.takeError();
    if (E) {
      Stop = toString(std::move(E));
      return Pieces;
    }
    Pieces.push_back(*P);
    Offset = P->End;
  }
  Stop = "at its end: the directory is missing";
  return Pieces;
}

static Error addBlock(const Piece &P, ArrayRef<uint8_t> Raw,
                      RebuiltDirectory &D,
                      pieces::ThreadBlocksWriter &Threads) {
  Expected<pieces::BlockSections> B = pieces::splitBlock(Raw);
  if (!B)
    return B.takeError();
  Expected<std::vector<Event>> Events =
      pieces::decodeEvents(B->Events, B->Head);
  if (!Events)
    return Events.takeError();
  if (P.Key != D.Dir.Blocks || B->Head.First != D.Dir.Instructions)
    return createStringError("blocks are out of order");
  uint64_t Kinds = 0;
  for (const Event &E : *Events)
    if (E.Kind < 64)
      Kinds |= uint64_t(1) << E.Kind;
  D.Blocks.push_back({P.Offset, B->Head.First, Kinds});
  Threads.add(P.Key, pieces::snapshotThreads(*Events));
  ++D.Dir.Blocks;
  D.Dir.Instructions += B->Head.Instructions;
  D.Dir.Executions += B->Head.Executions;
  return Error::success();
}

static Error addChunk(const Piece &P, ArrayRef<uint8_t> Raw,
                      RebuiltDirectory &D) {
  Expected<PageChunk> C = pieces::decodePageChunk(P.Key, Raw);
  if (!C)
    return C.takeError();
  PageChunkEntry &E = D.Chunks.emplace_back();
  E.Frame = C->Frame;
  E.First = C->First;
  E.Last = C->Deltas.empty() ? C->First : C->Deltas.back().Block;
  E.Offset = P.Offset;
  std::fill(E.Granules, E.Granules + GranuleWords, 0);
  for (const PageDelta &Delta : C->Deltas)
    for (unsigned W = 0; W < GranuleWords; ++W)
      E.Granules[W] |=
          Delta.Kind == GranulesDelta ? Delta.Granules[W] : ~uint64_t(0);
  return Error::success();
}

Expected<RebuiltDirectory> rebuildDirectory(ArrayRef<uint8_t> File,
                                            StringRef Path) {
  std::string Stop;
  std::vector<Piece> Pieces = scanPieces(File, Stop);
  auto Last = std::find_if(Pieces.rbegin(), Pieces.rend(), [](const Piece &P) {
    return P.Type == PieceType::Checkpoint;
  });
  if (Last == Pieces.rend())
    return createStringError(inconvertibleErrorCode(),
                             "'" + Path +
                                 "' is damaged or was cut off before its first "
                                 "checkpoint, so nothing of it can be read (" +
                                 Stop + "): record again");
  auto End = std::find_if(Last.base(), Pieces.end(), [](const Piece &P) {
    return P.Type == PieceType::End;
  });
  bool Whole = End != Pieces.end();
  // What was packed comes after the end of the recording.
  Pieces.erase(std::remove_if(Whole ? End + 1 : Last.base(), Pieces.end(),
                              [](const Piece &P) {
                                return P.Type != PieceType::Contents &&
                                       P.Type != PieceType::Files;
                              }),
               Pieces.end());

  RebuiltDirectory Result;
  pieces::ThreadBlocksWriter Threads;
  for (const Piece &P : Pieces) {
    if (P.Type != PieceType::Block && P.Type != PieceType::Pages) {
      Result.Dir.Pieces.push_back({P.Type, P.Offset, P.Key});
      continue;
    }
    Expected<std::unique_ptr<uint8_t[]>> Raw = P.read();
    if (!Raw)
      return Raw.takeError();
    ArrayRef<uint8_t> Bytes(Raw->get(), P.RawSize);
    if (Error E = P.Type == PieceType::Block
                      ? addBlock(P, Bytes, Result, Threads)
                      : addChunk(P, Bytes, Result))
      return createStringError(
          inconvertibleErrorCode(),
          "'" + Path + "' cannot be read: " + toString(std::move(E)));
  }
  Result.Threads = Threads.table(Result.Dir.Blocks);
  llvm::stable_sort(
      Result.Chunks, [](const PageChunkEntry &A, const PageChunkEntry &B) {
        return std::tie(A.Frame, A.First) < std::tie(B.Frame, B.First);
      });
  if (!Whole)
    Result.Truncated =
        ("the file is damaged or was cut off (" + Twine(Stop) +
         "); the trace can be read up to its last checkpoint, at instruction " +
         Twine(Result.Dir.Instructions))
            .str();
  return Result;
}

} // namespace chronicle::file
