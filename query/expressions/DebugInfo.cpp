// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/DebugInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/DebugInfo/DWARF/DWARFCompileUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"

using namespace llvm;

namespace chronicle::expressions {

/// Errors are those that symbols::SymbolFile reports.
static std::unique_ptr<DWARFContext> contextOf(const object::ObjectFile &File) {
  auto Ignore = [](Error E) { consumeError(std::move(E)); };
  std::unique_ptr<DWARFContext> Result =
      DWARFContext::create(File, DWARFContext::ProcessDebugRelocations::Ignore,
                           nullptr, "", Ignore, Ignore);
  return Result->getNumCompileUnits() ? std::move(Result) : nullptr;
}

std::unique_ptr<DebugInfo> DebugInfo::open(const query::Trace &T,
                                           const state::ModuleLoad &Module) {
  const symbols::SymbolFile *File = T.symbols().fileOf(Module);
  if (!File)
    return nullptr;
  auto Result = std::make_unique<DebugInfo>();
  const symbols::ModulePlace &Place = T.symbols().placeOf(Module);
  if (!Place.DebugPath.empty()) {
    if (Expected<files::ElfFile> Debug = files::openElf(Place.DebugPath)) {
      Result->Debug = std::move(*Debug);
      Result->Dwarf = contextOf(*Result->Debug.getBinary());
    } else {
      consumeError(Debug.takeError()); // a packed one; a debugger reads it
    }
  }
  if (!Result->Dwarf && File->binary())
    Result->Dwarf = contextOf(*File->binary());
  return Result->Dwarf ? std::move(Result) : nullptr;
}

static bool contains(const DWARFDie &Die, uint64_t Address) {
  Expected<DWARFAddressRangesVector> Ranges = Die.getAddressRanges();
  if (!Ranges) {
    consumeError(Ranges.takeError()); // it has no code
    return false;
  }
  return any_of(*Ranges, [&](const DWARFAddressRange &R) {
    return R.LowPC <= Address && Address < R.HighPC;
  });
}

/// Adds the blocks and inlined functions around the address, outermost first.
static void addBlocks(const DWARFDie &Block, uint64_t Address,
                      std::vector<DWARFDie> &Blocks) {
  Blocks.push_back(Block);
  for (const DWARFDie &Child : Block.children())
    if ((Child.getTag() == dwarf::DW_TAG_lexical_block ||
         Child.getTag() == dwarf::DW_TAG_inlined_subroutine) &&
        contains(Child, Address))
      return addBlocks(Child, Address, Blocks);
}

DebugInfo::Scope DebugInfo::scope(uint64_t Address, unsigned Inside) {
  Scope Result;
  DWARFDie Function = Dwarf->getDIEsForAddress(Address).FunctionDIE;
  while (Function && Function.getTag() != dwarf::DW_TAG_subprogram)
    Function = Function.getParent();
  if (!Function)
    return Result;
  Result.Function = Function;
  std::vector<DWARFDie> All;
  addBlocks(Function, Address, All);
  auto IsInlined = [](const DWARFDie &Die) {
    return Die.getTag() == dwarf::DW_TAG_inlined_subroutine;
  };
  for (; Inside; --Inside) {
    while (!All.empty() && !IsInlined(All.back()))
      All.pop_back();
    if (All.empty())
      return Result;
    All.pop_back();
  }
  size_t First = All.size() - 1;
  while (First && !IsInlined(All[First]))
    --First;
  Result.Blocks.assign(All.begin() + ptrdiff_t(First), All.end());
  return Result;
}

static bool isVariable(const DWARFDie &Die) {
  return Die.getTag() == dwarf::DW_TAG_variable ||
         Die.getTag() == dwarf::DW_TAG_formal_parameter;
}

static bool isNamed(const DWARFDie &Die, StringRef Name) {
  const char *Called = Die.getShortName();
  return Called && Name == Called;
}

DWARFDie DebugInfo::local(const Scope &S, StringRef Name) {
  for (const DWARFDie &Block : reverse(S.Blocks)) {
    DWARFDie Found;
    for (const DWARFDie &Child : Block.children()) {
      if (!isVariable(Child) || !isNamed(Child, Name))
        continue;
      if (Found)
        return {};
      Found = Child;
    }
    if (Found)
      return Found;
  }
  return {};
}

/// Visits the declarations around a function, innermost namespace first, and
/// last those of the unit itself. Visit returns true to end.
static void visitOutside(const DebugInfo::Scope &S,
                         function_ref<bool(const DWARFDie &)> Visit) {
  // A function of a class is declared in it, and defined elsewhere.
  DWARFDie Declared = S.Blocks.front();
  for (auto Attribute :
       {dwarf::DW_AT_abstract_origin, dwarf::DW_AT_specification})
    if (DWARFDie Other = Declared.getAttributeValueAsReferencedDie(Attribute))
      Declared = Other;
  for (DWARFDie Outer = Declared.getParent(); Outer; Outer = Outer.getParent())
    for (const DWARFDie &Child : Outer.children())
      if (Visit(Child))
        return;
}

DWARFDie DebugInfo::global(const Scope &S, StringRef Name) {
  DWARFDie Found, Declaration;
  bool Several = false;
  visitOutside(S, [&](const DWARFDie &Die) {
    if (Die.getTag() != dwarf::DW_TAG_variable || !isNamed(Die, Name))
      return false;
    if (!Die.find(dwarf::DW_AT_location)) {
      Declaration = Declaration ? Declaration : Die;
      return false;
    }
    Several |= Found.isValid();
    Found = Die;
    return false;
  });
  if (Several)
    return {};
  return Found ? Found : Declaration;
}

DWARFDie DebugInfo::enumerator(const Scope &S, StringRef Name) {
  DWARFDie Found;
  visitOutside(S, [&](const DWARFDie &Die) {
    if (Die.getTag() != dwarf::DW_TAG_enumeration_type ||
        Die.find(dwarf::DW_AT_enum_class))
      return false;
    for (const DWARFDie &Child : Die.children())
      if (Child.getTag() == dwarf::DW_TAG_enumerator && isNamed(Child, Name))
        Found = Child;
    return Found.isValid();
  });
  return Found;
}

uint64_t DebugInfo::afterPrologue(uint64_t Function) {
  DWARFCompileUnit *Unit = Dwarf->getCompileUnitForCodeAddress(Function);
  const DWARFDebugLine::LineTable *Table =
      Unit ? Dwarf->getLineTableForUnit(Unit) : nullptr;
  const Scope At = scope(Function, 0);
  std::vector<uint32_t> Rows;
  if (!Table || !At.Function)
    return Function;
  uint64_t Low = 0, High = 0, Section = 0;
  if (!At.Function.getLowAndHighPC(Low, High, Section) || Low != Function ||
      !Table->lookupAddressRange({Low, object::SectionedAddress::UndefSection},
                                 High - Low, Rows))
    return Function;
  auto Row = [&](uint32_t I) -> const DWARFDebugLine::Row & {
    return Table->Rows[I];
  };
  for (uint32_t I : Rows)
    if (Row(I).PrologueEnd && Row(I).Address.Address >= Low)
      return Row(I).Address.Address;
  // Without that mark, the first row is the prologue. Code of line 0 belongs to
  // no line.
  for (uint32_t I : Rows)
    if (Row(I).Address.Address > Low && Row(I).Line && !Row(I).EndSequence)
      return Row(I).Address.Address;
  return Function;
}

bool mayDropResult(const query::Trace &T, const state::ModuleLoad &Module,
                   const DWARFDie &Function) {
  Expected<DWARFAddressRangesVector> Ranges = Function.getAddressRanges();
  if (!Ranges) {
    consumeError(Ranges.takeError()); // it has no code
    return true;
  }
  return any_of(*Ranges, [&](const DWARFAddressRange &R) {
    const uint64_t Start = R.LowPC + Module.Bias;
    std::optional<symbols::FunctionFacts> Facts =
        T.symbols().functionFacts(Start, Module.Loaded);
    std::optional<symbols::CodeSymbol> Symbol =
        T.symbols().find(Start, Module.Loaded);
    // GCC gives that name to copies whose result it may have dropped.
    return (Facts && Facts->OwnConvention) ||
           (Symbol &&
            StringRef(Symbol->Frames.back().LinkageName).contains(".isra."));
  });
}

} // namespace chronicle::expressions
