// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/ModuleHistory.h"
#include "indexer/model/ElfImage.h"
#include "trace-format/FileFormat.h"
#include "trace-format/Text.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace llvm;

namespace chronicle::state {

Error readRecordedMemory(const file::TraceReader &Reader, uint64_t Address,
                         BlockNumber N, MutableArrayRef<uint8_t> Into) {
  uint8_t Page[PageSize];
  while (!Into.empty()) {
    uint64_t Offset = Address % PageSize;
    size_t Count = std::min<uint64_t>(Into.size(), PageSize - Offset);
    if (Error E = Reader.readFrame(Address / PageSize, N, Page))
      return E;
    std::memcpy(Into.data(), Page + Offset, Count);
    Into = Into.drop_front(Count);
    Address += Count;
  }
  return Error::success();
}

namespace {
/// A file that is mapped from its start and may be a module.
struct Candidate {
  ModuleLoad Load;
  uint64_t Device = 0, Inode = 0;
  bool Executable = false;
};
} // namespace

/// Finds the candidates in the timeline.
static std::vector<Candidate> findCandidates(const file::TraceReader &Reader) {
  std::vector<Candidate> All;
  std::vector<size_t> Live;
  auto Gone = [&](uint64_t Address, uint64_t Length, Timestamp Time) {
    erase_if(Live, [&](size_t I) {
      ModuleLoad &L = All[I].Load;
      if (L.Info.Address - Address >= Length)
        return false;
      L.Unloaded = Time;
      return true;
    });
  };
  for (const TimelineEvent &E : Reader.timeline()) {
    if (auto Range = E.as<events::UnmapEvent>())
      Gone(Range->address, Range->length, E.Time);
    auto Map = E.as<events::MapEvent>();
    if (!Map)
      continue;
    Gone(Map->address, Map->length, E.Time);
    if (!(Map->flags & CH_MAP_FILE))
      continue;
    if (Map->offset == 0) {
      Live.push_back(All.size());
      Candidate &C = All.emplace_back();
      C.Load.Info.Path = Map->path().str();
      C.Load.Info.Address = Map->address;
      C.Load.Info.Size = Map->length;
      C.Load.Loaded = E.Time;
      C.Load.Contents = E.Block + 1;
      C.Device = Map->device;
      C.Inode = Map->inode;
    }
    if (!(Map->protection & CH_PROT_EXEC))
      continue;
    // If several modules are of this file, the mapping belongs to the last one
    // below.
    for (size_t I : reverse(Live)) {
      Candidate &C = All[I];
      if (C.Device == Map->device && C.Inode == Map->inode &&
          C.Load.Info.Address <= Map->address) {
        C.Executable = true;
        C.Load.Contents = E.Block + 1;
        break;
      }
    }
  }
  return All;
}

/// Fills in what the file's headers say. False: it is not an ELF file, or its
/// contents are not in the trace.
static bool readHeader(const file::TraceReader &Reader, ModuleLoad &L) {
  if (L.Contents > Reader.blocks().size())
    return false;
  // Unloaded before that: what is there then belongs to something else.
  Timestamp Read = L.Contents < Reader.blocks().size()
                       ? Reader.blocks()[L.Contents].First
                       : Reader.instructions();
  if (L.Unloaded <= Read)
    return false;
  std::optional<model::ElfImage> Image = model::readElfImage(
      L.Info.Address, [&](uint64_t Address, MutableArrayRef<uint8_t> Into) {
        Error E = readRecordedMemory(Reader, Address, L.Contents, Into);
        const bool Good = !E;
        // The page chunk is damaged. The caller continues without the header; a
        // question about that memory reports the damage.
        consumeError(std::move(E));
        return Good;
      });
  if (!Image)
    return false;
  if (Image->Size)
    L.Info.Size = Image->Size;
  L.Info.BuildId = Image->BuildId;
  L.Bias = Image->Bias;
  L.HeaderRead = true;
  return true;
}

/// Fills in what the indexer noted about the module: the only source if it was
/// loaded and unloaded within one block.
static bool readEndPiece(const file::TraceReader &Reader, ModuleLoad &L) {
  const json::Array *Modules =
      Reader.end() ? Reader.end()->getArray("modules") : nullptr;
  if (!Modules)
    return false;
  const std::string Shown = shownText(L.Info.Path);
  for (const json::Value &V : *Modules) {
    const json::Object *M = V.getAsObject();
    if (!M || M->getString("path") != StringRef(Shown) || !M->get("address") ||
        !M->get("loaded") || !M->get("size") ||
        M->get("address")->getAsUINT64() != L.Info.Address ||
        M->get("loaded")->getAsUINT64() != L.Loaded)
      continue;
    L.Info.Size = M->get("size")->getAsUINT64().value_or(L.Info.Size);
    L.Info.BuildId = M->getString("build-id").value_or("").str();
    // All files start at address 0 but fixed-address programs, which are never
    // unloaded.
    L.Bias = L.Info.Address;
    return true;
  }
  return false;
}

ModuleHistory::ModuleHistory(const file::TraceReader &Reader) {
  for (Candidate &C : findCandidates(Reader)) {
    if (!C.Executable)
      continue;
    if (readHeader(Reader, C.Load) || readEndPiece(Reader, C.Load))
      Loads.push_back(std::move(C.Load));
  }
}

std::vector<answers::Module> ModuleHistory::at(Timestamp T) const {
  std::vector<answers::Module> Result;
  for (const ModuleLoad &L : Loads)
    if (T >= L.Loaded && T < L.Unloaded)
      Result.push_back(L.Info);
  sort(Result, [](const answers::Module &A, const answers::Module &B) {
    return A.Address < B.Address;
  });
  return Result;
}

} // namespace chronicle::state
