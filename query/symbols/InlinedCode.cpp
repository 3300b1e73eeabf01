// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/symbols/InlinedCode.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/DebugInfo/DWARF/DWARFCompileUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugAbbrev.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"

using namespace llvm;

namespace chronicle::symbols {

bool InlinedCode::contains(uint64_t Address) const {
  return any_of(Ranges, [&](auto Range) {
    return Address >= Range.first && Address < Range.second;
  });
}

/// Code that was not optimized has no inlined functions, which is known from
/// the few kinds of entries that its debug info uses.
static bool mayHaveInlined(DWARFUnit &Unit) {
  const DWARFAbbreviationDeclarationSet *Kinds = Unit.getAbbreviations();
  return Kinds && any_of(*Kinds, [](const DWARFAbbreviationDeclaration &Kind) {
           return Kind.getTag() == dwarf::DW_TAG_inlined_subroutine;
         });
}

using LineTable = DWARFDebugLine::LineTable;

/// Where the code begins if debug info does not say: at the first statement.
/// The lowest address may be padding before a loop, or an instruction that the
/// compiler took from elsewhere.
static void addStarts(const LineTable &Lines, InlinedCode &Code) {
  const DWARFDebugLine::Row *First = nullptr;
  for (auto [Begin, End] : Code.Ranges) {
    std::vector<uint32_t> Rows;
    Lines.lookupAddressRange({Begin, object::SectionedAddress::UndefSection},
                             End - Begin, Rows);
    for (uint32_t I : Rows) {
      const DWARFDebugLine::Row &Row = Lines.Rows[I];
      if (!Row.IsStmt || !Row.Line || !Code.contains(Row.Address.Address))
        continue;
      First = First ? First : &Row;
      if (Row.File == First->File && Row.Line == First->Line &&
          Row.Column == First->Column)
        Code.Entries.push_back(Row.Address.Address);
    }
  }
  // What precedes the first statement is not yet the function's.
  if (First && First->Address.Address < Code.Ranges.front().second)
    Code.Ranges.front().first = First->Address.Address;
}

/// Nothing: the linker dropped the code, or there is none.
static std::optional<InlinedCode>
instanceAt(const DWARFDie &Die, const LineTable *Lines,
           function_ref<bool(uint64_t)> IsCode) {
  Expected<DWARFAddressRangesVector> Ranges = Die.getAddressRanges();
  if (!Ranges) {
    consumeError(Ranges.takeError()); // as if it had none
    return std::nullopt;
  }
  InlinedCode Result;
  for (const DWARFAddressRange &Range : *Ranges)
    if (Range.LowPC && Range.LowPC < Range.HighPC && IsCode(Range.LowPC))
      Result.Ranges.emplace_back(Range.LowPC, Range.HighPC);
  if (Result.Ranges.empty())
    return std::nullopt;
  sort(Result.Ranges);
  if (std::optional<DWARFFormValue> Entry = Die.find(dwarf::DW_AT_entry_pc)) {
    // An address, or a distance from where the first range begins.
    std::optional<uint64_t> Address = dwarf::toAddress(Entry);
    if (!Address)
      Address = Ranges->front().LowPC + dwarf::toUnsigned(Entry, 0);
    if (Result.contains(*Address))
      Result.Entries.push_back(*Address);
  } else if (Lines) {
    addStarts(*Lines, Result);
  }
  if (Result.Entries.empty())
    Result.Entries.push_back(Result.Ranges.front().first);
  return Result;
}

std::vector<InlinedCode> findInlined(DWARFContext &Dwarf,
                                     function_ref<bool(StringRef)> NameFits,
                                     function_ref<bool(uint64_t)> IsCode) {
  std::vector<InlinedCode> Result;
  // By the offset of the function; empty: the name does not fit.
  DenseMap<uint64_t, std::string> Known;
  for (const auto &Unit : Dwarf.compile_units()) {
    if (!mayHaveInlined(*Unit))
      continue;
    const LineTable *Lines = nullptr;
    for (const DWARFDebugInfoEntry &Entry : Unit->dies()) {
      if (Entry.getTag() != dwarf::DW_TAG_inlined_subroutine)
        continue;
      DWARFDie Die(Unit.get(), &Entry);
      DWARFDie Function =
          Die.getAttributeValueAsReferencedDie(dwarf::DW_AT_abstract_origin);
      if (!Function)
        continue;
      auto [It, New] = Known.try_emplace(Function.getOffset());
      if (New) {
        const char *Name = Function.getName(DINameKind::LinkageName);
        if (Name && NameFits(Name))
          It->second = Name;
      }
      if (It->second.empty())
        continue;
      if (!Lines)
        Lines = Dwarf.getLineTableForUnit(Unit.get());
      if (std::optional<InlinedCode> Found = instanceAt(Die, Lines, IsCode)) {
        Found->LinkageName = It->second;
        Result.push_back(std::move(*Found));
      }
    }
  }
  // A function with the same name in several units may be one function.
  sort(Result, [](const InlinedCode &A, const InlinedCode &B) {
    return std::tie(A.Ranges, A.LinkageName) <
           std::tie(B.Ranges, B.LinkageName);
  });
  Result.erase(llvm::unique(Result,
                            [](const InlinedCode &A, const InlinedCode &B) {
                              return A.Ranges == B.Ranges &&
                                     A.LinkageName == B.LinkageName;
                            }),
               Result.end());
  return Result;
}

} // namespace chronicle::symbols
