// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/symbols/FunctionFacts.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::symbols {

/// Whether the location is a list that has an entry for the address.
static bool isListed(const DWARFDie &Parameter, uint64_t Address) {
  std::optional<DWARFFormValue> Location =
      Parameter.find(dwarf::DW_AT_location);
  if (!Location || Location->isFormClass(DWARFFormValue::FC_Exprloc) ||
      Location->isFormClass(DWARFFormValue::FC_Block))
    return false;
  Expected<DWARFLocationExpressionsVector> List =
      Parameter.getLocations(dwarf::DW_AT_location);
  if (!List) {
    consumeError(List.takeError()); // LLDB says so where it reads the value
    return false;
  }
  return any_of(*List, [&](const DWARFLocationExpression &Entry) {
    return Entry.Range && Entry.Range->LowPC <= Address &&
           Address < Entry.Range->HighPC;
  });
}

std::optional<FunctionFacts> functionFacts(DWARFContext &Dwarf,
                                           uint64_t Address) {
  DWARFDie Function = Dwarf.getDIEsForAddress(Address).FunctionDIE;
  // Other code may be inlined at its first instruction.
  while (Function && Function.getTag() != dwarf::DW_TAG_subprogram)
    Function = Function.getParent();
  if (!Function)
    return std::nullopt;
  Expected<DWARFAddressRangesVector> Ranges = Function.getAddressRanges();
  if (!Ranges) {
    consumeError(Ranges.takeError()); // as if it had none
    return std::nullopt;
  }
  if (none_of(*Ranges, [&](const DWARFAddressRange &Range) {
        return Range.LowPC == Address;
      }))
    return std::nullopt;
  FunctionFacts Result;
  Result.OwnConvention = dwarf::toUnsigned(Function.findRecursively(
                                               dwarf::DW_AT_calling_convention),
                                           0) == dwarf::DW_CC_nocall;
  for (const DWARFDie &Child : Function.children()) {
    if (Child.getTag() != dwarf::DW_TAG_formal_parameter)
      continue;
    const char *Name = Child.getShortName();
    Result.Parameters.push_back({Name ? Name : "", isListed(Child, Address)});
  }
  return Result;
}

} // namespace chronicle::symbols
