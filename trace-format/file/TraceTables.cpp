// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/file/TraceTables.h"
#include "trace-format/UntrustedJson.h"
#include "trace-format/events/Events.h"
#include "trace-format/pieces/CallFormat.h"
#include "trace-format/pieces/DefinitionFormat.h"
#include "trace-format/pieces/SequenceCoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cinttypes>

using namespace llvm;

namespace chronicle::file {

static Expected<json::Object> readJson(const PieceFile &File,
                                       const OtherPiece &P) {
  Expected<RawPiece> Raw = File.read(P);
  if (!Raw)
    return Raw.takeError();
  Expected<json::Value> V = parseUntrustedJson(toStringRef(Raw->bytes()));
  if (!V)
    return V.takeError();
  json::Object *O = V->getAsObject();
  if (!O)
    return createStringError("at offset %" PRIu64 ": not a JSON object",
                             P.Offset);
  return std::move(*O);
}

/// Points Table at the payload of a piece. Costs a look at every byte, for the
/// checksum, and no more.
template <typename T>
static Error useTable(const PieceFile &File, const OtherPiece &P,
                      ArrayRef<T> &Table) {
  Expected<Piece> Found = File.at(P);
  if (!Found)
    return Found.takeError();
  if (Error E = Found->check())
    return E;
  const uint8_t *Bytes = Found->Stored.data();
  if (Found->Compression != Codec::None || Found->Stored.size() % sizeof(T) ||
      reinterpret_cast<uintptr_t>(Bytes) % alignof(T))
    return createStringError("the table of its %s is damaged",
                             pieceTypeName(P.Type).data());
  Table = ArrayRef(reinterpret_cast<const T *>(Bytes),
                   Found->Stored.size() / sizeof(T));
  return Error::success();
}

/// Definitions and timelines shrink to a fifth or so. A file that claims to
/// expand to much more is not one that we wrote, and would fill the memory.
static uint64_t mostKept(const PieceFile &File) {
  constexpr uint64_t Always = 64 << 20, PerByte = 64;
  return Always + PerByte * File.bytes().size();
}

Expected<ArrayRef<uint8_t>> TraceTables::keep(const PieceFile &File,
                                              const OtherPiece &P) {
  Expected<Piece> Found = File.at(P);
  if (!Found)
    return Found.takeError();
  KeptBytes += Found->RawSize;
  if (KeptBytes > mostKept(File))
    return createStringError("its definitions or its timeline are too large "
                             "for a file of %zu bytes",
                             File.bytes().size());
  Expected<RawPiece> Raw = File.read(P);
  if (!Raw)
    return Raw.takeError();
  Kept.push_back(std::move(*Raw));
  return Kept.back().bytes();
}

Error TraceTables::addDefinitions(ArrayRef<uint8_t> Raw) {
  pieces::DefinitionsReader Entries(Raw);
  while (std::optional<pieces::DefinitionEntry> E = Entries.next()) {
    switch (E->Tag) {
    case DefinitionTag: {
      ByteReader Head(E->Bytes);
      uint64_t Address = Head.u64();
      uint64_t Instructions = std::min<uint64_t>(Head.v(), UINT16_MAX);
      uint64_t Exits = Head.v() + 1;
      if (Head.failed() || E->Number != Definitions.size() || Exits > 256)
        return createStringError("a damaged definition");
      Definitions.push_back({E->Bytes, uint32_t(ExitOwner.size())});
      Addresses.push_back(Address);
      LongestSuperblock =
          std::max(LongestSuperblock, static_cast<uint32_t>(Instructions));
      for (; Exits; --Exits) {
        ExitOwner.push_back(uint32_t(E->Number));
        FirstSuccessor.push_back(pieces::NoSymbol);
      }
      break;
    }
    case ReasonNameTag:
      if (E->Number > UINT32_MAX - 2)
        return createStringError("a damaged name");
      ReasonNames[uint32_t(E->Number)] = toStringRef(E->Bytes);
      break;
    case SuccessorTag:
      if (E->Number >= ExitOwner.size() || E->Successor >= ExitOwner.size())
        return createStringError("a damaged successor");
      FirstSuccessor[E->Number] = uint32_t(E->Successor);
      break;
    }
  }
  if (Entries.failed())
    return createStringError("damaged definitions");
  return Error::success();
}

Error TraceTables::addTimeline(ArrayRef<uint8_t> Raw) {
  ByteReader R(Raw);
  while (!R.atEnd()) {
    TimelineEvent E;
    E.Block = R.v();
    E.Time = R.v();
    E.Kind = uint32_t(R.v());
    E.Payload = R.bytes(R.v());
    if (R.failed() || !events::isSound(E.Kind, E.Payload))
      return createStringError("a damaged timeline");
    Timeline.push_back(E);
  }
  return Error::success();
}

Error TraceTables::loadPiece(const PieceFile &File, const OtherPiece &P) {
  switch (P.Type) {
  case PieceType::Run:
  case PieceType::End: {
    Expected<json::Object> O = readJson(File, P);
    if (!O)
      return O.takeError();
    if (P.Type == PieceType::Run)
      Run = std::move(*O);
    else
      End = std::move(*O);
    return Error::success();
  }
  case PieceType::Definitions:
  case PieceType::Timeline: {
    Expected<ArrayRef<uint8_t>> Raw = keep(File, P);
    if (!Raw)
      return Raw.takeError();
    return P.Type == PieceType::Definitions ? addDefinitions(*Raw)
                                            : addTimeline(*Raw);
  }
  case PieceType::Activations:
    ActivationPieces.push_back({P.Offset, P.Key});
    return Error::success();
  case PieceType::Executions:
    ExecutionPieces.push_back({P.Offset, P.Key, 0});
    return Error::success();
  case PieceType::ExecutionIndex:
    IndexPieces.push_back({P.Offset, P.Key});
    return Error::success();
  case PieceType::Contents:
    Contents.push_back(P);
    return Error::success();
  case PieceType::Files:
    Files.push_back(P);
    return Error::success();
  case PieceType::Blocks:
    return useTable(File, P, Blocks);
  case PieceType::Threads:
    return useTable(File, P, Threads);
  case PieceType::Chunks:
    return useTable(File, P, Chunks);
  case PieceType::Programs: {
    Expected<Piece> Found = File.at(P);
    if (!Found)
      return Found.takeError();
    if (Found->Compression == Codec::None)
      Programs = Found->Stored;
    return Error::success();
  }
  default:
    return Error::success();
  }
}

/// Leaves out a definitions piece that is damaged. The directory says what the
/// next one begins with.
Error TraceTables::skipDefinitions(const PieceFile &File, const Directory &Dir,
                                   size_t Which, Error Why) {
  if (Which + 1 >= Dir.Starts.size())
    return Why;
  const DefinitionStart &From = Dir.Starts[Which], &To = Dir.Starts[Which + 1];
  constexpr uint64_t Most = 1 << 30, MostExits = 256;
  if (From.Superblock != Definitions.size() || From.Exit != ExitOwner.size() ||
      To.Superblock < From.Superblock || To.Exit < From.Exit ||
      To.Superblock > Most || To.Exit > Most)
    return Why;
  const uint64_t Superblocks = To.Superblock - From.Superblock,
                 Exits = To.Exit - From.Exit;
  KeptBytes += 32 * Superblocks + 8 * Exits;
  if (Exits > MostExits * Superblocks || KeptBytes > mostKept(File))
    return Why;
  Definitions.resize(To.Superblock, {{}, uint32_t(To.Exit)});
  // No question about an address finds them.
  Addresses.resize(To.Superblock, ~uint64_t(0));
  ExitOwner.resize(To.Exit, 0);
  FirstSuccessor.resize(To.Exit, pieces::NoSymbol);
  Missing += (Missing.empty() ? "" : "; ");
  Missing += "the definitions of " + std::to_string(Superblocks) +
             " superblocks are damaged (" + toString(std::move(Why)) +
             "), so blocks that ran them cannot be read, and answers may lack "
             "what happened there";
  return Error::success();
}

/// What can be known if a piece cannot be read.
Error TraceTables::loadWithout(const PieceFile &File, const OtherPiece &P,
                               const Directory &Dir, size_t DefinitionsBefore,
                               Error Why) {
  if (P.Type == PieceType::Definitions)
    return skipDefinitions(File, Dir, DefinitionsBefore, std::move(Why));
  const auto Copy = llvm::find_if(
      Dir.Copies, [&](const PieceCopy &C) { return C.Offset == P.Offset; });
  if (Copy == Dir.Copies.end())
    return Why;
  if (P.Type == PieceType::Timeline) {
    consumeError(std::move(Why));
    return addTimeline(Copy->Raw);
  }
  Expected<json::Value> V = parseUntrustedJson(toStringRef(Copy->Raw));
  if (!V || P.Type != PieceType::Run || !V->getAsObject()) {
    consumeError(V.takeError());
    return Why;
  }
  consumeError(std::move(Why));
  Run = std::move(*V->getAsObject());
  return Error::success();
}

Error TraceTables::checkTables(const Directory &Dir, bool InFile) const {
  if (InFile && (!Blocks.data() || !Threads.data() || !Chunks.data()))
    return createStringError("a table is missing");
  if (Blocks.empty())
    return createStringError("it has no blocks");
  if (Blocks.size() != Dir.Blocks || Blocks.back().First > Dir.Instructions)
    return createStringError("the table of its blocks is damaged");
  return Error::success();
}

/// Every block must be in one executions piece.
Error TraceTables::finishExecutions() {
  BlockNumber Next = 0;
  for (ExecutionPiece &P : ExecutionPieces) {
    if (P.First != Next)
      return createStringError("a piece of its executions is missing");
    P.Last =
        &P == &ExecutionPieces.back() ? Blocks.size() - 1 : (&P)[1].First - 1;
    Next = P.Last + 1;
  }
  if (Next != Blocks.size())
    return createStringError("a piece of its executions is missing");
  return Error::success();
}

Error TraceTables::countActivations(const PieceFile &File) {
  uint64_t Number = 0;
  for (const ActivationPiece &P : ActivationPieces) {
    if (P.First <= Number)
      return createStringError("a piece of its activations is missing");
    Number = P.First;
  }
  if (ActivationPieces.empty())
    return Error::success();
  Expected<RawPiece> Raw =
      File.read(ActivationPieces.back().Offset, PieceType::Activations, Number);
  if (!Raw)
    return Raw.takeError();
  auto Last = pieces::decodeActivations(Raw->bytes(), uint32_t(Number));
  if (!Last)
    return Last.takeError();
  Activations = uint32_t(Number + Last->size() - 1);
  return Error::success();
}

Error TraceTables::load(const PieceFile &File, const Directory &Dir,
                        const RebuiltDirectory *Rebuilt) {
  if (Rebuilt) {
    Blocks = Rebuilt->Blocks;
    Threads = Rebuilt->Threads;
    Chunks = Rebuilt->Chunks;
  }
  bool HasRun = false;
  size_t DefinitionPieces = 0;
  for (const OtherPiece &P : Dir.Pieces) {
    if (Error E = loadPiece(File, P))
      if (Error Needed =
              loadWithout(File, P, Dir, DefinitionPieces, std::move(E)))
        return Needed;
    HasRun |= P.Type == PieceType::Run;
    DefinitionPieces += P.Type == PieceType::Definitions;
  }
  // Which successors were in a damaged piece is not known. Taking one of these
  // is an error.
  if (!Missing.empty())
    std::replace(FirstSuccessor.begin(), FirstSuccessor.end(), pieces::NoSymbol,
                 uint32_t(pieces::NoSymbol - 1));
  // The block that was not finished has no place in the trace.
  llvm::erase_if(Timeline, [&](const TimelineEvent &E) {
    return E.Block >= Blocks.size();
  });
  if (!HasRun)
    return createStringError("it does not say what was recorded");
  if (Error E = checkTables(Dir, /*InFile=*/!Rebuilt))
    return E;
  if (Error E = finishExecutions())
    return E;
  return countActivations(File);
}

} // namespace chronicle::file
