// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/Indexer.h"
#include "indexer/StreamDecoder.h"
#include "trace-format/Text.h"
#include <sys/mman.h>

using namespace llvm;

namespace chronicle::indexer {

/// How long to wait for a silent recorder before checking whether it is alive.
static constexpr unsigned WaitMilliseconds = 100;

/// Whether a block can be indexed, and the trace finished, without a failure to
/// allocate memory, which would end the process. A limit (ulimit -v) or a
/// machine that promises no more than it has refuses the mapping. Costs 2 us,
/// of about 1 ms that a block takes.
static bool memoryIsLeft() {
  constexpr size_t Needed = 192 << 20;
  void *Memory = mmap(nullptr, Needed, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Memory == MAP_FAILED)
    return false;
  munmap(Memory, Needed);
  return true;
}

struct Indexer::Impl {
  Impl(RingReader Ring, std::unique_ptr<file::TraceWriter> Writer,
       const IndexerOptions &O)
      : Ring(Ring), Database(Image, std::move(Writer), O.Programs,
                             O.CheckpointBlocks, O.CheckpointSeconds),
        Archive(O.Kin.Archive), Decoder(Image, Database, O.Translations, O.Kin),
        ExecutableMapped(O.ExecutableMapped) {}

  void step();
  /// Nothing more is added to the trace.
  bool cutOff() const {
    return !StreamFailure.empty() || OutOfMemory || Database.failed();
  }
  void noteProgress();
  json::Object endPiece(const EndInfo &Info,
                        const DatabaseBuilder::Totals &Totals,
                        std::error_code Code, StringRef Failure);

