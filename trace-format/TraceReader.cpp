// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/TraceReader.h"
#include "trace-format/BlockFormat.h"
#include "trace-format/DefinitionFormat.h"
#include "trace-format/Directory.h"
#include "trace-format/DirectoryRebuilder.h"
#include "trace-format/EventNames.h"
#include "trace-format/PageChunkFormat.h"
#include "trace-format/Piece.h"
#include "trace-format/SequenceCoder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <array>
#include <cinttypes>
#include <cstring>
#include <mutex>

using namespace llvm;

namespace chronicle {

namespace {
/// A decompressed pages piece.
struct RawChunk {
  std::shared_ptr<const uint8_t[]> Storage;
  ArrayRef<uint8_t> Bytes;
};

/// An executions piece, and what it points into.
struct ExecutionsPiece {
  std::unique_ptr<uint8_t[]> Storage;
  ExecutionRange Range;
};

/// Decoded things by a number, the most recent of each slot.
template <class T, unsigned Bits> class RecentlyUsed {
public:
  std::shared_ptr<const T> find(uint64_t Key) {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto &[Known, Value] = slot(Key);
    return Known == Key ? Value : nullptr;
  }
  std::shared_ptr<const T> add(uint64_t Key, T Value) {
    auto Shared = std::make_shared<const T>(std::move(Value));
    std::lock_guard<std::mutex> Lock(Mutex);
    slot(Key) = {Key, Shared};
    return Shared;
  }

private:
  using Slot = std::pair<uint64_t, std::shared_ptr<const T>>;
  Slot &slot(uint64_t Key) {
    return Slots[Key * 0x9e3779b97f4a7c15ull >> (64 - Bits)];
  }
  std::mutex Mutex;
  std::array<Slot, 1 << Bits> Slots;
};
} // namespace

struct TraceReader::Impl {
  std::string Path;
  std::unique_ptr<MemoryBuffer> Buffer;
  ArrayRef<uint8_t> File;
  std::string Truncated;
  bool Rebuilt = false;

  Directory Dir;
  RebuiltDirectory Tables; ///< if it was
  // In the file, or in Tables.
  ArrayRef<BlockEntry> Blocks;
  ArrayRef<ThreadStretch> Threads;
  ArrayRef<PageChunkEntry> Chunks;
  json::Object Run;
  std::optional<json::Object> End;
  std::vector<Definition> Definitions{Definition()}; ///< by id; 0 is none
  std::vector<uint64_t> Addresses{0};                ///< of superblocks, by id
  uint32_t LongestSuperblock = 0;                    ///< in instructions
  std::vector<uint32_t> ExitOwner;                   ///< exit number -> id
  std::vector<uint32_t> FirstSuccessor; ///< exit number -> exit number
  DenseMap<uint32_t, StringRef> ReasonNames;
  std::vector<TimelineEvent> Timeline;
  /// What Definitions, ReasonNames and Timeline point into.
  std::vector<std::unique_ptr<uint8_t[]>> Kept;

  mutable std::once_flag PartsOnce;
  mutable std::array<PartSize, PieceTypeCount> Parts;

  /// Recently used page chunks: neighbours in time share one.
  mutable RecentlyUsed<RawChunk, 9> ChunkCache;
  mutable RecentlyUsed<std::vector<ThreadStacks>, 8> StacksCache;
  mutable RecentlyUsed<std::vector<ActivationRecord>, 5> ActivationsCache;
  mutable RecentlyUsed<ExecutionsPiece, 6> ExecutionsCache;
  mutable RecentlyUsed<ExecutionsPiece, 4> IndexCache;
  std::vector<OtherPiece> IndexPieces;      ///< by key, a superblock
  std::vector<OtherPiece> ActivationPieces; ///< by key, which is not 0
  uint32_t Activations = 0;
  std::vector<ExecutionPiece> ExecutionPieces;
  ArrayRef<uint8_t> Programs;
  mutable std::mutex Mutex;
  mutable std::vector<std::unique_ptr<SequenceScratch>> Scratch;

