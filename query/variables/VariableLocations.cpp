// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/variables/VariableLocations.h"
#include "query/symbols/Symbols.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/DebugInfo/DWARF/LowLevel/DWARFExpression.h"

using namespace llvm;

namespace chronicle::variables {

/// The register that the expression consists of; nothing: it is more.
static std::optional<uint64_t> registerIn(ArrayRef<uint8_t> Location) {
  DWARFExpression Expression(
      DataExtractor(Location, /*IsLittleEndian=*/true, 8), 8);
  auto It = Expression.begin();
  if (It == Expression.end() || It->isError() ||
      It->getEndOffset() != Location.size())
    return std::nullopt;
  if (It->getCode() >= dwarf::DW_OP_reg0 && It->getCode() <= dwarf::DW_OP_reg31)
    return It->getCode() - dwarf::DW_OP_reg0;
  if (It->getCode() == dwarf::DW_OP_regx)
    return It->getRawOperand(0);
  return std::nullopt;
}

static std::vector<VariableRange> locationsOf(const DWARFDie &Variable) {
  std::vector<VariableRange> Result;
  Expected<DWARFLocationExpressionsVector> List =
      Variable.getLocations(dwarf::DW_AT_location);
  if (!List) {
    consumeError(List.takeError()); // it has none
    return Result;
  }
  for (const DWARFLocationExpression &Each : *List) {
    VariableRange R{0, ~uint64_t(0), registerIn(Each.Expr)};
    if (Each.Range) {
      if (Each.Range->LowPC >= Each.Range->HighPC)
        continue;
      R.First = Each.Range->LowPC;
      R.Last = Each.Range->HighPC - 1;
    }
    Result.push_back(R);
  }
  return Result;
}

/// Adds the blocks and inlined functions around the address, outermost first.
static void addScopes(const DWARFDie &Scope, uint64_t Address,
                      std::vector<DWARFDie> &Scopes) {
  Scopes.push_back(Scope);
  for (const DWARFDie &Child : Scope.children()) {
    if (Child.getTag() != dwarf::DW_TAG_lexical_block &&
        Child.getTag() != dwarf::DW_TAG_inlined_subroutine)
      continue;
    Expected<DWARFAddressRangesVector> Ranges = Child.getAddressRanges();
    if (!Ranges) {
      consumeError(Ranges.takeError()); // it has no code
      continue;
    }
    if (any_of(*Ranges, [&](const DWARFAddressRange &R) {
          return R.LowPC <= Address && Address < R.HighPC;
        }))
      addScopes(Child, Address, Scopes);
  }
}

std::vector<VariableRange> variableLocations(const query::Trace &T, uint64_t Pc,
                                             StringRef Name, uint64_t Register,
                                             Timestamp At) {
  const state::ModuleLoad *Load = T.symbols().moduleAt(Pc, At);
  const symbols::SymbolFile *File = Load ? T.symbols().fileOf(*Load) : nullptr;
  if (!File || !File->binary())
    return {};
  std::unique_ptr<DWARFContext> Dwarf = DWARFContext::create(*File->binary());
  const uint64_t Address = Pc - Load->Bias;
  DWARFDie Function = Dwarf->getDIEsForAddress(Address).FunctionDIE;
  if (!Function)
    return {};
  std::vector<DWARFDie> Scopes;
  addScopes(Function, Address, Scopes);
  for (const DWARFDie &Scope : reverse(Scopes))
    for (const DWARFDie &Child : Scope.children()) {
      const char *Called = Child.getShortName();
      if ((Child.getTag() != dwarf::DW_TAG_variable &&
           Child.getTag() != dwarf::DW_TAG_formal_parameter) ||
          !Called || Name != Called)
        continue;
      std::vector<VariableRange> Found = locationsOf(Child);
      if (none_of(Found, [&](const VariableRange &R) {
            return R.contains(Address) && R.Register == Register;
          }))
        continue;
      for (VariableRange &R : Found) {
        if (R.Last == ~uint64_t(0))
          continue;
        R.First += Load->Bias;
        R.Last += Load->Bias;
      }
      return Found;
    }
  return {};
}

} // namespace chronicle::variables
