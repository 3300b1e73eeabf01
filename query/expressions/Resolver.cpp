// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/EvaluationError.h"
#include "query/expressions/TypedExpression.h"
#include "query/registers/RegisterNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::expressions {

using Kind = TypedExpression::Kind;

namespace {
class Resolver {
public:
  Resolver(TypeTable &Types, const query::Trace *T,
           const state::ModuleLoad *Module, uint64_t Address,
           DebugInfo::Scope Scope)
      : Types(Types), T(T), Module(Module), Address(Address),
        Scope(std::move(Scope)) {}

  Expected<TypedExpression> resolve(const Expression &E);

private:
  using Typed = Expected<TypedExpression>;

  TypedExpression constant(uint64_t Number, const Type *Of) {
    TypedExpression Result;
    Result.Number = Number;
    Result.Of = Of;
    return Result;
  }
  TypedExpression make(Kind What, const Type *Of, TypedExpression A) {
    TypedExpression Result;
    Result.What = What;
    Result.Of = Of;
    if (Of->What == Type::Kind::Pointer)
      Result.Target = Types.target(Of);
    Result.Operands.push_back(std::move(A));
    return Result;
  }
  /// The object that a pointer points to. A reference stands for its object.
  Typed indirect(TypedExpression Pointer) {
    const Type *To = Pointer.Target;
    if (Pointer.Of->What != Type::Kind::Pointer || !To)
      return notSimple("it is no pointer");
    return object(make(Kind::Indirect, To, std::move(Pointer)));
  }
  Typed object(TypedExpression Found) {
    if (Found.Of->What == Type::Kind::Pointer)
      Found.Target = Types.target(Found.Of);
    if (Found.Of->Reference)
      return indirect(std::move(Found));
    return Found;
  }

  Typed name(const Expression &E);
  Typed variable(const DWARFDie &Die, StringRef Name);
  Typed registerNamed(const Expression &E);
  Typed result();
  Typed member(TypedExpression Object, StringRef Name);
  Typed field(TypedExpression Object, const DWARFDie &Member);

  /// An array as a pointer to its first element.
  Typed decayed(TypedExpression E);
  Typed promoted(TypedExpression E);
  TypedExpression converted(TypedExpression E, const Type *To) {
    return E.Of == To ? std::move(E) : make(Kind::Convert, To, std::move(E));
  }
  Typed unary(const Expression &E);
  Typed binary(const Expression &E);
  Typed addition(Operation How, TypedExpression A, TypedExpression B);
  Typed arithmetic(Operation How, TypedExpression A, TypedExpression B);
  Typed comparison(Operation How, TypedExpression A, TypedExpression B);
  Typed conditional(const Expression &E);
  /// Whether it is true: a bool.
  TypedExpression truth(TypedExpression E) {
    return converted(std::move(E), Types.boolean());
  }
  const Type *common(const Type *A, const Type *B) {
    const bool FloatA = A->What == Type::Kind::Float,
               FloatB = B->What == Type::Kind::Float;
    if (FloatA || FloatB)
      return Types.floating(
          std::max(FloatA ? A->Size : 0, FloatB ? B->Size : 0));
    const unsigned Size = std::max(A->Size, B->Size);
    const bool Unsigned =
        (A->Size == Size && !A->Signed) || (B->Size == Size && !B->Signed);
    return Types.integer(Size, !Unsigned);
  }
  Typed operation(Kind What, Operation How, const Type *Of, TypedExpression A,
                  std::optional<TypedExpression> B = std::nullopt) {
    TypedExpression Result = make(What, Of, std::move(A));
    Result.How = How;
    if (B)
      Result.Operands.push_back(std::move(*B));
    return Result;
  }

  TypeTable &Types;
  const query::Trace *T;
  const state::ModuleLoad *Module;
  const uint64_t Address;
  const DebugInfo::Scope Scope;
};
} // namespace

static bool isArithmetic(const TypedExpression &E) { return E.Of->isWhole(); }
static bool isFloat(const TypedExpression &E) {
  return E.Of->What == Type::Kind::Float;
}
static bool isPointer(const TypedExpression &E) {
  return E.Of->What == Type::Kind::Pointer;
}

// ---- names ----

