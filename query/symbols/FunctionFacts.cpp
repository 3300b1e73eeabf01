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

/// The type without names that were given to it, const and volatile.
static DWARFDie withoutNames(DWARFDie Type) {
  constexpr unsigned MostNames = 64;
  for (unsigned I = 0; I < MostNames && Type; ++I) {
    if (Type.getTag() != dwarf::DW_TAG_typedef &&
        Type.getTag() != dwarf::DW_TAG_const_type &&
        Type.getTag() != dwarf::DW_TAG_volatile_type)
      return Type;
    Type = Type.getAttributeValueAsReferencedDie(dwarf::DW_AT_type);
  }
  return DWARFDie();
}

static DWARFDie typeOf(const DWARFDie &Of) {
  return withoutNames(Of.getAttributeValueAsReferencedDie(dwarf::DW_AT_type));
}

static bool isClass(const DWARFDie &Type) {
  return Type && (Type.getTag() == dwarf::DW_TAG_class_type ||
                  Type.getTag() == dwarf::DW_TAG_structure_type ||
                  Type.getTag() == dwarf::DW_TAG_union_type);
}

/// Whether the member function is a destructor, or a constructor that copies or
/// moves, and the program has it: it is not what the compiler makes of "=
/// default" in the class.
static bool isOwnCopy(const DWARFDie &Member, const DWARFDie &Class) {
  const StringRef Name = dwarf::toStringRef(Member.find(dwarf::DW_AT_name));
  const StringRef Of = dwarf::toStringRef(Class.find(dwarf::DW_AT_name));
  if (Member.find(dwarf::DW_AT_artificial) ||
      Member.find(dwarf::DW_AT_deleted) ||
      dwarf::toUnsigned(Member.find(dwarf::DW_AT_defaulted), 0) ==
          dwarf::DW_DEFAULTED_in_class)
    return false;
  if (Name.starts_with("~"))
    return true;
  if (Name != Of.take_until([](char C) { return C == '<'; }))
    return false;
  SmallVector<DWARFDie, 2> Parameters;
  for (const DWARFDie &Child : Member.children())
    if (Child.getTag() == dwarf::DW_TAG_formal_parameter &&
        !Child.find(dwarf::DW_AT_artificial))
      Parameters.push_back(Child);
  if (Parameters.size() != 1)
    return false;
  DWARFDie Reference = typeOf(Parameters.front());
  return Reference &&
         (Reference.getTag() == dwarf::DW_TAG_reference_type ||
          Reference.getTag() == dwarf::DW_TAG_rvalue_reference_type) &&
         typeOf(Reference) == Class;
}

/// Whether objects of the class are passed in memory because copying or
/// destroying one takes a function; nothing: not known.
static std::optional<bool> isPassedInMemory(const DWARFDie &Class,
                                            unsigned Depth = 0) {
  constexpr unsigned Deepest = 32;
  switch (dwarf::toUnsigned(Class.find(dwarf::DW_AT_calling_convention), 0)) {
  case dwarf::DW_CC_pass_by_reference:
    return true;
  case dwarf::DW_CC_pass_by_value:
    return false;
  default:
    break;
  }
  // GCC does not say. It says which functions are only defaulted.
  if (Class.find(dwarf::DW_AT_declaration) || Depth > Deepest)
    return std::nullopt;
  for (const DWARFDie &Child : Class.children()) {
    switch (Child.getTag()) {
    case dwarf::DW_TAG_subprogram:
      if (Child.find(dwarf::DW_AT_virtuality) || isOwnCopy(Child, Class))
        return true;
      break;
    case dwarf::DW_TAG_inheritance:
      if (Child.find(dwarf::DW_AT_virtuality))
        return true;
      [[fallthrough]];
    case dwarf::DW_TAG_member: {
      if (Child.find(dwarf::DW_AT_external)) // a static one
        break;
      DWARFDie Type = typeOf(Child);
      while (Type && Type.getTag() == dwarf::DW_TAG_array_type)
        Type = typeOf(Type);
      if (!isClass(Type))
        break;
      std::optional<bool> Part = isPassedInMemory(Type, Depth + 1);
      if (Part != false)
        return Part;
      break;
    }
    default:
      break;
    }
  }
  return false;
}

/// As FunctionFacts::ResultInMemory.
static std::optional<bool> resultInMemory(const DWARFDie &Function) {
  std::optional<DWARFFormValue> Reference =
      Function.findRecursively({dwarf::DW_AT_type});
  if (!Reference)
    return std::nullopt;
  DWARFDie Type =
      withoutNames(Function.getAttributeValueAsReferencedDie(*Reference));
  return isClass(Type) ? isPassedInMemory(Type) : std::nullopt;
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
  Result.ResultInMemory = resultInMemory(Function);
  for (const DWARFDie &Child : Function.children()) {
    if (Child.getTag() != dwarf::DW_TAG_formal_parameter)
      continue;
    const char *Name = Child.getShortName();
    Result.Parameters.push_back({Name ? Name : "", isListed(Child, Address)});
  }
  return Result;
}

} // namespace chronicle::symbols
