// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/DatabaseBuilder.h"
#include "trace-format/Thread.h"
#include "trace-format/file/Directory.h"
#include "trace-format/file/Piece.h"
#include "trace-format/pieces/DefinitionFormat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <thread>

using namespace llvm;

namespace chronicle::indexer {

/// Definitions and timeline are gathered up to this size.
static constexpr size_t GatherBytes = 64 << 10;
/// An executions piece covers this many blocks, or fewer if many superblocks
/// ran in them: every question about an execution reads half a piece.
static constexpr uint64_t ExecutionBlocks = 1024, ExecutionRuns = 1 << 15;
/// The index of these pieces is in parts of this size; a question about a
/// superblock reads one.
static constexpr size_t IndexPartBytes = 32 << 10;
/// Programs are stored for superblocks that ran in at least this many blocks.
/// Storing those of code that runs once would make the file three times as
/// large.
static constexpr uint32_t ProgramBlocks = 4;
/// Copies of the run and the timeline go into the directory up to this size.
/// Opening a trace decompresses the directory.
static constexpr uint64_t MostCopied = 1 << 20;
/// A checkpoint is due after this many more bytes, or after a quarter of the
/// file's size. So a full disk loses little of a trace, and checkpoints take
/// little of the disk.
static constexpr uint64_t CheckpointGrowth = 2 << 20;

DatabaseBuilder::DatabaseBuilder(MemoryImage &Image,
                                 std::unique_ptr<file::TraceWriter> W,
                                 pieces::ProgramMaker Programs,
                                 unsigned CheckpointBlocks,
                                 double CheckpointSeconds)
    : Writer(std::move(W)), Image(Image), Pages(Image, *Writer),
      Maker(std::move(Programs)), CheckpointBlocks(CheckpointBlocks),
      CheckpointTime(CheckpointSeconds),
      LastCheckpoint(std::chrono::steady_clock::now()) {}

void DatabaseBuilder::append(PieceType Type, uint64_t Key, ByteWriter &Bytes) {
  Others.push_back({Type, Writer->append(Type, Key, Bytes.take()), Key});
}

/// A trace without these pieces would be lost, and they are small.
void DatabaseBuilder::appendWithCopy(PieceType Type, uint64_t Key,
                                     ByteWriter &Bytes) {
  std::vector<uint8_t> Raw = Bytes.data().vec();
  append(Type, Key, Bytes);
  CopiedBytes += Raw.size();
  if (CopiedBytes <= MostCopied)
    Copies.push_back({Others.back().Number, std::move(Raw)});
}

void DatabaseBuilder::appendJson(PieceType Type, uint64_t Key,
                                 json::Object Value) {
  std::string Text;
  raw_string_ostream(Text) << json::Value(std::move(Value));
  ByteWriter Bytes;
  Bytes.bytes(StringRef(Text));
  append(Type, Key, Bytes);
}

void DatabaseBuilder::addRun(const json::Object &Run) {
  std::string Text;
  raw_string_ostream(Text) << json::Value(json::Object(Run));
  ByteWriter Bytes;
  Bytes.bytes(StringRef(Text));
  appendWithCopy(PieceType::Run, 0, Bytes);
}

void DatabaseBuilder::addDefinition(uint32_t Id, ArrayRef<uint8_t> Definition) {
  if (Definitions.empty())
    FirstDefinition = Id;
  Definitions.u8(DefinitionTag);
  Definitions.v(Id);
  Definitions.v(Definition.size());
  Definitions.bytes(Definition);
  ByteReader Head(Definition);
  Head.u64(); // address
  Head.v();   // instructions
  Defined = {uint64_t(Id) + 1, Defined.Exit + Head.v() + 1};
  if (Definitions.size() >= GatherBytes)
    flushDefinitions();
}

void DatabaseBuilder::addReasonName(uint32_t Reason, ArrayRef<uint8_t> Name) {
  Definitions.u8(ReasonNameTag);
  Definitions.v(Reason);
  Definitions.v(Name.size());
  Definitions.bytes(Name);
}

void DatabaseBuilder::flushDefinitions() {
  if (Definitions.empty())
    return;
  append(PieceType::Definitions, FirstDefinition, Definitions);
  Starts.push_back(Defined);
}

void DatabaseBuilder::addTimeline(Timestamp Time, uint32_t Kind,
                                  ArrayRef<uint8_t> Payload) {
  if (Timeline.empty())
    FirstTimelineBlock = nextBlock();
  Timeline.v(nextBlock());
  Timeline.v(Time);
  Timeline.v(Kind);
  Timeline.v(Payload.size());
  Timeline.bytes(Payload);
}

void DatabaseBuilder::flushTimeline() {
  if (!Timeline.empty())
    appendWithCopy(PieceType::Timeline, FirstTimelineBlock, Timeline);
}

void DatabaseBuilder::flushActivations() {
  if (Activations.empty())
    return;
  uint32_t First = Activations.first();
  ByteWriter Bytes = Activations.take();
  append(PieceType::Activations, First, Bytes);
}

void DatabaseBuilder::flushExecutions() {
  BlockNumber First = Executed.first();
  if (First == nextBlock())
    return;
  ByteWriter Bytes = Executed.take(nextBlock());
  for (uint32_t Superblock : Executed.superblocks())
    ExecutedIn.ran(Superblock, ExecutionPieces);
  ++ExecutionPieces;
  append(PieceType::Executions, First, Bytes);
}

void DatabaseBuilder::addBlock(pieces::BlockHead Head,
                               const pieces::EventsWriter &Events,
                               pieces::SequenceCoder &Sequence,
                               ArrayRef<uint8_t> Opaque,
                               ArrayRef<uint8_t> Stacks,
                               ArrayRef<uint32_t> Owners) {
  BlockNumber N = nextBlock();
  Pages.endBlock(N, Head);
  Image.endBlock();
  ArrayRef<uint8_t> Coded = Sequence.endBlock();
  for (auto [Exit, Successor] : Sequence.takeNewSuccessors()) {
    Definitions.u8(SuccessorTag);
    Definitions.v(Exit);
    Definitions.v(Successor);
  }
  ByteWriter Bytes;
  pieces::encodeBlock(Bytes, Head, Events.Bytes.data(), Coded, Opaque, Stacks);
  for (uint32_t Exit : Sequence.seen())
    Executed.ran(Owners[Exit], N);
  const uint64_t Number = Writer->append(PieceType::Block, N, Bytes.take());
  Blocks.push_back({Number, Head.First, Events.Kinds});
  ThreadsIn.add(N, Events.Threads);
  Sum.Blocks = Blocks.size();
  Sum.Instructions += Head.Instructions;
  Sum.Executions += Head.Executions;

  if (Definitions.size() >= GatherBytes)
    flushDefinitions();
  if (Timeline.size() >= GatherBytes)
    flushTimeline();
  if (Activations.size() >= GatherBytes)
    flushActivations();
  if (nextBlock() - Executed.first() >= ExecutionBlocks ||
      Executed.runs() >= ExecutionRuns)
    flushExecutions();
  uint64_t Since =
      Sum.Blocks - (Checkpoints.empty() ? 0 : Checkpoints.back().Blocks);
  uint64_t Growth = Writer->rawBytes() - CheckpointBytes;
  // The first checkpoint comes early: from then on a full disk leaves a
  // readable trace.
  if (Checkpoints.empty() || Since >= CheckpointBlocks || Pages.wantsClose() ||
      Growth >= std::max(CheckpointGrowth, CheckpointBytes / 4))
    checkpoint();
  else
    idle();
}

void DatabaseBuilder::idle() {
  uint64_t Done = Checkpoints.empty() ? 0 : Checkpoints.back().Blocks;
  if (Sum.Blocks > Done &&
      std::chrono::steady_clock::now() - LastCheckpoint >= CheckpointTime)
    checkpoint();
}

void DatabaseBuilder::checkpoint() {
  Pages.closeAll();
  flushDefinitions();
  flushTimeline();
  flushActivations();
  flushExecutions();
  // An upper bound for the end piece, the tables and the directory.
  Writer->setReserve((1 << 20) + std::min(CopiedBytes, MostCopied) +
                     64 * Sum.Blocks + 100 * Pages.chunkCount() +
                     sizeof(pieces::ThreadStretch) * ThreadsIn.stretches() +
                     12 * ExecutedIn.runs());
  appendJson(
      PieceType::Checkpoint, Sum.Blocks,
      json::Object{{"blocks", Sum.Blocks}, {"instructions", Sum.Instructions}});
  Checkpoints.push_back(Sum);
  CheckpointBytes = Writer->rawBytes();
  LastCheckpoint = std::chrono::steady_clock::now();
}

namespace {
/// A superblock that gets a program.
struct Candidate {
  uint32_t Superblock;
  ArrayRef<uint8_t> Definition;
  std::optional<SmallVector<uint8_t, 0>> Program;
};
} // namespace

/// Makes the programs on all processors: the recorder has ended, and nothing
/// else is left to do.
static void makeAll(const pieces::ProgramMaker &Maker,
                    MutableArrayRef<Candidate> All) {
  constexpr size_t AtOnce = 128, MostThreads = 4;
  std::atomic<size_t> Next = 0;
  auto Work = [&] {
    for (size_t First; (First = Next.fetch_add(AtOnce)) < All.size();)
      for (Candidate &C :
           All.slice(First, std::min(AtOnce, All.size() - First)))
        C.Program = Maker.Make(C.Superblock, C.Definition);
  };
  const size_t Threads =
      std::min({MostThreads, size_t(std::thread::hardware_concurrency()),
                All.size() / AtOnce});
  std::vector<Thread> Others;
  for (size_t I = 1; I < Threads; ++I)
    if (Expected<Thread> T = Thread::start(Work))
      Others.push_back(std::move(*T));
    else
      consumeError(T.takeError()); // this thread does its part
  Work();
  for (Thread &T : Others)
    T.join();
}

/// Makes the programs piece from the definitions in the file.
Expected<pieces::ProgramsWriter> DatabaseBuilder::makePrograms() const {
  pieces::ProgramsWriter Programs(Maker.Version, Executed.superblockEnd(),
                                  Passed);
  Expected<std::unique_ptr<MemoryBuffer>> File = Writer->written();
  if (!File)
    return File.takeError();
  // Some thousand at a time, so that the memory for them stays small.
  constexpr size_t AtOnce = 4096;
  std::vector<std::unique_ptr<uint8_t[]>> Storage; // what All points into
  std::vector<Candidate> All;
  auto Add = [&] {
    makeAll(Maker, All);
    const bool Fits = all_of(All, [&](const Candidate &C) {
      return !C.Program || Programs.add(C.Superblock, *C.Program);
    });
    All.clear();
    Storage.clear();
    return Fits;
  };
  for (const OtherRecord &R : Others) {
    if (R.Type != PieceType::Definitions)
      continue;
    Expected<file::Piece> P =
        file::Piece::at(arrayRefFromStringRef((*File)->getBuffer()),
                        Writer->offsetOf(R.Number));
    if (!P)
      return P.takeError();
    Expected<std::unique_ptr<uint8_t[]>> Raw = P->read();
    if (!Raw)
      return Raw.takeError();
    pieces::DefinitionsReader Entries(ArrayRef(Raw->get(), P->RawSize));
    while (std::optional<pieces::DefinitionEntry> E = Entries.next())
      if (E->Tag == DefinitionTag && E->Number < Executed.superblockEnd() &&
          Executed.blocksOf(uint32_t(E->Number)) >= ProgramBlocks)
        All.push_back({uint32_t(E->Number), E->Bytes, std::nullopt});
    Storage.push_back(std::move(*Raw));
    if (All.size() >= AtOnce && !Add())
      return Programs;
  }
  Add();
  return Programs;
}

/// The trace is whole without programs. If they cannot be written, the file
/// goes back to its last checkpoint, which is complete.
Error DatabaseBuilder::addPrograms() {
  if (!Maker.Make)
    return Error::success();
  Expected<pieces::ProgramsWriter> Programs = makePrograms();
  if (!Programs)
    return Programs.takeError();
  Others.push_back({PieceType::Programs,
                    Writer->append(PieceType::Programs, 0, Programs->take()),
                    0});
  Error E = Writer->flush();
  if (!E)
    return E;
  consumeError(std::move(E));
  Others.pop_back();
  return Writer->recover().takeError();
}

/// Writes the tables about the pieces below that number.
void DatabaseBuilder::appendTables(const Totals &T, uint64_t Pieces) {
  // The index may name pieces that are not in the trace, if some could not be
  // written.
  if (ExecutionIndex.empty())
    ExecutionIndex = ExecutedIn.takeParts(ExecutionPieces, IndexPartBytes);
  ByteWriter Bytes;
  for (const pieces::ExecutionsWriter::Part &P : ExecutionIndex) {
    Bytes.bytes(P.Bytes.data());
    append(PieceType::ExecutionIndex, P.First, Bytes);
  }
  auto Table = [&]<typename E>(PieceType Type, ArrayRef<E> Entries) {
    Bytes.bytes(Entries.data(), Entries.size() * sizeof(E));
    append(Type, 0, Bytes);
  };
  std::vector<BlockEntry> Placed(Blocks.begin(), Blocks.begin() + T.Blocks);
  for (BlockEntry &B : Placed)
    B.Offset = Writer->offsetOf(B.Offset);
  Table(PieceType::Blocks, ArrayRef(Placed));
  Table(PieceType::Threads, ArrayRef(ThreadsIn.table(T.Blocks)));
  Others.push_back({PieceType::Chunks,
                    Writer->append(PieceType::Chunks, 0, Pages.table(Pieces)),
                    0});
}

Error DatabaseBuilder::complete(json::Object End, const Totals &T,
                                uint64_t Pieces) {
  const size_t Earlier = Others.size();
  appendJson(PieceType::End, 0, std::move(End));
  if (Error E = Writer->flush())
    return E;
  appendTables(T, Pieces);
  if (Error E = Writer->flush())
    return E;
  file::Directory D;
  D.Instructions = T.Instructions;
  D.Blocks = T.Blocks;
  D.Executions = T.Executions;
  for (auto [I, R] : enumerate(Others))
    if (R.Number < Pieces || I >= Earlier)
      D.Pieces.push_back({R.Type, Writer->offsetOf(R.Number), R.Key});
  D.Starts.assign(Starts.begin(),
                  Starts.begin() + 1 +
                      count_if(D.Pieces, [](const file::OtherPiece &P) {
                        return P.Type == PieceType::Definitions;
                      }));
  for (const file::PieceCopy &C : Copies)
    if (C.Offset < Pieces)
      D.Copies.push_back({Writer->offsetOf(C.Offset), C.Raw});
  ByteWriter Bytes;
  file::encodeDirectory(Bytes, D);
  return Writer->close(Writer->append(PieceType::Directory, 0, Bytes.take()));
}

Expected<DatabaseBuilder::Totals> DatabaseBuilder::finish(
    function_ref<json::Object(const Totals &, std::error_code, StringRef)>
        End) {
  if (!Writer->failed())
    checkpoint();
  Error E = Writer->flush();
  if (!E)
    E = addPrograms();
  if (!E)
    E = complete(End(Sum, std::error_code(), ""), Sum, UINT64_MAX);
  if (!E)
    return Sum;

  std::error_code Code;
  std::string Message;
  handleAllErrors(std::move(E), [&](const ErrorInfoBase &Info) {
    Code = Info.convertToErrorCode();
    Message = Info.message();
  });
  Expected<file::TraceWriter::Recovery> R = Writer->recover();
  if (!R)
    return R.takeError();
  Totals Left;
  for (const Totals &T : Checkpoints)
    if (T.Blocks == R->Blocks)
      Left = T;
  if (Error Again = complete(End(Left, Code, Message), Left, R->Pieces))
    return Again;
  return Left;
}

} // namespace chronicle::indexer
