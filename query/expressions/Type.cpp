// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/Type.h"
#include "llvm/DebugInfo/DWARF/DWARFFormValue.h"
#include "llvm/DebugInfo/DWARF/DWARFTypePrinter.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::expressions {

DWARFDie typeOf(const DWARFDie &Die) {
  std::optional<DWARFFormValue> Type = Die.findRecursively(dwarf::DW_AT_type);
  return Type ? Die.getAttributeValueAsReferencedDie(*Type) : DWARFDie();
}

static bool isQualifier(dwarf::Tag Tag) {
  switch (Tag) {
  case dwarf::DW_TAG_typedef:
  case dwarf::DW_TAG_const_type:
  case dwarf::DW_TAG_volatile_type:
  case dwarf::DW_TAG_restrict_type:
  case dwarf::DW_TAG_atomic_type:
    return true;
  default:
    return false;
  }
}

/// GCC's names of C's types as everybody else writes them.
static StringRef usualName(StringRef Name) {
  static constexpr std::pair<StringRef, StringRef> Names[] = {
      {"short int", "short"},
      {"short unsigned int", "unsigned short"},
      {"long int", "long"},
      {"long unsigned int", "unsigned long"},
      {"long long int", "long long"},
      {"long long unsigned int", "unsigned long long"}};
  for (auto [Old, New] : Names)
    if (Name == Old)
      return New;
  return Name;
}

static std::string nameOf(const DWARFDie &Die) {
  std::string Name;
  raw_string_ostream Out(Name);
  if (Die)
    DWARFTypePrinter<DWARFDie>(Out).appendQualifiedName(Die);
  else
    Out << "void";
  return usualName(Name).str();
}

static void readBase(Type &T) {
  using Kind = Type::Kind;
  const bool Fits = T.Size == 1 || T.Size == 2 || T.Size == 4 || T.Size == 8;
  switch (dwarf::toUnsigned(T.Die.find(dwarf::DW_AT_encoding), 0)) {
  case dwarf::DW_ATE_boolean:
    T.What = T.Size == 1 ? Kind::Boolean : Kind::Other;
    break;
  case dwarf::DW_ATE_signed_char:
    T.Signed = true;
    [[fallthrough]];
  case dwarf::DW_ATE_unsigned_char:
    T.What = T.Size == 1 ? Kind::Character : Kind::Other;
    break;
  case dwarf::DW_ATE_signed:
    T.Signed = true;
    [[fallthrough]];
  case dwarf::DW_ATE_unsigned:
    T.What = Fits ? Kind::Integer : Kind::Other;
    break;
  case dwarf::DW_ATE_float:
    T.What = T.Size == 4 || T.Size == 8 ? Kind::Float : Kind::Other;
    break;
  default:
    break;
  }
}

static void readEnumeration(Type &T) {
  DWARFDie Base = typeOf(T.Die);
  while (Base && isQualifier(Base.getTag()))
    Base = typeOf(Base);
  // C's enumerations may have no type of their own: their values tell.
  const uint64_t Encoding =
      Base ? dwarf::toUnsigned(Base.find(dwarf::DW_AT_encoding), 0) : 0;
  T.Signed =
      Encoding == dwarf::DW_ATE_signed || Encoding == dwarf::DW_ATE_signed_char;
  if (!Base || (T.Size != 1 && T.Size != 2 && T.Size != 4 && T.Size != 8))
    return;
  T.What = Type::Kind::Enumeration;
  for (const DWARFDie &Child : T.Die.children()) {
    if (Child.getTag() != dwarf::DW_TAG_enumerator)
      continue;
    std::optional<DWARFFormValue> Value = Child.find(dwarf::DW_AT_const_value);
    const char *Name = Child.getShortName();
    if (!Value || !Name)
      continue;
    std::optional<int64_t> Number = Value->getAsSignedConstant();
    std::optional<uint64_t> Plain = Value->getAsUnsignedConstant();
    if (Number || Plain)
      T.Enumerators.emplace_back(Number ? uint64_t(*Number) : *Plain, Name);
  }
}

Type *TypeTable::add(Type T) {
  All.push_back(std::move(T));
  return &All.back();
}

