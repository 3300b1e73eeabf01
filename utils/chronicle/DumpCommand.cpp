// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle dump`: prints the decoded pieces of a trace, for developers. The
/// same file always gives the same text.

#include "trace-format/FileFormat.h"
#include "trace-format/bytecode/ProgramPrinter.h"
#include "trace-format/bytecode/SuperblockFacts.h"
#include "trace-format/events/EventPrinter.h"
#include "trace-format/file/TraceReader.h"
#include "trace-format/pieces/BlockFormat.h"
#include "trace-format/pieces/PageChunkFormat.h"
#include "utils/chronicle/FileFlags.h"
#include "utils/chronicle/Subcommand.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command Dump(
    {.Name = "dump",
     .Summary = "print the contents of a trace, for developers",
     .Arguments = "[options] trace.db [BLOCK | FIRST-LAST]",
     .Details = "Prints the blocks if no option is given. A block range limits "
                "--blocks, --events, --sequence,\n--pages and --timeline.",
     .Examples = "  chronicle dump trace.db\n"
                 "  chronicle dump --events trace.db 0-3\n"
                 "  chronicle dump --superblock 17 trace.db\n"
                 "  chronicle dump --pages --frame 0x1ffeffe trace.db\n",
     .Statuses = {{"0", "All that was asked for was printed."},
                  {"1", "A part of the trace is damaged."},
                  {"2", "The file cannot be read, or an option is wrong."}},
     .Run = run});
static cl::opt<std::string> Path(cl::Positional, cl::sub(Dump));
static ProcessFlag Process(Dump);
static cl::opt<std::string> Range(cl::Positional, cl::sub(Dump));
static cl::opt<bool> ShowBlocks("blocks", cl::sub(Dump),
                                cl::desc("Print one line per block"));
static cl::opt<bool> ShowEvents("events", cl::sub(Dump),
                                cl::desc("Print the events of each block"));
static cl::opt<bool> ShowSequence(
    "sequence", cl::sub(Dump),
    cl::desc("Print the superblocks that each block ran, in order"));
static cl::opt<bool>
    ShowSuperblocks("superblocks", cl::sub(Dump),
                    cl::desc("Print every superblock with its replay program"));
static NumberOption<unsigned>
    OneSuperblock("superblock", cl::sub(Dump), cl::value_desc("ID"),
                  cl::desc("Print one superblock with its replay program"));
static cl::opt<bool> ShowDefinitions("definitions", cl::sub(Dump),
                                     cl::desc("Print one line per superblock"));
static cl::opt<bool> ShowPages("pages", cl::sub(Dump),
                               cl::desc("Print the history of pages"));
static cl::opt<std::string> OneFrame("frame", cl::sub(Dump),
                                     cl::value_desc("N"),
                                     cl::desc("Limit --pages to frame N"));
static cl::opt<bool> ShowTimeline(
    "timeline", cl::sub(Dump),
    cl::desc("Print mapping changes, threads and signals over time"));

namespace {
/// Prints parts of one trace and counts those that cannot be read.
class Dumper {
public:
  Dumper(const file::TraceReader &T, BlockNumber First, BlockNumber Last)
      : T(T), First(First), Last(Last) {}

  void blocks();
  void superblock(uint32_t Id);
  void superblocks(bool Programs);
  void pages();
  void timeline();

  FrameNumber Only = ~FrameNumber(0);
  unsigned Damaged = 0;

private:
  void damaged(Error E) {
    outs() << "  damaged: " << toString(std::move(E)) << '\n';
    ++Damaged;
  }
  std::string reason(uint32_t Reason) const {
    StringRef Name = T.reasonName(Reason);
    return Name.empty() ? "reason " + std::to_string(Reason) : Name.str();
  }
  const file::TraceReader &T;
  BlockNumber First, Last;
};
} // namespace

