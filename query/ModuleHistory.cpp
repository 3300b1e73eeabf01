// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ModuleHistory.h"
#include "trace-format/ElfImage.h"
#include "trace-format/FileFormat.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace llvm;

namespace chronicle {

Error readRecordedMemory(const TraceReader &Reader, uint64_t Address,
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
/// A file mapped from its start, before we know that it is a module.
struct Candidate {
  ModuleLoad Load;
  uint64_t Device = 0, Inode = 0;
  bool Executable = false;
};
} // namespace

/// Builds the list of candidates as the timeline goes by.
static std::vector<Candidate> findCandidates(const TraceReader &Reader) {
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
    if (E.Kind == CH_EV_UNMAP && E.Payload.size() >= sizeof(ch_ev_range)) {
      ch_ev_range Range;
      std::memcpy(&Range, E.Payload.data(), sizeof(Range));
      Gone(Range.address, Range.length, E.Time);
      continue;
    }
    if (E.Kind != CH_EV_MAP || E.Payload.size() < sizeof(ch_ev_map))
      continue;
    ch_ev_map Map;
    std::memcpy(&Map, E.Payload.data(), sizeof(Map));
    Gone(Map.address, Map.length, E.Time);
    if (!(Map.flags & CH_MAP_FILE))
      continue;
    if (Map.offset == 0) {
      Live.push_back(All.size());
      Candidate &C = All.emplace_back();
      C.Load.Info.Path =
          toStringRef(E.Payload.drop_front(sizeof(Map))).rtrim('\0').str();
      C.Load.Info.Address = Map.address;
      C.Load.Info.Size = Map.length;
      C.Load.Loaded = E.Time;
      C.Load.Contents = E.Block + 1;
      C.Device = Map.device;
      C.Inode = Map.inode;
    }
    if (!(Map.protection & CH_PROT_EXEC))
      continue;
    // Several modules of one file: it belongs to the last one below it.
    for (size_t I : reverse(Live)) {
      Candidate &C = All[I];
      if (C.Device == Map.device && C.Inode == Map.inode &&
          C.Load.Info.Address <= Map.address) {
        C.Executable = true;
        C.Load.Contents = E.Block + 1;
        break;
      }
    }
  }
  return All;
}

/// Fills in what the file's headers say. False: no ELF file, or its contents
/// are not in the trace.
static bool readHeader(const TraceReader &Reader, ModuleLoad &L) {
  if (L.Contents > Reader.blocks().size())
    return false;
  // Gone before that: what is there then is somebody else's.
  Timestamp Read = L.Contents < Reader.blocks().size()
                       ? Reader.blocks()[L.Contents].First
                       : Reader.instructions();
  if (L.Unloaded <= Read)
    return false;
  std::optional<ElfImage> Image = readElfImage(
      L.Info.Address, [&](uint64_t Address, MutableArrayRef<uint8_t> Into) {
        Error E = readRecordedMemory(Reader, Address, L.Contents, Into);
        const bool Good = !E;
        // A damaged page chunk: the caller goes on without the header, and
        // whoever asks for that memory hears why.
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

/// What the indexer noted when it saw the module: the only source if it came
/// and went within one block.
static bool readEndPiece(const TraceReader &Reader, ModuleLoad &L) {
  const json::Array *Modules =
      Reader.end() ? Reader.end()->getArray("modules") : nullptr;
  if (!Modules)
    return false;
  for (const json::Value &V : *Modules) {
    const json::Object *M = V.getAsObject();
    if (!M || M->getString("path") != StringRef(L.Info.Path) ||
        !M->get("address") || !M->get("loaded") || !M->get("size") ||
        M->get("address")->getAsUINT64() != L.Info.Address ||
        M->get("loaded")->getAsUINT64() != L.Loaded)
      continue;
    L.Info.Size = M->get("size")->getAsUINT64().value_or(L.Info.Size);
    L.Info.BuildId = M->getString("build-id").value_or("").str();
    // All but fixed-address programs, which are never unloaded, start at 0.
    L.Bias = L.Info.Address;
    return true;
  }
  return false;
}

ModuleHistory::ModuleHistory(const TraceReader &Reader) {
  for (Candidate &C : findCandidates(Reader)) {
    if (!C.Executable)
      continue;
    if (readHeader(Reader, C.Load) || readEndPiece(Reader, C.Load))
      Loads.push_back(std::move(C.Load));
  }
}

std::vector<Module> ModuleHistory::at(Timestamp T) const {
  std::vector<Module> Result;
  for (const ModuleLoad &L : Loads)
    if (T >= L.Loaded && T < L.Unloaded)
      Result.push_back(L.Info);
  sort(Result,
       [](const Module &A, const Module &B) { return A.Address < B.Address; });
  return Result;
}

} // namespace chronicle