const Type *TypeTable::of(const DWARFDie &Die) {
  const Type *&Known = ByDie[Die.getDebugInfoEntry()];
  if (Known)
    return Known;
  Type T;
  T.Name = nameOf(Die);
  T.Die = Die;
  constexpr unsigned Deepest = 64;
  for (unsigned I = 0; T.Die && isQualifier(T.Die.getTag()) && I < Deepest; ++I)
    T.Die = typeOf(T.Die);
  if (T.Die)
    T.Size = unsigned(dwarf::toUnsigned(T.Die.find(dwarf::DW_AT_byte_size), 0));
  switch (T.Die ? T.Die.getTag() : dwarf::DW_TAG_unspecified_type) {
  case dwarf::DW_TAG_base_type:
    readBase(T);
    break;
  case dwarf::DW_TAG_enumeration_type:
    readEnumeration(T);
    break;
  case dwarf::DW_TAG_reference_type:
  case dwarf::DW_TAG_rvalue_reference_type:
    T.Reference = true;
    [[fallthrough]];
  case dwarf::DW_TAG_pointer_type:
    T.What = Type::Kind::Pointer;
    T.Size = 8;
    break;
  case dwarf::DW_TAG_array_type: {
    // Of several dimensions only the number of rows matters here.
    unsigned Dimensions = 0;
    for (const DWARFDie &Child : T.Die.children())
      Dimensions += Child.getTag() == dwarf::DW_TAG_subrange_type;
    if (Dimensions == 1)
      T.What = Type::Kind::Array;
    break;
  }
  case dwarf::DW_TAG_structure_type:
  case dwarf::DW_TAG_class_type:
  case dwarf::DW_TAG_union_type:
    if (!T.Die.find(dwarf::DW_AT_declaration))
      T.What = Type::Kind::Class;
    break;
  default:
    break;
  }
  Known = add(std::move(T));
  return Known;
}

const Type *TypeTable::target(const Type *T) {
  if (T->Target)
    return T->Target;
  const Type *&Known = Targets[T];
  if (!Known)
    Known = of(T->Die ? typeOf(T->Die) : DWARFDie());
  return Known;
}

const Type *TypeTable::pointerTo(const Type *Target) {
  const Type *&Known = Pointers[Target];
  if (!Known) {
    Type T;
    T.What = Type::Kind::Pointer;
    T.Size = 8;
    T.Name = Target->Name + " *";
    T.Target = Target;
    Known = add(std::move(T));
  }
  return Known;
}

const Type *TypeTable::integer(unsigned Size, bool Signed) {
  const Type *&Known = Integers[{Size, Signed}];
  if (!Known) {
    Type T;
    T.What = Type::Kind::Integer;
    T.Size = Size;
    T.Signed = Signed;
    T.Name =
        std::string(Signed ? "" : "unsigned ") + (Size == 8 ? "long" : "int");
    Known = add(std::move(T));
  }
  return Known;
}

bool TypeTable::findMember(const DWARFDie &Class, StringRef Name,
                           SmallVectorImpl<DWARFDie> &Path, unsigned Depth) {
  constexpr unsigned Deepest = 16;
  if (Depth > Deepest)
    return false;
  for (const DWARFDie &Child : Class.children()) {
    const bool Base = Child.getTag() == dwarf::DW_TAG_inheritance;
    if (!Base && Child.getTag() != dwarf::DW_TAG_member)
      continue;
    const char *Called = Base ? nullptr : Child.getShortName();
    Path.push_back(Child);
    if (Called && Name == Called)
      return true;
    if (Base || !Called) {
      const Type *Inner = of(typeOf(Child));
      if (Inner->Die && findMember(Inner->Die, Name, Path, Depth + 1))
        return true;
    }
    Path.pop_back();
  }
  return false;
}

const Type *TypeTable::floating(unsigned Size) {
  const Type *&Known = Floats[Size];
  if (!Known) {
    Type T;
    T.What = Type::Kind::Float;
    T.Size = Size;
    T.Name = Size == sizeof(float) ? "float" : "double";
    Known = add(std::move(T));
  }
  return Known;
}

const Type *TypeTable::boolean() {
  if (!Bool) {
    Type T;
    T.What = Type::Kind::Boolean;
    T.Size = 1;
    T.Name = "bool";
    Bool = add(std::move(T));
  }
  return Bool;
}

} // namespace chronicle::expressions