void Dumper::blocks() {
  for (BlockNumber N = First; N <= Last && N < T.blocks().size(); ++N) {
    const BlockEntry &Entry = T.blocks()[N];
    outs() << "block " << N << ": first " << Entry.First;
    Expected<Block> B = T.readBlock(N);
    if (!B) {
      outs() << '\n';
      damaged(B.takeError());
      continue;
    }
    outs() << " instructions " << B->Instructions << " executions "
           << B->Symbols.size() << " events " << B->Events.size()
           << " dirty-pages " << B->DirtyPages << " dirty-granules "
           << B->DirtyGranules << " opaque-bytes " << B->Opaque.size()
           << " threads";
    for (uint32_t Thread : pieces::snapshotThreads(B->Events))
      outs() << ' ' << Thread;
    outs() << '\n';
    size_t NextEvent = 0;
    for (uint64_t Execution = 0; Execution <= B->Symbols.size(); ++Execution) {
      if (!ShowSequence)
        Execution = B->Symbols.size();
      for (; NextEvent < B->Events.size() &&
             B->Events[NextEvent].Execution <= Execution;
           ++NextEvent) {
        if (!ShowEvents)
          continue;
        outs() << "  @" << B->Events[NextEvent].Execution << ' ';
        events::printEvent(outs(), B->Events[NextEvent].Kind,
                           B->Events[NextEvent].Payload);
        outs() << '\n';
      }
      if (Execution < B->Symbols.size()) {
        uint32_t Symbol = B->Symbols[Execution],
                 Id = T.superblockOfExit(Symbol);
        outs() << "  #" << Execution << " superblock " << Id << " exit "
               << Symbol - T.definition(Id).FirstExit + 1 << '\n';
      }
    }
  }
}

void Dumper::superblock(uint32_t Id) {
  Definition D = T.definition(Id);
  if (D.Bytes.empty())
    return;
  Expected<bytecode::SuperblockFacts> F = bytecode::analyzeSuperblock(D.Bytes);
  outs() << "superblock " << Id << ": first-exit " << D.FirstExit << " bytes "
         << D.Bytes.size();
  if (!F) {
    outs() << '\n';
    damaged(F.takeError());
    return;
  }
  outs() << " address " << format_hex(F->Header.Address, 1) << " instructions "
         << F->Header.Instructions << " exits " << F->Header.Exits + 1
         << " temps " << F->Header.Temps << " slots " << F->Header.Slots
         << (F->Header.Flags & CH_DEF_LOGS_LOADS ? " logs-loads" : "")
         << (F->Header.Flags & CH_DEF_MARKS_STORES ? " marks-stores" : "")
         << '\n';
}

void Dumper::superblocks(bool Programs) {
  for (uint32_t Id = 1; Id < T.superblockCount(); ++Id) {
    if (OneSuperblock && Id != OneSuperblock)
      continue;
    superblock(Id);
    if (Programs)
      bytecode::printDefinition(outs(), T.definition(Id).Bytes,
                                [&](uint32_t R) { return reason(R); });
  }
}

