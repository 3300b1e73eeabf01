// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ModuleHistory.h"
#include "trace-format/FileFormat.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"
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

static std::string readBuildId(ArrayRef<uint8_t> Notes, uint64_t Align) {
  using namespace llvm::ELF;
  for (uint64_t At = 0; At + sizeof(Elf64_Nhdr) <= Notes.size();) {
    Elf64_Nhdr Note;
    std::memcpy(&Note, Notes.data() + At, sizeof(Note));
    uint64_t Name = At + sizeof(Note);
    uint64_t Value = alignTo(Name + Note.n_namesz, Align);
    uint64_t End = Value + Note.n_descsz;
    if (End > Notes.size())
      break;
    if (Note.n_type == NT_GNU_BUILD_ID && Note.n_namesz == 4 &&
        !std::memcmp(Notes.data() + Name, "GNU", 4))
      return toHex(Notes.slice(Value, Note.n_descsz), /*LowerCase=*/true);
    At = alignTo(End, Align);
  }
  return "";
}

/// Fills in what the file's headers say. False: no ELF file, or its contents
/// are not in the trace.
static bool readHeader(const TraceReader &Reader, ModuleLoad &L) {
  using namespace llvm::ELF;
  auto Read = [&](uint64_t Address, void *Into, size_t Size) {
    Error E =
        readRecordedMemory(Reader, Address, L.Contents,
                           MutableArrayRef(static_cast<uint8_t *>(Into), Size));
    bool Read = !E;
    // A damaged page chunk: the caller goes on without the header, and
    // whoever asks for that memory hears why.
    consumeError(std::move(E));
    return Read;
  };
  Elf64_Ehdr Header;
  if (L.Contents > Reader.blocks().size() ||
      !Read(L.Info.Address, &Header, sizeof(Header)) || !Header.checkMagic() ||
      Header.e_phentsize != sizeof(Elf64_Phdr))
    return false;
  std::vector<Elf64_Phdr> Segments(std::min<unsigned>(Header.e_phnum, 128));
  if (!Read(L.Info.Address + Header.e_phoff, Segments.data(),
            Segments.size() * sizeof(Elf64_Phdr)))
    return false;
  uint64_t Low = UINT64_MAX, High = 0;
  for (const Elf64_Phdr &S : Segments)
    if (S.p_type == PT_LOAD) {
      Low = std::min(Low, alignDown(S.p_vaddr, PageSize));
      High = std::max(High, S.p_vaddr + S.p_memsz);
      if (S.p_offset < PageSize)
        L.Bias = L.Info.Address - alignDown(S.p_vaddr, PageSize);
    }
  if (Low < High)
    L.Info.Size = alignTo(High - Low, PageSize);
  for (const Elf64_Phdr &S : Segments) {
    if (S.p_type != PT_NOTE || S.p_filesz > 16 * PageSize)
      continue;
    std::vector<uint8_t> Notes(S.p_filesz);
    if (!Read(L.Bias + S.p_vaddr, Notes.data(), Notes.size()))
      continue;
    std::string Id = readBuildId(Notes, S.p_align == 8 ? 8 : 4);
    if (!Id.empty())
      L.Info.BuildId = Id;
  }
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