Resolver::Typed Resolver::variable(const DWARFDie &Die, StringRef Name) {
  TypedExpression Result;
  Result.What = Kind::Variable;
  Result.Of = Types.of(typeOf(Die));
  if (std::optional<DWARFFormValue> Value =
          Die.findRecursively(dwarf::DW_AT_const_value)) {
    std::optional<int64_t> Number = Value->getAsSignedConstant();
    if (!Number || !Result.Of->isWhole())
      return notSimple("it is a constant that is not read here");
    const unsigned Unused = 64 - Result.Of->Size * 8;
    const uint64_t Left = uint64_t(*Number) << Unused;
    return constant(Result.Of->Signed ? uint64_t(int64_t(Left) >> Unused)
                                      : Left >> Unused,
                    Result.Of);
  }
  const bool Declared = Die.find(dwarf::DW_AT_declaration).has_value() &&
                        !Die.find(dwarf::DW_AT_location);
  if (Declared) {
    std::vector<symbols::SymbolAt> Found = T->symbols().globals(Name);
    if (Found.size() != 1 || Found[0].ThreadLocal)
      return notSimple("it is defined elsewhere");
    Result.Where = Location::atAddress(Found[0].Address);
  } else if (Error E = Location::of(Die, Scope.Function, Address, *Module)
                           .moveInto(Result.Where)) {
    return E;
  }
  return object(std::move(Result));
}

Resolver::Typed Resolver::name(const Expression &E) {
  if (!Scope)
    return notSimple(
        formatv("'{0}' is not known: the code has no debug info", E.Text)
            .str());
  if (DWARFDie Die = DebugInfo::local(Scope, E.Text))
    return variable(Die, E.Text);
  if (E.Text != "this")
    if (DWARFDie This = DebugInfo::local(Scope, "this")) {
      Typed Pointer = variable(This, "this");
      if (!Pointer)
        return Pointer;
      SmallVector<DWARFDie, 4> Path;
      const Type *Class = Pointer->Target;
      if (Class && Class->Die && Types.findMember(Class->Die, E.Text, Path)) {
        Typed Object = indirect(std::move(*Pointer));
        if (!Object)
          return Object;
        return member(std::move(*Object), E.Text);
      }
    }
  if (DWARFDie Die = DebugInfo::global(Scope, E.Text))
    return variable(Die, E.Text);
  if (DWARFDie Die = DebugInfo::enumerator(Scope, E.Text)) {
    const Type *Of = Types.of(Die.getParent());
    for (const auto &[Number, Name] : Of->Enumerators)
      if (Name == E.Text)
        return constant(Number, Of);
  }
  return notSimple(formatv("no variable is called '{0}' there", E.Text).str());
}

Resolver::Typed Resolver::result() {
  if (!Scope)
    return notSimple("the type of the result is not known: the code has no "
                     "debug info");
  if (Scope.Blocks.front() != Scope.Function)
    return noValue("an inlined call has no result");
  DWARFDie Of = typeOf(Scope.Function);
  if (!Of)
    return notSimple("the function returns nothing");
  if (mayDropResult(*T, *Module, Scope.Function))
    return noValue("the compiler may have dropped the result");
  TypedExpression Result;
  Result.What = Kind::Result;
  Result.Of = Types.of(Of);
  if (Result.Of->What == Type::Kind::Pointer)
    Result.Target = Types.target(Result.Of);
  if (Result.Of->Reference ||
      (!isArithmetic(Result) && !isPointer(Result) && !isFloat(Result)))
    return notSimple(
        formatv("results of type '{0}' are not read here", Result.Of->Name)
            .str());
  return Result;
}

Resolver::Typed Resolver::registerNamed(const Expression &E) {
  if (E.Text == "result")
    return result();
  Expected<registers::Register> R = registers::registerNamed(E.Text);
  if (!R) {
    consumeError(R.takeError()); // the debugger has more, and variables
    return notSimple(
        formatv("'${0}' is no register that is known", E.Text).str());
  }
  if (R->Flags || R->Bytes.Size > 8)
    return notSimple(formatv("${0} is no whole number", E.Text).str());
  TypedExpression Result;
  Result.What = Kind::Register;
  Result.Of = Types.integer(8, /*Signed=*/false);
  Result.Number = R->Bytes.Offset;
  Result.Bits = R->Bytes.Size * 8;
  return Result;
}

Resolver::Typed Resolver::field(TypedExpression Object,
                                const DWARFDie &Member) {
  if (Member.find(dwarf::DW_AT_external) ||
      Member.find(dwarf::DW_AT_declaration))
    return notSimple("it is a static member");
  if (Member.find(dwarf::DW_AT_virtuality))
    return notSimple("it is in a virtual base class");
  TypedExpression Result =
      make(Kind::Field, Types.of(typeOf(Member)), std::move(Object));
  std::optional<DWARFFormValue> Offset =
      Member.find(dwarf::DW_AT_data_member_location);
  if (Offset) {
    std::optional<uint64_t> Number = Offset->getAsUnsignedConstant();
    if (!Number)
      return notSimple("the place of the member is computed");
    Result.Number = *Number;
  }
  if (std::optional<DWARFFormValue> Bits = Member.find(dwarf::DW_AT_bit_size)) {
    const uint64_t First =
        dwarf::toUnsigned(Member.find(dwarf::DW_AT_data_bit_offset), ~0ull);
    const uint64_t Size = dwarf::toUnsigned(Bits, 0);
    if (First == ~0ull || !Size || Size > 57 || !Result.Of->isWhole())
      return notSimple("it is a bit-field that is not read here");
    Result.Number += First / 8;
    Result.BitOffset = unsigned(First % 8);
    Result.Bits = unsigned(Size);
  }
  return Result;
}

