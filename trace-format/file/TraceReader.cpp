// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/file/TraceReader.h"
#include "trace-format/events/EventNames.h"
#include "trace-format/file/DirectoryRebuilder.h"
#include "trace-format/file/FrameReader.h"
#include "trace-format/file/PieceFile.h"
#include "trace-format/file/TraceTables.h"
#include "trace-format/pieces/BlockFormat.h"
#include "trace-format/pieces/SequenceCoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cinttypes>
#include <mutex>

using namespace llvm;

namespace chronicle::file {

struct TraceReader::Impl {
  std::string Path;
  std::unique_ptr<MemoryBuffer> Buffer;
  PieceFile File;
  std::string Truncated;

  Directory Dir;
  std::optional<RebuiltDirectory> Rebuilt; ///< by a scan
  TraceTables Tables;
  std::unique_ptr<FrameReader> Frames;

  std::once_flag PartsOnce;
  std::array<PartSize, PieceTypeCount> Parts;

  /// The part of packed files that was read last: small files share one.
  std::mutex PartMutex;
  std::shared_ptr<const RawPiece> LastPart;
  uint64_t LastPartOffset = 0;

  Expected<std::shared_ptr<const RawPiece>> readPart(const OtherPiece &P);

  /// What decoding a sequence needs, kept from one block to the next.
  std::mutex ScratchMutex;
  std::vector<std::unique_ptr<pieces::SequenceScratch>> Scratch;

