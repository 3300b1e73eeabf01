// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/reads/ReadIndex.h"
#include "query/reads/IndexHome.h"
#include "query/reads/ReadIndexMaker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace chronicle::reads {

static constexpr StringRef Magic = "CHRREADS", Suffix = "reads";

ReadIndex::ReadIndex() = default;
ReadIndex::~ReadIndex() = default;

/// One call of ReadIndex::open().
class IndexOpening {
public:
  IndexOpening(const file::TraceReader &Trace,
               const answers::IndexProgress &Progress)
      : Trace(Trace), Progress(Progress), Identity(identityOf(Trace)),
        Places(indexPlaces(Trace.path(), Suffix, Identity)) {}
  Expected<std::unique_ptr<ReadIndex>> open();

private:
  bool load(StringRef Path, bool Quietly);
  Error moveTo(StringRef Path);
  void findHome();
  Error make();
  Error take(SmallVector<uint8_t, 0> Part);
  void forget();
  void finish();
  void note(const Twine &Sentence) {
    if (Progress.Note)
      Progress.Note(Sentence.str());
  }
  bool complete() const { return Blocks == Trace.blocks().size(); }
  bool cancelled() const {
    return Progress.Cancel && Progress.Cancel->Cancelled;
  }

  const file::TraceReader &Trace;
  const answers::IndexProgress &Progress;
  const uint64_t Identity;
  const std::vector<std::string> Places;
  std::unique_ptr<ReadIndex> Index;
  std::unique_ptr<IndexHome> Home; ///< null: the index stays in memory
  BlockNumber Blocks = 0;          ///< how many have their reads in Index
  uint64_t Sound = 0;              ///< so many bytes of the file are good
};

void IndexOpening::forget() {
  Index.reset(new ReadIndex());
  Blocks = 0;
  Sound = 0;
}

/// Takes what is good in a file. False: nothing is.
bool IndexOpening::load(StringRef Path, bool Quietly) {
  forget();
  // The file may be the one that this process is about to write, so it must not
  // be mapped: it would change.
  ErrorOr<std::unique_ptr<MemoryBuffer>> File = MemoryBuffer::getFile(
      Path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
      /*IsVolatile=*/true);
  if (!File || !(*File)->getBufferSize())
    return false;
  ArrayRef<uint8_t> Bytes = arrayRefFromStringRef((*File)->getBuffer());
  if (!isIndexHeader(Bytes, Identity)) {
    if (!Quietly && toStringRef(Bytes).starts_with(Magic))
      note(Path + " is the index of another run or version: it is made again");
    return false;
  }
  Index->File = std::move(*File);
  Index->Path = Path.str();
  Sound = IndexHeaderSize;
  while (Sound < Bytes.size()) {
    Expected<Part> P = readPart(Bytes.drop_front(Sound));
    if (!P || P->First != Blocks || P->End > Trace.blocks().size()) {
      if (!P)
        consumeError(P.takeError());
      if (!Quietly)
        note(Path + " is damaged: what is missing is made again");
      break;
    }
    Index->Parts.push_back({P->End, Bytes.slice(Sound, P->Size)});
    append_range(Index->Chunks, P->Chunks);
    Blocks = P->End;
    Sound += P->Size;
  }
  return true;
}

/// Makes the file the home of the index, with what is good in it.
Error IndexOpening::moveTo(StringRef Path) {
  if (Error E = IndexHome::open(Path, Magic, Progress.Cancel).moveInto(Home))
    return E;
  if (!Home) // cancelled
    return Error::success();
  // Another process may have made it meanwhile.
  if (load(Path, /*Quietly=*/false))
    return Home->cut(Sound);
  if (Error E = Home->cut(0))
    return E;
  return Home->append(encodeIndexHeader(Identity));
}

/// Takes the first file that can be written.
void IndexOpening::findHome() {
  std::string Why;
  for (const std::string &Path : Places) {
    Error E = moveTo(Path);
    if (!E) {
      if (!Why.empty())
        note(Why + "; the index of reads is kept in " + Path);
      return;
    }
    std::string Text = toString(std::move(E));
    if (Why.empty())
      Why = Text;
    Home.reset();
    forget();
  }
  note((Why.empty() ? "there is no cache directory" : Why) +
       "; the index of reads is kept in memory only");
}

Error IndexOpening::take(SmallVector<uint8_t, 0> Made) {
  Expected<Part> P = readPart(Made);
  if (!P)
    return P.takeError();
  if (Home)
    if (Error E = Home->append(Made)) {
      note(toString(std::move(E)) +
           "; the index of reads is kept in memory only");
      Home.reset();
      Index->Path.clear();
    }
  Index->Made.push_back(std::move(Made));
  Index->Parts.push_back({P->End, Index->Made.back()});
  append_range(Index->Chunks, P->Chunks);
  Blocks = P->End;
  return Error::success();
}

Error IndexOpening::make() {
  ReadIndexMaker Maker(
      Blocks, Trace.blocks().size(),
      [this](SmallVector<uint8_t, 0> Part) { return take(std::move(Part)); });
  passes::PassOptions Options;
  Options.First = Blocks;
  Options.Cancel = Progress.Cancel;
  const uint64_t Total = Trace.instructions();
  const uint64_t Before = Trace.blocks()[Blocks].First;
  if (Progress.Step)
    Options.Progress = [&, Before, Total](uint64_t Done) {
      Progress.Step(Before + Done, Total);
    };
  return passes::runPass(Trace, Maker, Options);
}

/// Sorts the chunks of all parts; those of one part are sorted already.
void IndexOpening::finish() {
  std::vector<PageChunkEntry> &Chunks = Index->Chunks;
  llvm::stable_sort(Chunks,
                    [](const PageChunkEntry &A, const PageChunkEntry &B) {
                      return A.Frame < B.Frame;
                    });
  Index->Summaries = std::make_unique<state::ChunkSummaries>(Index->Chunks);
  Index->Bytes = IndexHeaderSize;
  for (const ReadIndex::Stored &P : Index->Parts)
    Index->Bytes += P.Bytes.size();
}

Expected<std::unique_ptr<ReadIndex>> IndexOpening::open() {
  for (const std::string &Path : Places)
    if (load(Path, /*Quietly=*/true) && complete()) {
      finish();
      return std::move(Index);
    }
  forget();
  if (Trace.blocks().empty()) {
    finish();
    return std::move(Index);
  }
  findHome();
  if (!complete() && !cancelled())
    if (Error E = make())
      return E;
  if (!complete())
    return nullptr;
  if (Home)
    Index->Path = Home->path();
  finish();
  return std::move(Index);
}

Expected<std::unique_ptr<ReadIndex>>
ReadIndex::open(const file::TraceReader &Trace,
                const answers::IndexProgress &Progress) {
  return IndexOpening(Trace, Progress).open();
}

search::ChunkSource ReadIndex::source() const {
  return {Chunks, *Summaries,
          [this](const PageChunkEntry &E,
                 const search::WatchedFrames::Frame &Frame, BlockNumber First,
                 BlockNumber Last, std::vector<BlockNumber> &Found) {
            auto P = partition_point(
                Parts, [&](const Stored &S) { return S.End <= E.First; });
            return blocksOf(P->Bytes, E, E.Offset, Frame.Granules, First, Last,
                            Found);
          }};
}

} // namespace chronicle::reads
