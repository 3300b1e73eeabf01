// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/symbols/SymbolFile.h"
#include "query/symbols/SymbolNames.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/DebugInfo/DWARF/DWARFCompileUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace llvm;
using namespace llvm::object;

namespace chronicle::symbols {

bool FileSymbol::isFunction() const {
  return Type == ELF::STT_FUNC || Type == ELF::STT_GNU_IFUNC;
}
bool FileSymbol::isVariable() const {
  return Type == ELF::STT_OBJECT || Type == ELF::STT_TLS;
}

bool FileSymbol::isLabel() const { return Type == ELF::STT_NOTYPE; }

SymbolFile::SymbolFile(ElfFile TheBinary, ElfFile TheDebug)
    : Binary(std::move(TheBinary)), Debug(std::move(TheDebug)) {
  const ObjectFile *Any =
      Binary.getBinary() ? Binary.getBinary() : Debug.getBinary();
  assert(Any && "a symbol file needs a file");
  auto Segments = cast<ELF64LEObjectFile>(Any)->getELFFile().program_headers();
  if (Segments) {
    for (const auto &S : *Segments)
      if (S.p_type == ELF::PT_LOAD && (S.p_flags & ELF::PF_X))
        CodeRanges.emplace_back(S.p_vaddr, S.p_vaddr + S.p_memsz);
  } else {
    problem(Segments.takeError());
  }
  readSymbols();
  readDwarf();
}

SymbolFile::~SymbolFile() = default;

void SymbolFile::problem(Error E) const {
  // One damaged table may cause thousands of errors.
  std::string Text = toString(std::move(E));
  if (Problems.size() < 4 && !is_contained(Problems, Text))
    Problems.push_back(std::move(Text));
}

std::vector<std::string> SymbolFile::problems() const {
  std::lock_guard<std::mutex> Guard(DwarfLock);
  return Problems;
}

const ELF64LEObjectFile *SymbolFile::binary() const {
  return cast_or_null<ELF64LEObjectFile>(Binary.getBinary());
}

bool SymbolFile::isCode(uint64_t Address) const {
  return any_of(CodeRanges, [&](auto Range) {
    return Address >= Range.first && Address < Range.second;
  });
}

// ---- the symbol table ----

void SymbolFile::readTable(const ELFObjectFileBase &Elf, bool Dynamic) {
  auto Add = [&](const ELFSymbolRef &S) {
    Expected<uint32_t> Flags = S.getFlags();
    if (!Flags)
      return problem(Flags.takeError());
    FileSymbol Symbol;
    Symbol.Type = S.getELFType();
    Symbol.Binding = S.getBinding();
    if ((*Flags & SymbolRef::SF_Undefined) ||
        (!Symbol.isFunction() && !Symbol.isVariable() && !Symbol.isLabel()))
      return;
    Expected<StringRef> Name = S.getName();
    if (!Name)
      return problem(Name.takeError());
    Expected<uint64_t> Value = S.getValue();
    if (!Value)
      return problem(Value.takeError());
    if (Name->empty() || (Symbol.isLabel() && !isCode(*Value)))
      return;
    Symbol.Name = *Name;
    Symbol.Address = *Value;
    Symbol.Size = S.getSize();
    (Symbol.isFunction()   ? Functions
     : Symbol.isVariable() ? Variables
                           : Labels)
        .push_back(Symbol);
  };
  if (Dynamic)
    for (const ELFSymbolRef &S : Elf.getDynamicSymbolIterators())
      Add(S);
  else
    for (const ELFSymbolRef &S : Elf.symbols())
      Add(S);
}

/// The order of symbols: by address and, at one address, the best-known name
/// first.
static auto rank(const FileSymbol &S) {
  unsigned Binding = S.Binding == ELF::STB_GLOBAL ? 0
                     : S.Binding == ELF::STB_WEAK ? 1
                                                  : 2;
  size_t Underscores =
      S.Name.starts_with("_Z") ? 0 : S.Name.find_first_not_of('_');
  return std::make_tuple(S.Address, S.Size == 0, Binding, Underscores, S.Name);
}

void SymbolFile::readSymbols() {
  if (Debug.getBinary())
    readTable(*cast<ELFObjectFileBase>(Debug.getBinary()), false);
  if (Binary.getBinary()) {
    readTable(*binary(), false);
    readTable(*binary(), true);
    readStubs();
  }
  for (std::vector<FileSymbol> *Table : {&Functions, &Variables, &Labels}) {
    sort(*Table, [](const FileSymbol &A, const FileSymbol &B) {
      return rank(A) < rank(B);
    });
    Table->erase(llvm::unique(*Table,
                              [](const FileSymbol &A, const FileSymbol &B) {
                                return A.Address == B.Address &&
                                       A.Name == B.Name && A.Type == B.Type;
                              }),
                 Table->end());
  }
}

/// Adds the entries of the procedure linkage table, named after what they jump
/// to. Each is an indirect jump through a slot that a relocation fills.
void SymbolFile::readStubs() {
  DenseMap<uint64_t, std::string> Slots;
  const ObjectFile &File = *Binary.getBinary();
  for (const SectionRef &Section : File.dynamic_relocation_sections())
    for (const RelocationRef &R : Section.relocations()) {
      uint64_t Type = R.getType();
      if (Type == ELF::R_X86_64_IRELATIVE) {
        Expected<int64_t> Resolver = ELFRelocationRef(R).getAddend();
        if (!Resolver) {
          problem(Resolver.takeError());
          continue;
        }
        for (const FileSymbol &S : Functions)
          if (S.Address == uint64_t(*Resolver)) {
            Slots[R.getOffset()] = S.Name.str();
            break;
          }
        continue;
      }
      if (Type != ELF::R_X86_64_JUMP_SLOT && Type != ELF::R_X86_64_GLOB_DAT)
        continue;
      symbol_iterator Symbol = R.getSymbol();
      if (Symbol == binary()->symbol_end())
        continue;
      Expected<StringRef> Name = Symbol->getName();
      if (Name)
        Slots[R.getOffset()] = Name->str();
      else
        problem(Name.takeError());
    }
  for (const SectionRef &Section : binary()->sections()) {
    Expected<StringRef> Name = Section.getName();
    if (!Name) {
      problem(Name.takeError());
      continue;
    }
    if (!Name->starts_with(".plt") && !Name->starts_with(".iplt"))
      continue;
    Expected<StringRef> Contents = Section.getContents();
    if (!Contents) {
      problem(Contents.takeError());
      continue;
    }
    size_t Entry =
        *Name == ".plt.got" && !Contents->starts_with("\xf3\x0f\x1e") ? 8 : 16;
    for (size_t At = 0; At + Entry <= Contents->size(); At += Entry) {
      StringRef Code = Contents->substr(At, Entry);
      size_t Jump = Code.find("\xff\x25");
      if (Jump == StringRef::npos || Jump + 6 > Code.size())
        continue;
      int32_t Distance = support::endian::read32le(Code.data() + Jump + 2);
      uint64_t Address = Section.getAddress() + At;
      auto Slot = Slots.find(Address + Jump + 6 + Distance);
      if (Slot == Slots.end())
        continue;
      StubNames.push_back(std::make_unique<std::string>(Slot->second + "@plt"));
      Functions.push_back(
          {*StubNames.back(), Address, Entry, ELF::STT_FUNC, ELF::STB_LOCAL});
    }
  }
}

/// The best-named symbol that contains the address.
static std::optional<FileSymbol> findIn(ArrayRef<FileSymbol> Table,
                                        uint64_t Address) {
  auto Above = partition_point(
      Table, [&](const FileSymbol &S) { return S.Address <= Address; });
  // Symbols may lie inside others, but not deeply.
  for (unsigned Tries = 0; Tries < 16 && Above != Table.begin(); ++Tries) {
    uint64_t Start = std::prev(Above)->Address;
    auto First =
        std::partition_point(Table.begin(), Above, [&](const FileSymbol &S) {
          return S.Address < Start;
        });
    if (Address - Start < First->Size)
      return *First;
    // Hand-written code may have no size: it extends to the next symbol.
    if (First->Size == 0 && Tries == 0 && First->isFunction())
      return *First;
    Above = First;
  }
  return std::nullopt;
}

std::optional<FileSymbol> SymbolFile::function(uint64_t Address) const {
  if (!isCode(Address))
    return std::nullopt;
  std::optional<FileSymbol> Found = findIn(Functions, Address);
  return Found ? Found : label(Address);
}

std::optional<FileSymbol> SymbolFile::label(uint64_t Address) const {
  auto After = [](ArrayRef<FileSymbol> Table, uint64_t Address) {
    return partition_point(
        Table, [&](const FileSymbol &S) { return S.Address <= Address; });
  };
  const auto *Above = After(Labels, Address);
  if (Above == Labels.data())
    return std::nullopt;
  const uint64_t Start = std::prev(Above)->Address;
  const FileSymbol *First = std::prev(Above);
  while (First != Labels.data() && std::prev(First)->Address == Start)
    --First;
  const auto *Function = After(Functions, Start);
  uint64_t End = ~uint64_t(0);
  for (auto [From, To] : CodeRanges)
    if (Start >= From && Start < To)
      End = To;
  if (Above != Labels.data() + Labels.size())
    End = std::min(End, Above->Address);
  if (Function != Functions.data() + Functions.size())
    End = std::min(End, Function->Address);
  if (Address >= End)
    return std::nullopt;
  FileSymbol Result = *First;
  Result.Size = End - Start;
  return Result;
}

std::optional<FileSymbol> SymbolFile::variable(uint64_t Address) const {
  std::optional<FileSymbol> Found = findIn(Variables, Address);
  if (Found && Found->Type == ELF::STT_TLS)
    return std::nullopt;
  return Found;
}

template <class F>
static std::vector<FileSymbol> filter(ArrayRef<FileSymbol> Table,
                                      const F &Fits) {
  std::vector<FileSymbol> Result;
  for (const FileSymbol &S : Table)
    // Aliases are one function: takes the first name that fits.
    if ((Result.empty() || Result.back().Address != S.Address) && Fits(S.Name))
      Result.push_back(S);
  return Result;
}

std::vector<FileSymbol> SymbolFile::functions(StringRef Name,
                                              bool Unqualified) const {
  return filter(Functions, NameMatcher(Name, Unqualified));
}
std::vector<FileSymbol> SymbolFile::variables(StringRef Name,
                                              bool Unqualified) const {
  return filter(Variables, NameMatcher(Name, Unqualified));
}
std::vector<FileSymbol>
SymbolFile::functionsWhere(function_ref<bool(StringRef)> NameFits) const {
  return filter(Functions, NameFits);
}

// ---- debug info ----

std::unique_ptr<DWARFContext> SymbolFile::openDwarf(const ElfFile &File) const {
  return DWARFContext::create(
      *File.getBinary(), DWARFContext::ProcessDebugRelocations::Ignore, nullptr,
      "", [this](Error E) { problem(std::move(E)); },
      [this](Error E) { problem(std::move(E)); });
}

void SymbolFile::readDwarf() {
  for (ElfFile *File : {&Debug, &Binary}) {
    if (!File->getBinary())
      continue;
    std::unique_ptr<DWARFContext> Context = openDwarf(*File);
    if (Context->getNumCompileUnits() == 0)
      continue;
    if (any_of(File->getBinary()->sections(), [](const SectionRef &S) {
          Expected<StringRef> Name = S.getName();
          if (Name)
            return *Name == ".gnu_debugaltlink";
          consumeError(Name.takeError()); // the context reports it too
          return false;
        }))
      problem(createStringError(
          "some of its debug info is in a file that it shares with others (by "
          "dwz, .gnu_debugaltlink), which is not read: functions may lack "
          "their names as the source has them"));
    Dwarf = std::move(Context);
    DwarfFile = File;
    return;
  }
}

std::optional<FunctionFacts> SymbolFile::facts(uint64_t Address) const {
  std::lock_guard<std::mutex> Guard(DwarfLock);
  return Dwarf ? functionFacts(*Dwarf, Address) : std::nullopt;
}

std::vector<InlinedCode> SymbolFile::inlined(StringRef Name,
                                             bool Unqualified) const {
  std::lock_guard<std::mutex> Guard(DwarfLock);
  if (!Dwarf)
    return {};
  auto [It, New] = KnownInlined.try_emplace({Name.str(), Unqualified});
  // Reads with a context of its own, because a context keeps all that it read.
  if (New)
    It->second =
        findInlined(*openDwarf(*DwarfFile), NameMatcher(Name, Unqualified),
                    [this](uint64_t Address) { return isCode(Address); });
  return It->second;
}

static std::string known(StringRef Text) {
  return Text == DILineInfo::BadString ? "" : Text.str();
}

SmallVector<SourceFrame, 1> SymbolFile::frames(uint64_t Address) const {
  std::lock_guard<std::mutex> Guard(DwarfLock);
  auto Known = KnownFrames.find(Address);
  if (Known != KnownFrames.end())
    return Known->second;
  SmallVector<SourceFrame, 1> Result;
  if (Dwarf) {
    DIInliningInfo Info = Dwarf->getInliningInfoForAddress(
        {Address, SectionedAddress::UndefSection},
        {DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
         DINameKind::LinkageName});
    for (unsigned I = 0; I < Info.getNumberOfFrames(); ++I) {
      const DILineInfo &From = Info.getFrame(I);
      SourceFrame &Frame = Result.emplace_back();
      Frame.LinkageName = known(From.FunctionName);
      Frame.Function = sourceName(Frame.LinkageName);
      Frame.File = known(From.FileName);
      Frame.Line = From.Line;
      Frame.Column = From.Column;
    }
  }
  if (Result.empty())
    Result.emplace_back();
  if (std::optional<FileSymbol> S = function(Address)) {
    SourceFrame &Outermost = Result.back();
    Outermost.LinkageName = S->Name.str();
    if (Outermost.Function.empty())
      Outermost.Function = sourceName(S->Name);
  }
  if (KnownFrames.size() >= MaxKnownFrames)
    KnownFrames.clear();
  KnownFrames[Address] = Result;
  return Result;
}

static bool isEndOf(StringRef End, StringRef Path) {
  return Path.consume_back(End) &&
         (Path.empty() || Path.ends_with("/") || End.starts_with("/"));
}

using LineTable = DWARFDebugLine::LineTable;

/// The files of a table that are the wanted one, by number.
static DenseMap<uint64_t, std::string>
filesOf(const LineTable &Table, StringRef Directory, StringRef Wanted) {
  DenseMap<uint64_t, std::string> Result;
  std::optional<uint64_t> Last = Table.getLastValidFileIndex();
  if (!Last)
    return Result;
  for (uint64_t I = 0; I <= *Last; ++I) {
    std::string Name;
    if (!Table.hasFileAtIndex(I) ||
        !Table.getFileNameByIndex(
            I, Directory,
            DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, Name))
      continue;
    SmallString<128> Path(Name);
    sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
    if (isEndOf(Wanted, Path))
      Result[I] = std::string(Path);
  }
  return Result;
}

/// Adds the places of a sequence where the line's code starts. Optimized code
/// may have several lines at one address: each of them starts there, and the
/// code that follows belongs to the last one.
static void addLine(const LineTable &Table, const DWARFDebugLine::Sequence &S,
                    const DenseMap<uint64_t, std::string> &Files, uint32_t Line,
                    std::vector<LineCode> &Result) {
  bool Open = false;
  for (unsigned I = S.FirstRowIndex; I < S.LastRowIndex;) {
    uint64_t Address = Table.Rows[I].Address.Address;
    const std::string *Started = nullptr;
    bool Last = false;
    for (; I < S.LastRowIndex && Table.Rows[I].Address.Address == Address;
         ++I) {
      const DWARFDebugLine::Row &Row = Table.Rows[I];
      auto File = Files.find(Row.File);
      Last = File != Files.end() && Row.Line == Line && !Row.EndSequence;
      if (Last && Row.IsStmt)
        Started = &File->second;
    }
    uint64_t Next =
        I < S.LastRowIndex ? Table.Rows[I].Address.Address : S.HighPC;
    if (Started && !Open)
      Result.push_back({Address, Next - Address, *Started, Line});
    else if (Open && Last)
      Result.back().Size = Next - Result.back().Address;
    Open = Last && (Open || Started);
  }
}

std::vector<LineCode> SymbolFile::lines(StringRef File, uint32_t Line) const {
  std::vector<LineCode> Result;
  if (!Dwarf)
    return Result;
  SmallString<128> Wanted(File);
  sys::path::remove_dots(Wanted, /*remove_dot_dot=*/true);
  std::lock_guard<std::mutex> Guard(DwarfLock);
  struct Part {
    const LineTable *Table;
    DenseMap<uint64_t, std::string> Files;
  };
  std::vector<Part> Parts;
  // Code that the linker dropped is at address 0, or outside all code.
  auto IsThere = [&](const DWARFDebugLine::Sequence &S) {
    return S.isValid() && S.LowPC != 0 && isCode(S.LowPC);
  };
  uint32_t Best = UINT32_MAX;
  for (const auto &Unit : Dwarf->compile_units()) {
    const LineTable *Table = Dwarf->getLineTableForUnit(Unit.get());
    if (!Table)
      continue;
    const char *Directory = Unit->getCompilationDir();
    DenseMap<uint64_t, std::string> Files =
        filesOf(*Table, Directory ? Directory : "", Wanted);
    if (Files.empty())
      continue;
    for (const DWARFDebugLine::Sequence &S : Table->Sequences)
      if (IsThere(S))
        for (unsigned I = S.FirstRowIndex; I < S.LastRowIndex; ++I) {
          const DWARFDebugLine::Row &Row = Table->Rows[I];
          if (Row.IsStmt && !Row.EndSequence && Row.Line >= Line &&
              Files.contains(Row.File))
            Best = std::min(Best, Row.Line);
        }
    Parts.push_back({Table, std::move(Files)});
  }
  for (const Part &P : Parts)
    for (const DWARFDebugLine::Sequence &S : P.Table->Sequences)
      if (IsThere(S))
        addLine(*P.Table, S, P.Files, Best, Result);
  sort(Result, [](const LineCode &A, const LineCode &B) {
    return A.Address < B.Address;
  });
  Result.erase(llvm::unique(Result,
                            [](const LineCode &A, const LineCode &B) {
                              return A.Address == B.Address;
                            }),
               Result.end());
  return Result;
}

} // namespace chronicle::symbols
