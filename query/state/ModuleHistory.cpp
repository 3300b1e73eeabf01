// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/ModuleHistory.h"
#include "indexer/model/ElfImage.h"
#include "trace-format/FileFormat.h"
#include "trace-format/Text.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <numeric>

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

namespace {
/// What the indexer noted about the modules: the only source for one that was
/// loaded and unloaded within one block.
class NotedModules {
public:
  explicit NotedModules(const json::Object *End) {
    const json::Array *All = End ? End->getArray("modules") : nullptr;
    if (!All)
      return;
    for (const json::Value &V : *All) {
      const json::Object *M = V.getAsObject();
      if (!M)
        continue;
      const std::optional<uint64_t> Address = number(*M, "address");
      const std::optional<uint64_t> Loaded = number(*M, "loaded");
      if (Address && Loaded && number(*M, "size"))
        ByPlace.try_emplace({*Address, *Loaded}).first->second.push_back(M);
    }
  }

  /// False: nothing was noted.
  bool fillIn(ModuleLoad &L) const {
    auto It = ByPlace.find({L.Info.Address, L.Loaded});
    if (It == ByPlace.end())
      return false;
    const std::string Shown = shownText(L.Info.Path);
    for (const json::Object *M : It->second) {
      if (M->getString("path") != StringRef(Shown))
        continue;
      L.Info.Size = *number(*M, "size");
      L.Info.BuildId = M->getString("build-id").value_or("").str();
      // All files start at address 0 but fixed-address programs, which are
      // never unloaded.
      L.Bias = L.Info.Address;
      return true;
    }
    return false;
  }

private:
  static std::optional<uint64_t> number(const json::Object &M, StringRef Name) {
    const json::Value *V = M.get(Name);
    return V ? V->getAsUINT64() : std::nullopt;
  }

  DenseMap<std::pair<uint64_t, uint64_t>, SmallVector<const json::Object *, 1>>
      ByPlace;
};
} // namespace

ModuleHistory::ModuleHistory(const file::TraceReader &Reader) {
  const NotedModules Noted(Reader.end());
  for (Candidate &C : findCandidates(Reader)) {
    if (!C.Executable)
      continue;
    if (readHeader(Reader, C.Load) || Noted.fillIn(C.Load))
      Loads.push_back(std::move(C.Load));
  }
  addPlaces();
}

ModuleHistory::ModuleHistory(std::vector<ModuleLoad> TheLoads)
    : Loads(std::move(TheLoads)) {
  addPlaces();
}

void ModuleHistory::addPlaces() {
  std::vector<uint32_t> Order(Loads.size());
  std::iota(Order.begin(), Order.end(), 0);
  // A load ends when another begins at its address, so that those of one
  // address stay in the order of their loading.
  stable_sort(Order, [&](uint32_t A, uint32_t B) {
    return Loads[A].Info.Address < Loads[B].Info.Address;
  });
  for (uint32_t I : Order) {
    const answers::Module &M = Loads[I].Info;
    if (Places.empty() || Places.back().Address != M.Address)
      Places.push_back({M.Address, Places.empty() ? 0 : Places.back().End, {}});
    Places.back().End = std::max(Places.back().End, M.Address + M.Size);
    Places.back().Loads.push_back(I);
  }
}

const ModuleLoad *ModuleHistory::loadedAt(const Place &P, Timestamp T) const {
  auto After = partition_point(
      P.Loads, [&](uint32_t I) { return Loads[I].Loaded <= T; });
  if (After == P.Loads.begin())
    return nullptr;
  const ModuleLoad &L = Loads[*std::prev(After)];
  return L.isThere(T) ? &L : nullptr;
}

const ModuleLoad *ModuleHistory::find(uint64_t Address, Timestamp T) const {
  auto Above = partition_point(
      Places, [&](const Place &P) { return P.Address <= Address; });
  while (Above != Places.begin() && (--Above)->End > Address)
    if (const ModuleLoad *L = loadedAt(*Above, T); L && L->contains(Address, T))
      return L;
  return nullptr;
}

std::vector<answers::Module> ModuleHistory::at(Timestamp T) const {
  std::vector<answers::Module> Result;
  for (const Place &P : Places)
    if (const ModuleLoad *L = loadedAt(P, T))
      Result.push_back(L->Info);
  return Result;
}

} // namespace chronicle::state