  RingReader Ring;
  MemoryImage Image;
  DatabaseBuilder Database;
  std::shared_ptr<family::DefinitionArchive> Archive;
  StreamDecoder Decoder;
  IndexerProgress Progress;
  std::atomic<bool> Gone{false};
  uint32_t Requested = 0;
  bool Last = false;
  std::function<void(StringRef)> ExecutableMapped;
  size_t Reported = 0;       ///< files that it was called with
  std::string StreamFailure; ///< why the stream is invalid, or empty
  bool OutOfMemory = false;
  IndexSummary Summary;
};

Indexer::Indexer() = default;
Indexer::~Indexer() = default;

Expected<std::unique_ptr<Indexer>>
Indexer::create(const IndexerOptions &Options, void *Ring, size_t RingBytes) {
  Expected<RingReader> Reader = RingReader::create(Ring, RingBytes);
  if (!Reader)
    return Reader.takeError();
  auto Writer = file::TraceWriter::create(Options.Path, Options.Overwrite,
                                          Options.Compression, Options.Workers);
  if (!Writer)
    return Writer.takeError();
  std::unique_ptr<Indexer> Result(new Indexer());
  Result->I = std::make_unique<Impl>(*Reader, std::move(*Writer), Options);
  Result->I->Database.addRun(Options.Run);
  return Result;
}

void Indexer::Impl::noteProgress() {
  const StreamCounts &C = Decoder.counts();
  Progress.Instructions = Decoder.instructions();
  Progress.Executions = Decoder.executions();
  Progress.Superblocks = Decoder.superblocks();
  Progress.Events = C.Events;
  Progress.Threads = C.Threads;
  Progress.Outputs = C.EventsByKind[CH_EV_OUTPUT];
  Progress.Blocks = Database.nextBlock();
  Progress.FileBytes = Database.bytesWritten();
}

/// Reads one chunk, or only gives it back once the trace cannot go on.
void Indexer::Impl::step() {
  Expected<RingChunk> Chunk = Ring.chunk();
  Error E = Chunk ? Error::success() : Chunk.takeError();
  if (!E) {
    Last = Chunk->Last;
    if (!cutOff() && !memoryIsLeft())
      OutOfMemory = true;
    if (!cutOff())
      E = Decoder.decode(*Chunk);
  }
  if (E && StreamFailure.empty())
    StreamFailure = toString(std::move(E));
  else
    consumeError(std::move(E));
  Ring.release();
  noteProgress();
  for (ArrayRef<std::string> All = Decoder.events().modules().executables();
       ExecutableMapped && Reported < All.size(); ++Reported)
    ExecutableMapped(All[Reported]);
  if (cutOff()) {
    Progress.Failed = true;
    if (Archive)
      Archive->close();
  }
  uint32_t Wanted =
      Decoder.events().requests() | (Progress.Failed ? CH_REQUEST_STOP : 0);
  if (Wanted & ~Requested)
    Ring.request(Wanted);
  Requested |= Wanted;
}

void Indexer::run() {
  while (!I->Last) {
    // Read before the ring is looked at, so that what the recorder published
    // before it died is read.
    bool Gone = I->Gone;
    if (I->Ring.wait(Gone ? 0 : WaitMilliseconds)) {
      I->step();
      continue;
    }
    if (Gone)
      break;
    if (!I->cutOff())
      I->Database.idle();
    I->Progress.FileBytes = I->Database.bytesWritten();
  }
  if (!I->Last && !I->cutOff())
    cantFail(I->Decoder.decode(I->Ring.unfinished()));
  if (I->StreamFailure.empty() && !I->OutOfMemory)
    I->Decoder.endBlock();
  if (I->Archive)
    I->Archive->close();
  I->noteProgress();
}

void Indexer::recorderGone() { I->Gone = true; }
void Indexer::requestStop() { I->Ring.request(CH_REQUEST_STOP); }
const IndexerProgress &Indexer::progress() const { return I->Progress; }

json::Object Indexer::Impl::endPiece(const EndInfo &Info,
                                     const DatabaseBuilder::Totals &Totals,
                                     std::error_code Code, StringRef Failure) {
  const StreamCounts &C = Decoder.counts();
  Summary = IndexSummary();
  Summary.Reason =
      C.Ended ? events::endReasonName(C.EndReason).str() : Info.Reason;
  Summary.Code = C.Ended ? C.EndCode : Info.Code;
  if (C.Ended && (C.EndReason == CH_END_EXIT || C.EndReason == CH_END_SIGNAL) &&
      (Info.Signal || Info.ExitStatus)) {
    Summary.Reason =
        events::endReasonName(Info.Signal ? CH_END_SIGNAL : CH_END_EXIT).str();
    Summary.Code = Info.Signal ? *Info.Signal : *Info.ExitStatus;
  }
  if (!C.Ended)
    Summary.Failure = Info.Failure;
  // After a successful exec no recorder is left to report it.
  if (!C.Ended && C.ExecThread && Info.Reason != "stopped") {
    Summary.Reason = events::endReasonName(CH_END_EXEC).str();
    Summary.Code = 0;
    Summary.Failure.clear();
  }
  if (!StreamFailure.empty()) {
    Summary.Reason = "stream-error";
    Summary.Failure = "the recorder's stream is invalid: " + StreamFailure;
  }
  if (OutOfMemory) {
    Summary.Reason = "out-of-memory";
    Summary.Failure = "the indexer has no memory left; check 'ulimit -v'";
  }
  if (!Failure.empty()) {
    bool Full = Code == std::errc::no_space_on_device ||
                Code == std::errc::file_too_large || Code.value() == EDQUOT;
    Summary.Reason = Full ? "disk-full" : "write-error";
    Summary.Failure = Failure.str();
  }
  if (!Summary.Failure.empty())
    Summary.Failure += "; the trace ends at instruction " +
                       std::to_string(Totals.Instructions);
  Summary.Instructions = Totals.Instructions;
  Summary.Executions = Totals.Executions;
  Summary.Blocks = Totals.Blocks;
  Summary.Superblocks = Decoder.superblocks();
  Summary.Events = C.Events;
  Summary.Threads = C.Threads;
  Summary.UnreportedWrites = C.UnreportedWrites;
  Summary.OutsideWrites = C.OutsideWrites;
  Summary.OpaqueBytes = C.OpaqueBytes;

  json::Object Events, Opaque;
  for (unsigned Kind = 1; Kind < events::EventKindCount; ++Kind)
    if (C.EventsByKind[Kind])
      Events[events::eventKindName(Kind)] = C.EventsByKind[Kind];
  for (uint32_t Reason = 0; Reason < C.OpaqueByReason.size(); ++Reason)
    if (C.OpaqueByReason[Reason]) {
      std::string Name = Decoder.events().reasonName(Reason).str();
      if (Name.empty())
        Name = "reason " + std::to_string(Reason);
      Opaque[shownText(Name)] = C.OpaqueByReason[Reason];
    }
  json::Object End{{"reason", Summary.Reason},
                   {"code", Summary.Code},
                   {"seconds", Info.Seconds},
                   {"instructions", Totals.Instructions},
                   {"superblocks", Summary.Superblocks},
                   {"executions", Totals.Executions},
                   {"threads", C.Threads},
                   {"events", std::move(Events)},
                   {"modules", Decoder.events().modules().json()},
                   {"unreported-writes", C.UnreportedWrites},
                   {"outside-writes", C.OutsideWrites},
                   {"stack-surprises", Decoder.stackSurprises()},
                   {"opaque", std::move(Opaque)},
                   {"limits", Decoder.events().limits().json()},
                   {"peak-program-kb", Info.PeakProgramKb},
                   {"peak-indexer-kb", Info.PeakIndexerKb}};
  if (Info.Process)
    End["pid"] = Info.Process;
  if (!Summary.Failure.empty())
    End["failure"] = shownText(Summary.Failure);
  return End;
}

Expected<IndexSummary> Indexer::finish(const EndInfo &Info) {
  I->Database.setPassed(I->Decoder.passedByExit());
  Expected<DatabaseBuilder::Totals> Totals = I->Database.finish(
      [&](const DatabaseBuilder::Totals &T, std::error_code Code,
          StringRef Failure) { return I->endPiece(Info, T, Code, Failure); });
  if (!Totals)
    return Totals.takeError();
  I->Summary.FileBytes = I->Database.bytesWritten();
  I->Progress.FileBytes = I->Summary.FileBytes;
  return I->Summary;
}

} // namespace chronicle::indexer