  Error loadByFooter();
  Error loadByScan();
  Error decodeSequence(const pieces::BlockSections &S,
                       std::vector<uint32_t> &Symbols);
};

TraceReader::TraceReader() : I(std::make_unique<Impl>()) {}
TraceReader::~TraceReader() = default;

Error TraceReader::Impl::loadByFooter() {
  Expected<Directory> D = File.readDirectory();
  if (!D)
    return D.takeError();
  Dir = std::move(*D);
  return Tables.load(File, Dir, /*Rebuilt=*/nullptr);
}

Error TraceReader::Impl::loadByScan() {
  Expected<RebuiltDirectory> D = rebuildDirectory(File.bytes(), Path);
  if (!D)
    return D.takeError();
  Rebuilt = std::move(*D);
  Dir = std::move(Rebuilt->Dir);
  Truncated = std::move(Rebuilt->Truncated);
  Tables = TraceTables();
  if (Error E = Tables.load(File, Dir, &*Rebuilt))
    return createStringError(inconvertibleErrorCode(),
                             "'" + Path +
                                 "' cannot be read: " + toString(std::move(E)));
  return Error::success();
}

Expected<std::unique_ptr<TraceReader>> TraceReader::open(StringRef Path) {
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = openTraceFile(Path);
  if (!Buffer)
    return Buffer.takeError();
  return open(std::move(*Buffer));
}

Expected<std::unique_ptr<TraceReader>>
TraceReader::open(std::unique_ptr<MemoryBuffer> Buffer) {
  std::unique_ptr<TraceReader> Reader(new TraceReader());
  Impl &I = *Reader->I;
  I.Path = Buffer->getBufferIdentifier().str();
  I.Buffer = std::move(Buffer);
  I.File = PieceFile(arrayRefFromStringRef(I.Buffer->getBuffer()));
  if (Error E = checkFileHeader(I.File.bytes(), I.Path))
    return E;
  if (Error E = I.loadByFooter()) {
    // The scan finds out by itself what is wrong, and where.
    consumeError(std::move(E));
    if (Error Unreadable = I.loadByScan())
      return Unreadable;
  }
  if (I.Truncated.empty())
    I.Truncated = I.Tables.Missing;
  I.Frames = std::make_unique<FrameReader>(I.File, I.Tables.Chunks);
  if (I.Tables.End && I.Truncated.empty())
    if (std::optional<StringRef> Message = I.Tables.End->getString("failure"))
      I.Truncated = Message->str();
  return Reader;
}

StringRef TraceReader::path() const { return I->Path; }
uint64_t TraceReader::fileSize() const { return I->File.bytes().size(); }
StringRef TraceReader::truncated() const { return I->Truncated; }
bool TraceReader::rebuilt() const { return I->Rebuilt.has_value(); }
const json::Object &TraceReader::run() const { return I->Tables.Run; }
const json::Object *TraceReader::end() const {
  return I->Tables.End ? &*I->Tables.End : nullptr;
}
Timestamp TraceReader::instructions() const { return I->Dir.Instructions; }
uint64_t TraceReader::executions() const { return I->Dir.Executions; }
ArrayRef<BlockEntry> TraceReader::blocks() const { return I->Tables.Blocks; }
pieces::ThreadBlocks TraceReader::blocksOf(uint32_t Thread) const {
  return pieces::ThreadBlocks(I->Tables.Threads, Thread);
}

BlockNumber TraceReader::blockAt(Timestamp T) const {
  ArrayRef<BlockEntry> Blocks = blocks();
  auto It = llvm::upper_bound(
      Blocks, T, [](Timestamp T, const BlockEntry &B) { return T < B.First; });
  return It == Blocks.begin() ? 0 : It - Blocks.begin() - 1;
}

Error TraceReader::Impl::decodeSequence(const pieces::BlockSections &S,
                                        std::vector<uint32_t> &Symbols) {
  std::unique_ptr<pieces::SequenceScratch> Mine;
  {
    std::lock_guard<std::mutex> Lock(ScratchMutex);
    if (!Scratch.empty()) {
      Mine = std::move(Scratch.back());
      Scratch.pop_back();
    }
  }
  if (!Mine)
    Mine = std::make_unique<pieces::SequenceScratch>();
  Error E = pieces::decodeSequence(S.Sequence, S.Head.Executions,
                                   Tables.FirstSuccessor, *Mine, Symbols);
  if (!Tables.Missing.empty()) {
    const bool Unknown =
        E || any_of(Symbols, [&](uint32_t S) { return !Tables.ExitOwner[S]; });
    consumeError(std::move(E));
    E = Unknown ? createStringError("it needs definitions that are damaged")
                : Error::success();
  }
  std::lock_guard<std::mutex> Lock(ScratchMutex);
  Scratch.push_back(std::move(Mine));
  return E;
}

Expected<Block> TraceReader::readBlock(BlockNumber N) const {
  auto Damaged = [&](Error E) {
    return createStringError("block %" PRIu64 ": %s", N,
                             toString(std::move(E)).c_str());
  };
  if (N >= blocks().size())
    return createStringError("there is no block %" PRIu64, N);
  Expected<RawPiece> Raw =
      I->File.read(blocks()[N].Offset, PieceType::Block, N);
  if (!Raw)
    return Damaged(Raw.takeError());
  Expected<pieces::BlockSections> S = pieces::splitBlock(Raw->bytes());
  if (!S)
    return Damaged(S.takeError());
  Expected<std::vector<Event>> Events =
      pieces::decodeEvents(S->Events, S->Head);
  if (!Events)
    return Damaged(Events.takeError());
  Block B;
  B.Storage = std::move(Raw->Storage);
  B.Number = N;
  B.First = S->Head.First;
  B.Instructions = S->Head.Instructions;
  B.DirtyPages = S->Head.DirtyPages;
  B.DirtyGranules = S->Head.DirtyGranules;
  B.Events = std::move(*Events);
  B.Opaque = S->Opaque;
  if (Error E = I->decodeSequence(*S, B.Symbols))
    return Damaged(std::move(E));
  return B;
}

uint32_t TraceReader::superblockCount() const {
  return I->Tables.Definitions.size();
}
Definition TraceReader::definition(uint32_t Id) const {
  const std::vector<Definition> &All = I->Tables.Definitions;
  return Id < All.size() ? All[Id] : Definition();
}
ArrayRef<uint64_t> TraceReader::superblockAddresses() const {
  return I->Tables.Addresses;
}
uint32_t TraceReader::longestSuperblock() const {
  return I->Tables.LongestSuperblock;
}
uint32_t TraceReader::exitCount() const { return I->Tables.ExitOwner.size(); }
uint32_t TraceReader::superblockOfExit(uint32_t Exit) const {
  const std::vector<uint32_t> &Owner = I->Tables.ExitOwner;
  return Exit < Owner.size() ? Owner[Exit] : 0;
}
StringRef TraceReader::reasonName(uint32_t Reason) const {
  auto It = I->Tables.ReasonNames.find(Reason);
  return It == I->Tables.ReasonNames.end() ? events::fixedReasonName(Reason)
                                           : It->second;
}
ArrayRef<uint8_t> TraceReader::programs() const { return I->Tables.Programs; }
ArrayRef<TimelineEvent> TraceReader::timeline() const {
  return I->Tables.Timeline;
}

ArrayRef<PageChunkEntry> TraceReader::pageChunks() const {
  return I->Tables.Chunks;
}
ArrayRef<PageChunkEntry> TraceReader::pageChunksOf(FrameNumber Frame) const {
  return I->Frames->chunksOf(Frame);
}
Expected<PageChunk>
TraceReader::readPageChunk(const PageChunkEntry &Entry) const {
  return I->Frames->readChunk(Entry);
}
Error TraceReader::readFrame(FrameNumber Frame, BlockNumber N,
                             uint8_t *Page) const {
  return I->Frames->readFrame(Frame, N, Page);
}

Expected<std::vector<pieces::ThreadStacks>>
TraceReader::readStacks(BlockNumber N) const {
  if (N >= blocks().size())
    return createStringError("there is no block %" PRIu64, N);
  Expected<RawPiece> Raw =
      I->File.read(blocks()[N].Offset, PieceType::Block, N);
  if (!Raw)
    return Raw.takeError();
  Expected<pieces::BlockSections> S = pieces::splitBlock(Raw->bytes());
  if (!S)
    return S.takeError();
  return pieces::decodeStacks(S->Stacks);
}

uint32_t TraceReader::activationCount() const { return I->Tables.Activations; }
ArrayRef<ActivationPiece> TraceReader::activationPieces() const {
  return I->Tables.ActivationPieces;
}
Expected<std::vector<pieces::ActivationRecord>>
TraceReader::readActivations(const ActivationPiece &P) const {
  Expected<RawPiece> Raw =
      I->File.read(P.Offset, PieceType::Activations, P.First);
  if (!Raw)
    return Raw.takeError();
  return pieces::decodeActivations(Raw->bytes(), uint32_t(P.First));
}

static Expected<StoredExecutions> decodeExecutions(Expected<RawPiece> Raw) {
  if (!Raw)
    return Raw.takeError();
  Expected<pieces::ExecutionRange> Range =
      pieces::ExecutionRange::create(Raw->bytes());
  if (!Range)
    return Range.takeError();
  return StoredExecutions{std::move(Raw->Storage), *Range};
}

ArrayRef<ExecutionPiece> TraceReader::executionPieces() const {
  return I->Tables.ExecutionPieces;
}
Expected<StoredExecutions>
TraceReader::readExecutions(const ExecutionPiece &P) const {
  Expected<StoredExecutions> Read =
      decodeExecutions(I->File.read(P.Offset, PieceType::Executions, P.First));
  if (Read && (Read->Range.first() != P.First || Read->Range.last() != P.Last))
    return createStringError("executions of other blocks than expected");
  return Read;
}

ArrayRef<ExecutionIndexPiece> TraceReader::executionIndex() const {
  return I->Tables.IndexPieces;
}
Expected<StoredExecutions>
TraceReader::readExecutionIndex(const ExecutionIndexPiece &P) const {
  return decodeExecutions(
      I->File.read(P.Offset, PieceType::ExecutionIndex, P.First));
}

Expected<std::vector<pieces::PackedFile>> TraceReader::packedFiles() const {
  std::vector<pieces::PackedFile> Result;
  for (const OtherPiece &P : I->Tables.Files) {
    Expected<RawPiece> Raw = I->File.read(P);
    if (!Raw)
      return Raw.takeError();
    if (Error E = pieces::decodePackedFiles(Raw->bytes(), Result))
      return E;
  }
  return Result;
}

Expected<std::shared_ptr<const RawPiece>>
TraceReader::Impl::readPart(const OtherPiece &P) {
  std::lock_guard<std::mutex> Guard(PartMutex);
  if (LastPart && LastPartOffset == P.Offset)
    return LastPart;
  Expected<RawPiece> Raw = File.read(P);
  if (!Raw)
    return Raw.takeError();
  LastPart = std::make_shared<RawPiece>(std::move(*Raw));
  LastPartOffset = P.Offset;
  return LastPart;
}

Error TraceReader::readPacked(
    const pieces::PackedFile &File,
    function_ref<Error(ArrayRef<uint8_t>)> Take) const {
  ArrayRef<OtherPiece> Parts = I->Tables.Contents;
  // The last part that begins at or before the file.
  const auto *Part =
      llvm::upper_bound(Parts, File.Offset,
                        [](uint64_t At, const auto &P) { return At < P.Key; });
  uint64_t At = File.Offset, Left = File.Size;
  if (Part != Parts.begin())
    --Part;
  for (; Left && Part != Parts.end(); ++Part) {
    Expected<Piece> Header = I->File.at(*Part);
    if (!Header)
      return Header.takeError();
    if (Header->RawSize > pieces::PackedPartSize || At < Part->Key ||
        At - Part->Key >= Header->RawSize)
      break;
    Expected<std::shared_ptr<const RawPiece>> Raw = I->readPart(*Part);
    if (!Raw)
      return Raw.takeError();
    ArrayRef<uint8_t> Bytes = (*Raw)->bytes().drop_front(At - Part->Key);
    Bytes = Bytes.take_front(Left);
    if (Error E = Take(Bytes))
      return E;
    At += Bytes.size();
    Left -= Bytes.size();
  }
  if (Left)
    return createStringError("the contents of a packed file are missing");
  return Error::success();
}

ArrayRef<PartSize> TraceReader::partSizes() const {
  std::call_once(I->PartsOnce, [this] { I->Parts = I->File.partSizes(); });
  return I->Parts;
}

Error TraceReader::checkAllPieces() const { return I->File.checkAll(); }

} // namespace chronicle::file