  Error load();
  template <typename T> Error use(const OtherPiece &P, ArrayRef<T> &Table);
  Expected<json::Object> readJson(const OtherPiece &P) const;
  Expected<ArrayRef<uint8_t>> keep(const OtherPiece &P);
  Error addDefinitions(ArrayRef<uint8_t> Raw);
  Error addTimeline(ArrayRef<uint8_t> Raw);
  Error findCalls();
  /// The piece there, which should be this one.
  Expected<Piece> pieceAt(uint64_t Offset, PieceType Type, uint64_t Key) const;
  Expected<std::unique_ptr<uint8_t[]>>
  readRaw(uint64_t Offset, PieceType Type, uint64_t Key, uint64_t &Size) const;
  Expected<std::shared_ptr<const std::vector<ActivationRecord>>>
  activationsAt(const OtherPiece &Piece) const;
  /// An executions piece, or a part of their index.
  Expected<ExecutionsPiece> readExecutions(uint64_t Offset, PieceType Type,
                                           uint64_t Key) const;
  Expected<std::shared_ptr<const ExecutionsPiece>>
  indexAt(const OtherPiece &P) const;
  void forget();
  Expected<std::shared_ptr<const RawChunk>>
  chunkOf(const PageChunkEntry &Entry) const;
};

Expected<json::Object> TraceReader::Impl::readJson(const OtherPiece &P) const {
  uint64_t Size;
  auto Raw = readRaw(P.Offset, P.Type, P.Key, Size);
  if (!Raw)
    return Raw.takeError();
  Expected<json::Value> V =
      json::parse(StringRef(reinterpret_cast<char *>(Raw->get()), Size));
  if (!V)
    return V.takeError();
  json::Object *O = V->getAsObject();
  if (!O)
    return createStringError("at offset %" PRIu64 ": not a JSON object",
                             P.Offset);
  return std::move(*O);
}

Expected<ArrayRef<uint8_t>> TraceReader::Impl::keep(const OtherPiece &P) {
  uint64_t Size;
  auto Raw = readRaw(P.Offset, P.Type, P.Key, Size);
  if (!Raw)
    return Raw.takeError();
  Kept.push_back(std::move(*Raw));
  return ArrayRef<uint8_t>(Kept.back().get(), Size);
}

Error TraceReader::Impl::addDefinitions(ArrayRef<uint8_t> Raw) {
  DefinitionsReader Entries(Raw);
  while (std::optional<DefinitionEntry> E = Entries.next()) {
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
        FirstSuccessor.push_back(NoSymbol);
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

Error TraceReader::Impl::addTimeline(ArrayRef<uint8_t> Raw) {
  ByteReader R(Raw);
  while (!R.atEnd()) {
    TimelineEvent E;
    E.Block = R.v();
    E.Time = R.v();
    E.Kind = uint32_t(R.v());
    E.Payload = R.bytes(R.v());
    if (R.failed())
      return createStringError("a damaged timeline");
    Timeline.push_back(E);
  }
  return Error::success();
}

void TraceReader::Impl::forget() {
  Run = json::Object();
  End.reset();
  Definitions.assign(1, Definition());
  Addresses.assign(1, 0);
  ExitOwner.clear();
  FirstSuccessor.clear();
  ReasonNames.clear();
  Timeline.clear();
  ActivationPieces.clear();
  ExecutionPieces.clear();
  IndexPieces.clear();
  Programs = {};
  Activations = 0;
  Kept.clear();
}

/// Costs a look at every byte, for the checksum, and no more.
template <typename T>
Error TraceReader::Impl::use(const OtherPiece &P, ArrayRef<T> &Table) {
  Expected<Piece> Found = pieceAt(P.Offset, P.Type, P.Key);
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

/// Reads what every question needs. Dir is there.
Error TraceReader::Impl::load() {
  bool HasRun = false;
  Blocks = Tables.Blocks;
  Threads = Tables.Threads;
  Chunks = Tables.Chunks;
  for (const OtherPiece &P : Dir.Pieces) {
    switch (P.Type) {
    case PieceType::Run: {
      Expected<json::Object> O = readJson(P);
      if (!O)
        return O.takeError();
      Run = std::move(*O);
      HasRun = true;
      break;
    }
    case PieceType::End: {
      Expected<json::Object> O = readJson(P);
      if (!O)
        return O.takeError();
      End = std::move(*O);
      break;
    }
    case PieceType::Definitions:
    case PieceType::Timeline: {
      Expected<ArrayRef<uint8_t>> Raw = keep(P);
      if (!Raw)
        return Raw.takeError();
      if (Error E = P.Type == PieceType::Definitions ? addDefinitions(*Raw)
                                                     : addTimeline(*Raw))
        return E;
      break;
    }
    case PieceType::Activations:
      ActivationPieces.push_back(P);
      break;
    case PieceType::Executions:
      ExecutionPieces.push_back({P.Offset, P.Key, 0});
      break;
    case PieceType::ExecutionIndex:
      IndexPieces.push_back(P);
      break;
    case PieceType::Blocks:
    case PieceType::Threads:
    case PieceType::Chunks:
      if (Error E = P.Type == PieceType::Blocks    ? use(P, Blocks)
                    : P.Type == PieceType::Threads ? use(P, Threads)
                                                   : use(P, Chunks))
        return E;
      break;
    case PieceType::Programs: {
      Expected<Piece> Found = pieceAt(P.Offset, P.Type, P.Key);
      if (!Found)
        return Found.takeError();
      if (Found->Compression == Codec::None)
        Programs = Found->Stored;
      break;
    }
    default:
      break;
    }
  }
  // The block that was not finished has no place in the trace.
  llvm::erase_if(Timeline, [&](const TimelineEvent &E) {
    return E.Block >= Blocks.size();
  });
  if (!HasRun)
    return createStringError("it does not say what was recorded");
  if (!Rebuilt && (!Blocks.data() || !Threads.data() || !Chunks.data()))
    return createStringError("a table is missing");
  if (Blocks.empty())
    return createStringError("it has no blocks");
  if (Blocks.size() != Dir.Blocks || Blocks.back().First > Dir.Instructions)
    return createStringError("the table of its blocks is damaged");
  return findCalls();
}

Error TraceReader::Impl::findCalls() {
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
  uint64_t Number = 0;
  for (const OtherPiece &P : ActivationPieces) {
    if (P.Key <= Number)
      return createStringError("a piece of its activations is missing");
    Number = P.Key;
  }
  if (ActivationPieces.empty())
    return Error::success();
  auto Last = activationsAt(ActivationPieces.back());
  if (!Last)
    return Last.takeError();
  Activations = uint32_t(Number + (*Last)->size() - 1);
  return Error::success();
}

TraceReader::TraceReader() : I(std::make_unique<Impl>()) {}
TraceReader::~TraceReader() = default;

Expected<std::unique_ptr<TraceReader>> TraceReader::open(StringRef Path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer = MemoryBuffer::getFile(
      Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return createStringError(Buffer.getError(),
                             "cannot open '" + Path +
                                 "': " + Buffer.getError().message());
  return open(std::move(*Buffer));
}

Expected<std::unique_ptr<TraceReader>>
TraceReader::open(std::unique_ptr<MemoryBuffer> Buffer) {
  std::unique_ptr<TraceReader> Reader(new TraceReader());
  Impl &I = *Reader->I;
  I.Path = Buffer->getBufferIdentifier().str();
  I.Buffer = std::move(Buffer);
  StringRef Path = I.Path;
  I.File = arrayRefFromStringRef(I.Buffer->getBuffer());
  if (Error E = checkFileHeader(I.File, Path))
    return E;

  auto ByFooter = [&]() -> Error {
    std::optional<uint64_t> Offset = decodeFooter(I.File);
    if (!Offset)
      return createStringError("no footer");
    Expected<Piece> P = Piece::at(I.File, *Offset);
    if (!P)
      return P.takeError();
    if (P->Type != PieceType::Directory)
      return createStringError("not a directory");
    Expected<std::unique_ptr<uint8_t[]>> Raw = P->read();
    if (!Raw)
      return Raw.takeError();
    Expected<Directory> D = decodeDirectory(ArrayRef(Raw->get(), P->RawSize));
    if (!D)
      return D.takeError();
    I.Dir = std::move(*D);
    return I.load();
  };
  if (Error E = ByFooter()) {
    // The scan finds what is wrong itself, and says where.
    consumeError(std::move(E));
    Expected<RebuiltDirectory> D = rebuildDirectory(I.File, Path);
    if (!D)
      return D.takeError();
    I.forget();
    I.Tables = std::move(*D);
    I.Dir = std::move(I.Tables.Dir);
    I.Truncated = std::move(I.Tables.Truncated);
    I.Rebuilt = true;
    if (Error E = I.load())
      return createStringError(
          inconvertibleErrorCode(),
          "'" + Path + "' cannot be read: " + toString(std::move(E)));
  }
  if (I.End && I.Truncated.empty())
    if (std::optional<StringRef> Message = I.End->getString("failure"))
      I.Truncated = Message->str();
  return Reader;
}

StringRef TraceReader::path() const { return I->Path; }
uint64_t TraceReader::fileSize() const { return I->File.size(); }
StringRef TraceReader::truncated() const { return I->Truncated; }
bool TraceReader::rebuilt() const { return I->Rebuilt; }
const json::Object &TraceReader::run() const { return I->Run; }
const json::Object *TraceReader::end() const {
  return I->End ? &*I->End : nullptr;
}
Timestamp TraceReader::instructions() const { return I->Dir.Instructions; }
uint64_t TraceReader::executions() const { return I->Dir.Executions; }
ArrayRef<BlockEntry> TraceReader::blocks() const { return I->Blocks; }
ThreadBlocks TraceReader::blocksOf(uint32_t Thread) const {
  return ThreadBlocks(I->Threads, Thread);
}

BlockNumber TraceReader::blockAt(Timestamp T) const {
  ArrayRef<BlockEntry> Blocks = blocks();
  auto It = llvm::upper_bound(
      Blocks, T, [](Timestamp T, const BlockEntry &B) { return T < B.First; });
  return It == Blocks.begin() ? 0 : It - Blocks.begin() - 1;
}

Expected<Block> TraceReader::readBlock(BlockNumber N) const {
  auto Damaged = [&](Error E) {
    return createStringError("block %" PRIu64 ": %s", N,
                             toString(std::move(E)).c_str());
  };
  if (N >= I->Blocks.size())
    return createStringError("there is no block %" PRIu64, N);
  Expected<Piece> P = Piece::at(I->File, I->Blocks[N].Offset);
  if (!P)
    return Damaged(P.takeError());
  if (P->Type != PieceType::Block || P->Key != N)
    return Damaged(createStringError("the directory points elsewhere"));
  Expected<std::unique_ptr<uint8_t[]>> Raw = P->read();
  if (!Raw)
    return Damaged(Raw.takeError());

  Block B;
  B.Storage = std::move(*Raw);
  Expected<BlockSections> S = splitBlock(ArrayRef(B.Storage.get(), P->RawSize));
  if (!S)
    return Damaged(S.takeError());
  Expected<std::vector<Event>> Events = decodeEvents(S->Events, S->Head);
  if (!Events)
    return Damaged(Events.takeError());
  B.Number = N;
  B.First = S->Head.First;
  B.Instructions = S->Head.Instructions;
  B.DirtyPages = S->Head.DirtyPages;
  B.DirtyGranules = S->Head.DirtyGranules;
  B.Events = std::move(*Events);
  B.Opaque = S->Opaque;

  std::unique_ptr<SequenceScratch> Scratch;
  {
    std::lock_guard<std::mutex> Lock(I->Mutex);
    if (!I->Scratch.empty()) {
      Scratch = std::move(I->Scratch.back());
      I->Scratch.pop_back();
    }
  }
  if (!Scratch)
    Scratch = std::make_unique<SequenceScratch>();
  Error E = decodeSequence(S->Sequence, S->Head.Executions, I->FirstSuccessor,
                           *Scratch, B.Symbols);
  {
    std::lock_guard<std::mutex> Lock(I->Mutex);
    I->Scratch.push_back(std::move(Scratch));
  }
  if (E)
    return Damaged(std::move(E));
  return B;
}

uint32_t TraceReader::superblockCount() const { return I->Definitions.size(); }
Definition TraceReader::definition(uint32_t Id) const {
  return Id < I->Definitions.size() ? I->Definitions[Id] : Definition();
}
ArrayRef<uint64_t> TraceReader::superblockAddresses() const {
  return I->Addresses;
}
uint32_t TraceReader::longestSuperblock() const { return I->LongestSuperblock; }
uint32_t TraceReader::exitCount() const { return I->ExitOwner.size(); }
uint32_t TraceReader::superblockOfExit(uint32_t Exit) const {
  return Exit < I->ExitOwner.size() ? I->ExitOwner[Exit] : 0;
}
StringRef TraceReader::reasonName(uint32_t Reason) const {
  auto It = I->ReasonNames.find(Reason);
  return It == I->ReasonNames.end() ? fixedReasonName(Reason) : It->second;
}

ArrayRef<uint8_t> TraceReader::programs() const { return I->Programs; }

ArrayRef<PageChunkEntry> TraceReader::pageChunks() const { return I->Chunks; }

ArrayRef<PageChunkEntry> TraceReader::pageChunksOf(FrameNumber Frame) const {
  struct ByFrame {
    bool operator()(const PageChunkEntry &E, FrameNumber F) const {
      return E.Frame < F;
    }
    bool operator()(FrameNumber F, const PageChunkEntry &E) const {
      return F < E.Frame;
    }
  };
  ArrayRef<PageChunkEntry> All = I->Chunks;
  auto [First, Last] =
      std::equal_range(All.begin(), All.end(), Frame, ByFrame());
  return ArrayRef(First, Last);
}

Expected<std::shared_ptr<const RawChunk>>
TraceReader::Impl::chunkOf(const PageChunkEntry &Entry) const {
  if (auto Known = ChunkCache.find(Entry.Offset))
    return Known;
  uint64_t Size;
  auto Raw = readRaw(Entry.Offset, PieceType::Pages, Entry.Frame, Size);
  if (!Raw)
    return Raw.takeError();
  RawChunk Result;
  Result.Storage = std::shared_ptr<const uint8_t[]>(std::move(*Raw));
  Result.Bytes = ArrayRef(Result.Storage.get(), Size);
  return ChunkCache.add(Entry.Offset, std::move(Result));
}

Expected<PageChunk>
TraceReader::readPageChunk(const PageChunkEntry &Entry) const {
  auto Raw = I->chunkOf(Entry);
  if (!Raw)
    return Raw.takeError();
  Expected<PageChunk> C = decodePageChunk(Entry.Frame, (*Raw)->Bytes);
  if (C)
    C->Storage = (*Raw)->Storage;
  return C;
}

Error TraceReader::readFrame(FrameNumber Frame, BlockNumber N,
                             uint8_t *Page) const {
  ArrayRef<PageChunkEntry> Chunks = pageChunksOf(Frame);
  auto It = llvm::partition_point(
      Chunks, [&](const PageChunkEntry &E) { return E.First < N; });
  if (It == Chunks.begin()) {
    std::memset(Page, 0, PageSize);
    return Error::success();
  }
  // Back to a chunk that has a base, then forward. What is decompressed here is
  // not kept: a replay reads hundreds of pages, most of them once, and memory
  // that is used again and again is in the processor's caches.
  static thread_local SmallVector<uint8_t, 0> Scratch;
  struct Link {
    std::shared_ptr<const RawChunk> Known; ///< or null, and in Scratch:
    size_t Offset, Size;
    ArrayRef<uint8_t> bytes() const {
      return Known ? Known->Bytes : ArrayRef(Scratch).slice(Offset, Size);
    }
  };
  SmallVector<Link, 8> Chain;
  Scratch.clear();
  do {
    if (It == Chunks.begin())
      return createStringError(
          "the history of frame 0x%" PRIx64 " has no beginning", Frame);
    --It;
    Link L = {I->ChunkCache.find(It->Offset), Scratch.size(), 0};
    if (!L.Known) {
      Expected<Piece> P = I->pieceAt(It->Offset, PieceType::Pages, Frame);
      if (!P)
        return P.takeError();
      L.Size = P->RawSize;
      Scratch.resize_for_overwrite(L.Offset + L.Size);
      if (Error E = P->readInto(Scratch.data() + L.Offset))
        return E;
    }
    Chain.push_back(std::move(L));
  } while (continuesChunk(Chain.back().bytes()));
  for (const Link &L : llvm::reverse(Chain))
    if (Error E = readPage(L.bytes(), N, Page))
      return E;
  return Error::success();
}

Expected<Piece> TraceReader::Impl::pieceAt(uint64_t Offset, PieceType Type,
                                           uint64_t Key) const {
  Expected<Piece> P = Piece::at(File, Offset);
  if (!P)
    return P.takeError();
  if (P->Type != Type || P->Key != Key)
    return createStringError("at offset %" PRIu64
                             ": not the %s the directory says",
                             Offset, pieceTypeName(Type).data());
  return P;
}

Expected<std::unique_ptr<uint8_t[]>>
TraceReader::Impl::readRaw(uint64_t Offset, PieceType Type, uint64_t Key,
                           uint64_t &Size) const {
  Expected<Piece> P = pieceAt(Offset, Type, Key);
  if (!P)
    return P.takeError();
  Size = P->RawSize;
  return P->read();
}

Expected<std::shared_ptr<const std::vector<ThreadStacks>>>
TraceReader::readStacks(BlockNumber N) const {
  if (auto Known = I->StacksCache.find(N))
    return Known;
  if (N >= I->Blocks.size())
    return createStringError("there is no block %" PRIu64, N);
  uint64_t Size;
  auto Raw = I->readRaw(I->Blocks[N].Offset, PieceType::Block, N, Size);
  if (!Raw)
    return Raw.takeError();
  Expected<BlockSections> S = splitBlock(ArrayRef(Raw->get(), Size));
  if (!S)
    return S.takeError();
  Expected<std::vector<ThreadStacks>> Stacks = decodeStacks(S->Stacks);
  if (!Stacks)
    return Stacks.takeError();
  return I->StacksCache.add(N, std::move(*Stacks));
}

Expected<std::shared_ptr<const std::vector<ActivationRecord>>>
TraceReader::Impl::activationsAt(const OtherPiece &P) const {
  if (auto Known = ActivationsCache.find(P.Key))
    return Known;
  uint64_t Size;
  auto Raw = readRaw(P.Offset, P.Type, P.Key, Size);
  if (!Raw)
    return Raw.takeError();
  auto Decoded = decodeActivations(ArrayRef(Raw->get(), Size), uint32_t(P.Key));
  if (!Decoded)
    return Decoded.takeError();
  return ActivationsCache.add(P.Key, std::move(*Decoded));
}

uint32_t TraceReader::activationCount() const { return I->Activations; }

Expected<ActivationRecord> TraceReader::activation(uint32_t Number) const {
  const std::vector<OtherPiece> &Pieces = I->ActivationPieces;
  auto It = llvm::partition_point(
      Pieces, [&](const OtherPiece &P) { return P.Key <= Number; });
  if (It != Pieces.begin()) {
    auto Piece = I->activationsAt(*std::prev(It));
    if (!Piece)
      return Piece.takeError();
    uint64_t Index = Number - std::prev(It)->Key;
    if (Index < (*Piece)->size())
      return (**Piece)[Index];
  }
  return createStringError("there is no activation %u", Number);
}

ArrayRef<ExecutionPiece> TraceReader::executionPieces() const {
  return I->ExecutionPieces;
}

Expected<ExecutionsPiece>
TraceReader::Impl::readExecutions(uint64_t Offset, PieceType Type,
                                  uint64_t Key) const {
  uint64_t Size;
  auto Raw = readRaw(Offset, Type, Key, Size);
  if (!Raw)
    return Raw.takeError();
  Expected<ExecutionRange> Range =
      ExecutionRange::create(ArrayRef(Raw->get(), Size));
  if (!Range)
    return Range.takeError();
  return ExecutionsPiece{std::move(*Raw), *Range};
}

Expected<std::shared_ptr<const ExecutionsPiece>>
TraceReader::Impl::indexAt(const OtherPiece &P) const {
  if (auto Known = IndexCache.find(P.Key))
    return Known;
  Expected<ExecutionsPiece> Part = readExecutions(P.Offset, P.Type, P.Key);
  if (!Part)
    return Part.takeError();
  return IndexCache.add(P.Key, std::move(*Part));
}

bool TraceReader::visitExecutionIndex(
    ArrayRef<uint32_t> Superblocks,
    function_ref<void(const ExecutionRun &)> Visit) const {
  ArrayRef<OtherPiece> Parts = I->IndexPieces;
  if (Parts.empty())
    return false;
  while (!Superblocks.empty()) {
    // The last part that begins at the superblock or before.
    auto Part = llvm::partition_point(Parts, [&](const OtherPiece &P) {
      return P.Key <= Superblocks.front();
    });
    const uint64_t End = Part == Parts.end() ? ~uint64_t(0) : Part->Key;
    ArrayRef<uint32_t> Here = Superblocks.take_while(
        [&](uint32_t Superblock) { return Superblock < End; });
    Superblocks = Superblocks.drop_front(Here.size());
    if (Part == Parts.begin())
      continue;
    auto Piece = I->indexAt(*std::prev(Part));
    Error E = Piece ? (*Piece)->Range.visit(Here, Visit) : Piece.takeError();
    if (E) {
      // It only tells where to look: nothing is wrong without it, but slow.
      consumeError(std::move(E));
      return false;
    }
  }
  return true;
}

Expected<std::shared_ptr<const ExecutionRange>>
TraceReader::readExecutions(const ExecutionPiece &P) const {
  auto Range = [](std::shared_ptr<const ExecutionsPiece> Piece) {
    const ExecutionRange *R = &Piece->Range;
    return std::shared_ptr<const ExecutionRange>(std::move(Piece), R);
  };
  if (auto Known = I->ExecutionsCache.find(P.First))
    return Range(Known);
  Expected<ExecutionsPiece> Read =
      I->readExecutions(P.Offset, PieceType::Executions, P.First);
  if (!Read)
    return Read.takeError();
  if (Read->Range.first() != P.First || Read->Range.last() != P.Last)
    return createStringError("executions of other blocks than expected");
  return Range(I->ExecutionsCache.add(P.First, std::move(*Read)));
}

ArrayRef<TimelineEvent> TraceReader::timeline() const { return I->Timeline; }

ArrayRef<PartSize> TraceReader::partSizes() const {
  std::call_once(I->PartsOnce, [this] {
    for (uint64_t Offset = FileHeaderSize; Offset < I->File.size();) {
      Expected<Piece> P = Piece::at(I->File, Offset);
      if (!P) {
        // The footer, or where a damaged file stops making sense.
        consumeError(P.takeError());
        break;
      }
      PartSize &S = I->Parts[unsigned(P->Type)];
      ++S.Pieces;
      S.Stored += P->End - P->Offset;
      S.Raw += P->RawSize;
      Offset = P->End;
    }
  });
  return I->Parts;
}

Error TraceReader::checkAllPieces() const {
  uint64_t End = I->File.size() - (decodeFooter(I->File) ? FooterSize : 0);
  for (uint64_t Offset = FileHeaderSize; Offset < End;) {
    Expected<Piece> P = Piece::at(I->File, Offset);
    if (!P)
      return P.takeError();
    if (Error E = P->check())
      return E;
    Offset = P->End;
  }
  return Error::success();
}

} // namespace chronicle