Resolver::Typed Resolver::member(TypedExpression Object, StringRef Name) {
  SmallVector<DWARFDie, 4> Path;
  if (!Object.isObject() || Object.Of->What != Type::Kind::Class ||
      !Types.findMember(Object.Of->Die, Name, Path))
    return notSimple(
        formatv("'{0}' has no member '{1}'", Object.Of->Name, Name).str());
  for (const DWARFDie &Step : Path) {
    Typed Inner = field(std::move(Object), Step);
    if (!Inner)
      return Inner;
    Object = std::move(*Inner);
  }
  return object(std::move(Object));
}

// ---- operations ----

Resolver::Typed Resolver::decayed(TypedExpression E) {
  if (E.Of->What == Type::Kind::Array) {
    const Type *Element = Types.target(E.Of);
    if (!E.isObject())
      return notSimple("the array has no place");
    return make(Kind::AddressOf, Types.pointerTo(Element), std::move(E));
  }
  if (!isArithmetic(E) && !isPointer(E) && !isFloat(E))
    return notSimple(
        formatv("values of type '{0}' are not computed with here", E.Of->Name)
            .str());
  return E;
}

Resolver::Typed Resolver::promoted(TypedExpression Given) {
  Typed E = decayed(std::move(Given));
  if (!E || isPointer(*E))
    return E;
  if (isFloat(*E)) {
    const unsigned Size = E->Of->Size;
    return converted(std::move(*E), Types.floating(Size));
  }
  const bool Narrow =
      E->Of->Size < 4 || (E->Bits && E->Bits < 32 && E->What == Kind::Field);
  const Type *To = Narrow ? Types.integer(4, true)
                          : Types.integer(E->Of->Size, E->Of->Signed);
  return converted(std::move(*E), To);
}

Resolver::Typed Resolver::unary(const Expression &E) {
  Typed A = resolve(E.Operands[0]);
  if (!A)
    return A;
  if (E.What == Operation::AddressOf) {
    if (!A->isObject() || A->Bits)
      return notSimple("it has no address");
    const Type *To = Types.pointerTo(A->Of);
    return make(Kind::AddressOf, To, std::move(*A));
  }
  Typed P = promoted(std::move(*A));
  if (!P)
    return P;
  if (E.What == Operation::Dereference)
    return indirect(std::move(*P));
  if (E.What == Operation::Not)
    return operation(Kind::Unary, E.What, Types.boolean(),
                     truth(std::move(*P)));
  if (isPointer(*P) || (isFloat(*P) && E.What == Operation::Complement))
    return notSimple("its type has no such operation");
  const Type *Of = P->Of;
  return operation(Kind::Unary, E.What, Of, std::move(*P));
}

Resolver::Typed Resolver::addition(Operation How, TypedExpression A,
                                   TypedExpression B) {
  if (How == Operation::Add && isPointer(B))
    std::swap(A, B);
  const Type *To = A.Target;
  if (!To || !To->Size)
    return notSimple("the size of what the pointer points to is not known");
  const uint64_t Size = To->Size;
  if (isPointer(B)) {
    if (How == Operation::Add || !B.Target || B.Target->Size != Size)
      return notSimple("these pointers cannot be computed with");
    Typed Result = operation(Kind::Distance, How, Types.integer(8, true),
                             std::move(A), std::move(B));
    Result->Number = Size;
    return Result;
  }
  const Type *Of = A.Of, *Index = Types.integer(8, B.Of->Signed);
  Typed Result = operation(Kind::Scaled, How, Of, std::move(A),
                           converted(std::move(B), Index));
  Result->Number = Size;
  Result->Target = To;
  return Result;
}

Resolver::Typed Resolver::arithmetic(Operation How, TypedExpression A,
                                     TypedExpression B) {
  if (isPointer(A) || isPointer(B)) {
    if (!isFloat(A) && !isFloat(B) &&
        (How == Operation::Add || (How == Operation::Subtract && isPointer(A))))
      return addition(How, std::move(A), std::move(B));
    return notSimple("a pointer has no such operation");
  }
  const bool Shift =
      How == Operation::ShiftLeft || How == Operation::ShiftRight;
  if ((isFloat(A) || isFloat(B)) && How != Operation::Add &&
      How != Operation::Subtract && How != Operation::Multiply &&
      How != Operation::Divide)
    return notSimple("a floating-point number has no such operation");
  const Type *Of = Shift ? A.Of : common(A.Of, B.Of);
  if (!Shift) {
    A = converted(std::move(A), Of);
    B = converted(std::move(B), Of);
  }
  return operation(Kind::Binary, How, Of, std::move(A), std::move(B));
}