void Dumper::pages() {
  for (const PageChunkEntry &E : T.pageChunks()) {
    if ((Only != ~FrameNumber(0) && E.Frame != Only) || E.First > Last ||
        E.Last < First)
      continue;
    outs() << "frame " << format_hex(E.Frame, 1) << " blocks " << E.First
           << " to " << E.Last;
    Expected<PageChunk> C = T.readPageChunk(E);
    if (!C) {
      outs() << '\n';
      damaged(C.takeError());
      continue;
    }
    // Without an image, the base is zero or the end of the previous chunk.
    uint8_t Page[PageSize];
    if (!C->Image.empty()) {
      std::memcpy(Page, C->Image.data(), PageSize);
    } else if (Error E = T.readFrame(C->Frame, C->First, Page)) {
      outs() << '\n';
      damaged(std::move(E));
      continue;
    }
    const bool Zero = llvm::all_of(Page, [](uint8_t B) { return B == 0; });
    outs() << " base "
           << (!C->Image.empty() ? "image"
               : Zero            ? "zero"
                                 : "continued")
           << " deltas " << C->Deltas.size() << '\n';
    for (const PageDelta &D : C->Deltas) {
      if (D.Block < First || D.Block > Last) {
        pieces::applyDelta(D, Page);
        continue;
      }
      outs() << "  block " << D.Block;
      if (D.Kind == ZeroDelta)
        outs() << " zero";
      else if (D.Kind == ImageDelta)
        outs() << " image";
      pieces::applyDelta(D, Page);
      if (D.Kind == GranulesDelta)
        for (unsigned W = 0; W < GranuleWords; ++W)
          for (uint64_t Bits = D.Granules[W]; Bits; Bits &= Bits - 1) {
            unsigned At = (W * 64 + countr_zero(Bits)) * GranuleSize;
            outs() << ' ' << format_hex_no_prefix(At, 3) << '='
                   << format_hex_no_prefix(support::endian::read64le(Page + At),
                                           16);
          }
      outs() << '\n';
    }
  }
}

void Dumper::timeline() {
  for (const TimelineEvent &E : T.timeline()) {
    if (E.Block < First || E.Block > Last)
      continue;
    outs() << "block " << E.Block << " at " << E.Time << ' ';
    events::printEvent(outs(), E.Kind, E.Payload);
    outs() << '\n';
  }
}

/// Parses "7" or "7-9".
static bool parseRange(StringRef Text, BlockNumber &First, BlockNumber &Last) {
  auto [From, To] = Text.split('-');
  if (From.getAsInteger(10, First))
    return false;
  Last = First;
  return !Text.contains('-') || (!To.getAsInteger(10, Last) && First <= Last);
}

static int run(ArrayRef<const char *>) {
  if (Path.empty())
    return failNoTrace(Dump);
  BlockNumber First = 0, Last = ~BlockNumber(0);
  if (!Range.empty() && !parseRange(Range, First, Last))
    return failUsage(Dump, "invalid block range '" + Range +
                               "': expected a block or a range, as in 7 or "
                               "7-9");
  FrameNumber Frame = ~FrameNumber(0);
  if (!OneFrame.empty() && StringRef(OneFrame).getAsInteger(0, Frame))
    return failUsage(Dump,
                     "invalid frame '" + OneFrame + "': expected a number");
  if (Error E = Process.choose(Path))
    return fail(Dump, 2, std::move(E));
  Expected<std::unique_ptr<file::TraceReader>> T =
      file::TraceReader::open(Path);
  if (!T)
    return fail(Dump, 2, T.takeError());
  if (!Range.empty() && First >= (*T)->blocks().size())
    return fail(Dump, 2,
                "block " + Twine(First) +
                    " does not exist: the trace has blocks 0 to " +
                    Twine((*T)->blocks().size() - 1));
  if (OneSuperblock && (*T)->definition(OneSuperblock).Bytes.empty())
    return fail(Dump, 2,
                "superblock " + Twine(OneSuperblock) + " does not exist");

  Dumper D(**T, First, Last);
  D.Only = Frame;
  if (!(*T)->truncated().empty())
    outs() << "truncated: " << (*T)->truncated() << '\n';
  bool Programs = ShowSuperblocks || OneSuperblock;
  bool Any = Programs || ShowDefinitions || ShowPages || ShowTimeline;
  if (ShowBlocks || ShowEvents || ShowSequence || !Any)
    D.blocks();
  if (Programs || ShowDefinitions)
    D.superblocks(Programs);
  if (ShowPages)
    D.pages();
  if (ShowTimeline)
    D.timeline();
  if (D.Damaged)
    return fail(Dump, 1, Twine(D.Damaged) + " parts of the trace are damaged");
  return 0;
}

} // namespace chronicle::cli
