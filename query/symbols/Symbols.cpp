// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/symbols/Symbols.h"
#include "query/symbols/SymbolNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/GlobPattern.h"
#include <map>

using namespace llvm;

namespace chronicle::symbols {

/// A file that modules were loaded from, opened when first needed.
struct Symbols::File {
  std::once_flag Once;
  std::unique_ptr<SymbolFile> Opened; ///< null: must not be used
  ModulePlace Place;
};

Symbols::Symbols(const file::TraceReader &Reader, SymbolOptions Options)
    : Symbols(&Reader, state::ModuleHistory(Reader), std::move(Options)) {}

Symbols::Symbols(std::vector<state::ModuleLoad> Loads, SymbolOptions Options)
    : Symbols(nullptr, state::ModuleHistory(std::move(Loads)),
              std::move(Options)) {}

Symbols::Symbols(const file::TraceReader *Reader,
                 state::ModuleHistory TheHistory, SymbolOptions Options)
    : Finder(Reader, std::move(Options)), History(std::move(TheHistory)) {
  std::map<std::pair<std::string, std::string>, File *> Known;
  for (const state::ModuleLoad &L : modules()) {
    File *&F = Known[{L.Info.Path, L.Info.BuildId}];
    if (!F) {
      Files.push_back(std::make_unique<File>());
      F = Files.back().get();
    }
    FileOfLoad.push_back(F);
  }
}

Symbols::~Symbols() = default;

const state::ModuleLoad *Symbols::program(StringRef Path) const {
  for (const state::ModuleLoad &L : modules())
    if (L.Info.Path == Path)
      return &L;
  // Path is a link to it, or a script. The kernel maps a program before its
  // libraries.
  return !modules().empty() && modules().front().Loaded == 0
             ? &modules().front()
             : nullptr;
}

Symbols::File &Symbols::open(const state::ModuleLoad &Load) const {
  File &F = *FileOfLoad[&Load - modules().data()];
  std::call_once(F.Once, [&] {
    files::ModuleFile Found = Finder.find(Load);
    F.Place = {Found.Path, Found.From, Found.IsRecorded, Found.DebugPath};
    if (Found.Binary.getBinary() || Found.Debug.getBinary())
      F.Opened = std::make_unique<SymbolFile>(std::move(Found.Binary),
                                              std::move(Found.Debug));
    std::lock_guard<std::mutex> Guard(WarningsLock);
    for (std::string &Problem : Found.Problems)
      if (!is_contained(Warnings, Problem))
        Warnings.push_back(std::move(Problem));
    if (F.Opened)
      Opened.emplace_back(Load.Info.Path, F.Opened.get());
  });
  return F;
}

const SymbolFile *Symbols::fileOf(const state::ModuleLoad &Load) const {
  return open(Load).Opened.get();
}

const ModulePlace &Symbols::placeOf(const state::ModuleLoad &Load) const {
  return open(Load).Place;
}

std::optional<CodeSymbol> Symbols::find(uint64_t Pc, Timestamp T) const {
  const state::ModuleLoad *Load = moduleAt(Pc, T);
  if (!Load)
    return std::nullopt;
  CodeSymbol Result;
  Result.Module = Load;
  const SymbolFile *File = fileOf(*Load);
  if (!File) {
    Result.Frames.emplace_back();
    return Result;
  }
  Result.Frames = File->frames(Pc - Load->Bias);
  if (std::optional<FileSymbol> S = File->function(Pc - Load->Bias)) {
    Result.FunctionAddress = S->Address + Load->Bias;
    Result.FunctionSize = S->Size;
  }
  return Result;
}

static SymbolAt moved(const FileSymbol &S, const state::ModuleLoad &Load) {
  SymbolAt Result;
  Result.Module = &Load;
  Result.Name = sourceName(S.Name);
  Result.LinkageName = S.Name.str();
  Result.ThreadLocal = S.Type == ELF::STT_TLS;
  Result.Indirect = S.Type == ELF::STT_GNU_IFUNC;
  Result.Address = S.Address + (Result.ThreadLocal ? 0 : Load.Bias);
  Result.Size = S.Size;
  return Result;
}

std::optional<SymbolAt> Symbols::findGlobal(uint64_t Address,
                                            Timestamp T) const {
  const state::ModuleLoad *Load = moduleAt(Address, T);
  const SymbolFile *File = Load ? fileOf(*Load) : nullptr;
  if (!File)
    return std::nullopt;
  std::optional<FileSymbol> S = File->variable(Address - Load->Bias);
  if (!S)
    return std::nullopt;
  return moved(*S, *Load);
}

template <typename Answer>
void Symbols::visitFiles(
    function_ref<Answer(const SymbolFile &)> Ask,
    function_ref<void(const state::ModuleLoad &, const Answer &)> Visit) const {
  std::map<const SymbolFile *, Answer> Known;
  for (const state::ModuleLoad &Load : modules()) {
    const SymbolFile *File = fileOf(Load);
    if (!File)
      continue;
    auto It = Known.find(File);
    if (It == Known.end())
      It = Known.emplace(File, Ask(*File)).first;
    Visit(Load, It->second);
  }
}

std::vector<SymbolAt> Symbols::collect(
    function_ref<std::vector<FileSymbol>(const SymbolFile &)> Ask) const {
  std::vector<SymbolAt> Result;
  visitFiles<std::vector<FileSymbol>>(
      Ask, [&](const state::ModuleLoad &Load, const auto &Found) {
        for (const FileSymbol &S : Found)
          Result.push_back(moved(S, Load));
      });
  return Result;
}

std::vector<SymbolAt> Symbols::functions(StringRef Name) const {
  for (bool Unqualified : {false, true}) {
    std::vector<SymbolAt> Result = collect([&](const SymbolFile &File) {
      return File.functions(Name, Unqualified);
    });
    if (!Result.empty())
      return Result;
  }
  return {};
}

FunctionCode Symbols::functionCode(StringRef Name) const {
  FunctionCode Result;
  for (bool Unqualified : {false, true}) {
    Result.Functions = collect([&](const SymbolFile &File) {
      return File.functions(Name, Unqualified);
    });
    visitFiles<std::vector<InlinedCode>>(
        [&](const SymbolFile &File) { return File.inlined(Name, Unqualified); },
        [&](const state::ModuleLoad &Load, const auto &Found) {
          for (InlinedCode Code : Found) {
            for (uint64_t &Entry : Code.Entries)
              Entry += Load.Bias;
            for (auto &[First, Last] : Code.Ranges) {
              First += Load.Bias;
              Last += Load.Bias;
            }
            Result.Inlined.push_back({&Load, std::move(Code)});
          }
        });
    if (!Result.Functions.empty() || !Result.Inlined.empty())
      break;
  }
  return Result;
}

std::optional<FunctionFacts> Symbols::functionFacts(uint64_t Address,
                                                    Timestamp T) const {
  const state::ModuleLoad *Load = moduleAt(Address, T);
  const SymbolFile *File = Load ? fileOf(*Load) : nullptr;
  return File ? File->facts(Address - Load->Bias) : std::nullopt;
}

Expected<std::vector<SymbolAt>>
Symbols::functionsMatching(StringRef Pattern) const {
  Expected<GlobPattern> Glob = GlobPattern::create(Pattern, 1024);
  if (!Glob)
    return Glob.takeError();
  return collect([&](const SymbolFile &File) {
    return File.functionsWhere([&](StringRef Name) {
      if (Name.ends_with("@plt") && !Pattern.contains('@'))
        return false;
      return Glob->match(Name) || Glob->match(sourceName(Name)) ||
             Glob->match(sourceNameWithoutArguments(Name));
    });
  });
}

std::vector<SymbolAt> Symbols::globals(StringRef Name) const {
  for (bool Unqualified : {false, true}) {
    std::vector<SymbolAt> Result = collect([&](const SymbolFile &File) {
      return File.variables(Name, Unqualified);
    });
    if (!Result.empty())
      return Result;
  }
  return {};
}

std::vector<LineAt> Symbols::lines(StringRef Path, uint32_t Line) const {
  std::vector<LineAt> Result;
  visitFiles<std::vector<LineCode>>(
      [&](const SymbolFile &File) { return File.lines(Path, Line); },
      [&](const state::ModuleLoad &Load, const auto &Found) {
        for (LineCode Code : Found) {
          Code.Address += Load.Bias;
          Result.push_back({&Load, std::move(Code)});
        }
      });
  // One module may have code only of a later line than another module.
  uint32_t First = UINT32_MAX;
  for (const LineAt &L : Result)
    First = std::min(First, L.Code.Line);
  erase_if(Result, [&](const LineAt &L) { return L.Code.Line != First; });
  return Result;
}

std::vector<std::string> Symbols::warnings() const {
  std::lock_guard<std::mutex> Guard(WarningsLock);
  std::vector<std::string> Result = Warnings;
  for (const auto &[Path, File] : Opened)
    for (const std::string &Problem : File->problems())
      Result.push_back("symbols of " + Path + ": " + Problem);
  return Result;
}

} // namespace chronicle::symbols