Resolver::Typed Resolver::comparison(Operation How, TypedExpression A,
                                     TypedExpression B) {
  if ((isPointer(A) && isFloat(B)) || (isFloat(A) && isPointer(B)))
    return notSimple("a pointer is compared with a floating-point number");
  // A pointer is compared with a number as an address.
  const Type *Of = isPointer(A) || isPointer(B) ? Types.integer(8, false)
                                                : common(A.Of, B.Of);
  return operation(Kind::Binary, How, Types.boolean(),
                   converted(std::move(A), Of), converted(std::move(B), Of));
}

Resolver::Typed Resolver::binary(const Expression &E) {
  Typed Left = resolve(E.Operands[0]);
  if (!Left)
    return Left;
  Typed Right = resolve(E.Operands[1]);
  if (!Right)
    return Right;
  Typed A = promoted(std::move(*Left));
  if (!A)
    return A;
  Typed B = promoted(std::move(*Right));
  if (!B)
    return B;
  switch (E.What) {
  case Operation::Index: {
    if ((!isPointer(*A) && !isPointer(*B)) || isFloat(*A) || isFloat(*B))
      return notSimple("it is neither an array nor a pointer");
    Typed Sum = addition(Operation::Add, std::move(*A), std::move(*B));
    if (!Sum)
      return Sum;
    return indirect(std::move(*Sum));
  }
  case Operation::And:
  case Operation::Or:
    return operation(Kind::Binary, E.What, Types.boolean(),
                     truth(std::move(*A)), truth(std::move(*B)));
  case Operation::Less:
  case Operation::LessEqual:
  case Operation::Greater:
  case Operation::GreaterEqual:
  case Operation::Equal:
  case Operation::NotEqual:
    return comparison(E.What, std::move(*A), std::move(*B));
  default:
    return arithmetic(E.What, std::move(*A), std::move(*B));
  }
}

Resolver::Typed Resolver::conditional(const Expression &E) {
  std::vector<TypedExpression> Parts;
  for (const Expression &Each : E.Operands) {
    Typed Part = resolve(Each);
    if (!Part)
      return Part;
    Typed P = promoted(std::move(*Part));
    if (!P)
      return P;
    Parts.push_back(std::move(*P));
  }
  const bool Pointers = isPointer(Parts[1]) && isPointer(Parts[2]);
  if (isPointer(Parts[1]) != isPointer(Parts[2]))
    return notSimple("its alternatives have different types");
  const Type *Of = Pointers ? Parts[1].Of : common(Parts[1].Of, Parts[2].Of);
  TypedExpression Result =
      make(Kind::Conditional, Of, truth(std::move(Parts[0])));
  Result.Target = Parts[1].Target;
  for (unsigned I : {1u, 2u})
    Result.Operands.push_back(Pointers ? std::move(Parts[I])
                                       : converted(std::move(Parts[I]), Of));
  return Result;
}

Expected<TypedExpression> Resolver::resolve(const Expression &E) {
  switch (E.What) {
  case Operation::Number:
    return constant(E.Value, E.Size == 1 ? Types.boolean()
                                         : Types.integer(E.Size, !E.Unsigned));
  case Operation::Floating:
    return constant(E.Value, Types.floating(E.Size));
  case Operation::Name:
    return name(E);
  case Operation::Register:
    return registerNamed(E);
  case Operation::Member:
  case Operation::Arrow: {
    Typed Object = resolve(E.Operands[0]);
    if (!Object)
      return Object;
    if (E.What == Operation::Member)
      return member(std::move(*Object), E.Text);
    Typed Pointer = decayed(std::move(*Object));
    if (!Pointer)
      return Pointer;
    Typed Pointed = indirect(std::move(*Pointer));
    if (!Pointed)
      return Pointed;
    return member(std::move(*Pointed), E.Text);
  }
  case Operation::Dereference:
  case Operation::AddressOf:
  case Operation::Plus:
  case Operation::Negate:
  case Operation::Not:
  case Operation::Complement:
    return unary(E);
  case Operation::Conditional:
    return conditional(E);
  default:
    return binary(E);
  }
}

Expected<TypedExpression> resolve(const Expression &E, DebugInfo &Info,
                                  const query::Trace &T,
                                  const state::ModuleLoad &Module, uint64_t Pc,
                                  unsigned Inside) {
  const uint64_t Address = Pc - Module.Bias;
  Resolver R(Info.types(), &T, &Module, Address, Info.scope(Address, Inside));
  return R.resolve(E);
}

Expected<TypedExpression> resolve(const Expression &E, TypeTable &Types) {
  return Resolver(Types, nullptr, nullptr, 0, {}).resolve(E);
}

} // namespace chronicle::expressions
