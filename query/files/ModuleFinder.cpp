// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/files/ModuleFinder.h"
#include "query/files/KeptFiles.h"
#include "trace-format/FileFormat.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace llvm;
using namespace llvm::object;

namespace chronicle::files {

/// Where debug files are below a sysroot, and in a trace.
static constexpr const char *SystemDebugDirectory = "/usr/lib/debug";

ModuleFinder::ModuleFinder(const file::TraceReader *Reader, FileOptions Options)
    : Reader(Reader), Options(std::move(Options)) {
  if (!Reader)
    return;
  Packed = std::make_unique<PackedTree>(*Reader);
  if (Packed->files().empty() && Packed->problem().empty())
    Packed.reset();
}

/// A place where the file may be.
struct ModuleFinder::Candidate {
  std::string Path;
  Origin From;
};

/// How a file differs from what was recorded, or "". A file without a build id
/// is recognised by its first page, whose headers change with almost any change
/// of the file, and by a sample of its code.
std::string ModuleFinder::difference(const state::ModuleLoad &Load,
                                     const ObjectFile &File) const {
  constexpr uint64_t SampledPages = 64;
  auto Name = [](StringRef Id) { return Id.empty() ? "none" : Id.str(); };
  std::string Found = buildIdOf(File);
  if (Found != Load.Info.BuildId)
    return "build id " + Name(Found) + ", recorded " + Name(Load.Info.BuildId);
  if (!Found.empty() || !Reader)
    return "";
  const auto &Elf = cast<ELF64LEObjectFile>(File);
  auto Segments = Elf.getELFFile().program_headers();
  if (!Segments)
    return toString(Segments.takeError());
  StringRef Bytes = Elf.getData();
  auto Differs = [&](uint64_t Address, uint64_t Offset,
                     uint64_t Size) -> std::string {
    if (Offset > Bytes.size() || Size > Bytes.size() - Offset)
      return "no build id, and it is shorter than what was recorded";
    std::vector<uint8_t> Recorded(Size);
    if (Error E = state::readRecordedMemory(*Reader, Address, Load.Contents,
                                            Recorded))
      return toString(std::move(E));
    if (std::memcmp(Recorded.data(), Bytes.data() + Offset, Size) != 0)
      return "no build id, and its contents are not those that were recorded";
    return "";
  };
  for (const auto &S : *Segments) {
    if (S.p_type != ELF::PT_LOAD || (S.p_flags & ELF::PF_W))
      continue;
    uint64_t Pages = divideCeil(S.p_filesz, PageSize);
    uint64_t Step = std::max<uint64_t>(1, Pages / SampledPages);
    for (uint64_t Page = 0; Page < Pages; Page += Step) {
      uint64_t At = Page * PageSize;
      std::string Text = Differs(Load.Bias + S.p_vaddr + At, S.p_offset + At,
                                 std::min<uint64_t>(PageSize, S.p_filesz - At));
      if (!Text.empty())
        return Text;
    }
  }
  return "";
}

/// Unpacks a file that the trace carries, and adds a problem if that fails.
static std::optional<std::string> unpack(const PackedTree *Packed,
                                         const pieces::PackedFile *File,
                                         ModuleFile &Result) {
  if (!File)
    return std::nullopt;
  Expected<std::string> Path = Packed->extract(*File);
  if (Path)
    return *Path;
  Result.Problems.push_back(toString(Path.takeError()));
  return std::nullopt;
}

/// All but what the trace carries, which is unpacked only if it is needed.
std::vector<ModuleFinder::Candidate>
ModuleFinder::candidates(const state::ModuleLoad &Load,
                         ModuleFile &Result) const {
  std::vector<Candidate> All;
  const std::string &Path = Load.Info.Path;
  if (!Options.Sysroot.empty())
    All.push_back({Options.Sysroot + Path, Origin::Sysroot});
  All.push_back({Path, Origin::Path});
  if (!Reader)
    return All;
  Expected<FileCache> Cache = FileCache::open();
  if (!Cache) {
    consumeError(Cache.takeError()); // then nothing was kept
    return All;
  }
  std::vector<uint8_t> FirstPage;
  if (Load.Info.BuildId.empty()) {
    FirstPage.resize(PageSize);
    if (Error E = state::readRecordedMemory(*Reader, Load.Info.Address,
                                            Load.Contents, FirstPage)) {
      // A question about that memory reports the damage.
      consumeError(std::move(E));
      FirstPage.clear();
    }
  }
  for (std::string &Kept : KeptFiles(*Cache).find(sys::path::filename(Path),
                                                  Load.Info.BuildId, FirstPage))
    All.push_back({std::move(Kept), Origin::Kept});
  return All;
}

void ModuleFinder::findBinary(const state::ModuleLoad &Load,
                              ModuleFile &Result) const {
  const std::string &Path = Load.Info.Path;
  if (!sys::path::is_absolute(Path)) // [vdso]
    return;
  std::vector<std::string> Problems;
  ModuleFile Other; // of another build
  auto Take = [&](const Candidate &C) {
    Expected<ElfFile> File = openElf(C.Path);
    if (!File) {
      Problems.push_back("no symbols from " + C.Path + ": " +
                         toString(File.takeError()));
      return false;
    }
    std::string Difference = difference(Load, *File->getBinary());
    if (Difference.empty()) {
      Result.Binary = std::move(*File);
      Result.Path = C.Path;
      Result.From = C.From;
      Result.IsRecorded = true;
      return true;
    }
    Problems.push_back(C.Path + " is not the file that was recorded (" +
                       Difference + "): not used for symbols");
    if (Options.AnyBuild && Other.From == Origin::Nowhere) {
      Other.Binary = std::move(*File);
      Other.Path = C.Path;
      Other.From = C.From;
    }
    return false;
  };
  for (const Candidate &C : candidates(Load, Result))
    if (Take(C))
      return;
  if (Packed)
    if (std::optional<std::string> Unpacked = unpack(
            Packed.get(),
            Packed->find(pieces::PackedKind::Module, Path, Load.Info.BuildId),
            Result))
      if (Take({*Unpacked, Origin::Packed}))
        return;
  if (Other.From == Origin::Nowhere)
    append_range(Result.Problems, Problems);
  else
    std::tie(Result.Binary, Result.Path, Result.From) =
        std::make_tuple(std::move(Other.Binary), Other.Path, Other.From);
}

/// Takes the file if it exists and has the build id. Reports a file that exists
/// and has another one.
bool ModuleFinder::takeDebug(const std::string &Path, StringRef BuildId,
                             ModuleFile &Result) const {
  if (!sys::fs::exists(Path))
    return false;
  Expected<ElfFile> File = openElf(Path);
  if (!File) {
    Result.Problems.push_back("no debug info from " + Path + ": " +
                              toString(File.takeError()));
    return false;
  }
  if (buildIdOf(*File->getBinary()) != BuildId) {
    Result.Problems.push_back(Path +
                              " is not the debug file of what was recorded "
                              "(another build id): not used for symbols");
    return false;
  }
  Result.Debug = std::move(*File);
  Result.DebugPath = Path;
  return true;
}

std::vector<std::string> ModuleFinder::debugDirectories() const {
  std::vector<std::string> Result = Options.DebugDirectories;
  if (!Options.Sysroot.empty())
    Result.push_back(Options.Sysroot + SystemDebugDirectory);
  if (Packed && (Packed->has(pieces::PackedKind::Debug) ||
                 Packed->has(pieces::PackedKind::Supplementary))) {
    if (Expected<std::string> Root = Packed->root())
      Result.push_back(*Root + SystemDebugDirectory);
    else
      consumeError(Root.takeError()); // reported where a file is unpacked
  }
  return Result;
}

void ModuleFinder::findDebug(const state::ModuleLoad &Load,
                             ModuleFile &Result) const {
  const ObjectFile *Binary = Result.Binary.getBinary();
  if (Binary && hasDebugInfo(*Binary))
    return;
  const std::string BuildId = Binary ? buildIdOf(*Binary) : Load.Info.BuildId;
  std::string Name = debugFileName(BuildId);
  if (!Name.empty()) {
    if (Packed)
      unpack(Packed.get(), Packed->find(pieces::PackedKind::Debug, "", BuildId),
             Result);
    for (const std::string &Directory : debugDirectories())
      if (takeDebug(Directory + "/" + Name, BuildId, Result))
        return;
  }
  std::optional<DebugLink> Link;
  if (Binary)
    Link = debugLinkOf(*Binary);
  if (!Link)
    return;
  std::vector<std::string> Places;
  for (StringRef File : {StringRef(Result.Path), StringRef(Load.Info.Path)}) {
    std::string Directory = sys::path::parent_path(File).str();
    Places.push_back(Directory + "/" + Link->Name);
    Places.push_back(Directory + "/.debug/" + Link->Name);
    for (const std::string &Debug : Options.DebugDirectories)
      Places.push_back(Debug + "/" + Directory + "/" + Link->Name);
  }
  for (const std::string &Place : Places) {
    if (sys::fs::equivalent(Place, Result.Path) || !sys::fs::exists(Place))
      continue;
    if (!hasChecksum(Place, Link->Checksum))
      Result.Problems.push_back(
          Place + " does not have the checksum that the program's "
                  ".gnu_debuglink asks for: not used for symbols");
    else if (takeDebug(Place, BuildId, Result))
      return;
  }
}

ModuleFile ModuleFinder::find(const state::ModuleLoad &Load) const {
  ModuleFile Result;
  if (Packed && !Packed->problem().empty())
    Result.Problems.push_back(Packed->problem().str());
  findBinary(Load, Result);
  findDebug(Load, Result);
  if (!Packed)
    return Result;
  // gdb looks for what dwz moved away by its build id.
  for (const ElfFile *File : {&Result.Binary, &Result.Debug})
    if (File->getBinary())
      if (std::optional<SupplementaryLink> Link =
              supplementaryLinkOf(*File->getBinary()))
        unpack(
            Packed.get(),
            Packed->find(pieces::PackedKind::Supplementary, "", Link->BuildId),
            Result);
  return Result;
}

} // namespace chronicle::files
