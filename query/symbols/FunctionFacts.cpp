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

/// The type that a function returns or that a variable has.
static DWARFDie typeOf(const DWARFDie &Of) {
  std::optional<DWARFFormValue> Reference =
      Of.findRecursively(dwarf::DW_AT_type);
  return Reference
             ? withoutNames(Of.getAttributeValueAsReferencedDie(*Reference))
             : DWARFDie();
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
  DWARFDie Type = typeOf(Function);
  return isClass(Type) ? isPassedInMemory(Type) : std::nullopt;
}

namespace {
/// The registers in which the ABI passes a function's parameters, in order, as
/// DWARF numbers them.
class ArgumentRegisters {
public:
  explicit ArgumentRegisters(const DWARFDie &Function) {
    // The address for a result in memory is passed before the parameters.
    DWARFDie Result = typeOf(Function);
    Known = Result ? classOf(Result) != Class::Other
                   : !Function.findRecursively(dwarf::DW_AT_type);
  }

  /// The register of the next parameter. Nothing: it is not passed in a
  /// register alone. What follows a parameter of which that is not known, or
  /// which may have been dropped, is not known either.
  std::optional<unsigned> next(const DWARFDie &Parameter) {
    constexpr unsigned Integer[] = {5, 4, 1, 2, 8, 9}; // rdi rsi rdx rcx r8 r9
    constexpr unsigned FirstVector = 17, Vectors = 8;  // xmm0 and on
    DWARFDie Type = typeOf(Parameter);
    const Class C = Type ? classOf(Type) : Class::Other;
    // Only some copies of a constructor take its artificial parameters.
    const bool Hidden =
        IntegerCount && Parameter.findRecursively(dwarf::DW_AT_artificial);
    Known &= C != Class::Other && !Hidden &&
             Parameter.find(dwarf::DW_AT_location).has_value();
    if (!Known)
      return std::nullopt;
    if (C == Class::Vector)
      return VectorCount < Vectors ? std::optional(FirstVector + VectorCount++)
                                   : std::nullopt;
    return IntegerCount < std::size(Integer)
               ? std::optional(Integer[IntegerCount++])
               : std::nullopt;
  }

private:
  enum class Class { Integer, Vector, Other };

  static Class classOf(const DWARFDie &Type) {
    if (dwarf::toUnsigned(Type.find(dwarf::DW_AT_byte_size), 8) > 8)
      return Class::Other;
    switch (Type.getTag()) {
    case dwarf::DW_TAG_pointer_type:
    case dwarf::DW_TAG_reference_type:
    case dwarf::DW_TAG_rvalue_reference_type:
    case dwarf::DW_TAG_enumeration_type:
      return Class::Integer;
    case dwarf::DW_TAG_base_type:
      break;
    default:
      return Class::Other;
    }
    switch (dwarf::toUnsigned(Type.find(dwarf::DW_AT_encoding), 0)) {
    case dwarf::DW_ATE_boolean:
    case dwarf::DW_ATE_signed:
    case dwarf::DW_ATE_signed_char:
    case dwarf::DW_ATE_unsigned:
    case dwarf::DW_ATE_unsigned_char:
    case dwarf::DW_ATE_UTF:
      return Class::Integer;
    case dwarf::DW_ATE_float:
      return Class::Vector;
    default:
      return Class::Other;
    }
  }

  bool Known = true;
  unsigned IntegerCount = 0, VectorCount = 0;
};
} // namespace

/// Whether the parameter stays in that register during the whole function.
static bool staysIn(const DWARFDie &Parameter, unsigned Register) {
  std::optional<DWARFFormValue> Location =
      Parameter.find(dwarf::DW_AT_location);
  std::optional<ArrayRef<uint8_t>> Bytes = dwarf::toBlock(Location);
  return Bytes && Bytes->size() == 1 &&
         Bytes->front() == dwarf::DW_OP_reg0 + Register;
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
  ArgumentRegisters Registers(Function);
  for (const DWARFDie &Child : Function.children()) {
    if (Child.getTag() != dwarf::DW_TAG_formal_parameter)
      continue;
    const char *Name = Child.getShortName();
    std::optional<unsigned> Passed = Registers.next(Child);
    Result.Parameters.push_back(
        {Name ? Name : "",
         isListed(Child, Address) ||
             (Passed && !Result.OwnConvention && staysIn(Child, *Passed))});
  }
  return Result;
}

} // namespace chronicle::symbols
