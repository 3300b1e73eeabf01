// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/EvaluationError.h"
#include "query/expressions/TypedExpression.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::expressions {

using Kind = TypedExpression::Kind;

char EvaluationError::ID = 0;

void EvaluationError::log(raw_ostream &Out) const { Out << Why; }

Error notSimple(const Twine &Why) {
  return make_error<EvaluationError>(EvaluationError::Kind::NotSimple,
                                     Why.str());
}

Error noValue(const Twine &Why) {
  return make_error<EvaluationError>(EvaluationError::Kind::NoValue, Why.str());
}

/// The value that a type of so many bits has.
static uint64_t extended(uint64_t Bits, unsigned Width, bool Signed) {
  if (Width >= 64)
    return Bits;
  const unsigned Unused = 64 - Width;
  return Signed ? uint64_t(int64_t(Bits << Unused) >> Unused)
                : Bits << Unused >> Unused;
}

static uint64_t floatBits(double Number, const Type &Of) {
  return Of.Size == sizeof(float) ? bit_cast<uint32_t>(float(Number))
                                  : bit_cast<uint64_t>(Number);
}

static bool isFloat(const Type &Of) { return Of.What == Type::Kind::Float; }

static uint64_t extended(uint64_t Bits, const Type &Of) {
  return extended(Bits, Of.Size * 8, Of.Signed);
}

static Expected<Place> placeOf(const TypedExpression &E, StateReader &State) {
  switch (E.What) {
  case Kind::Variable:
    return E.Where.evaluate(State);
  case Kind::Indirect: {
    Expected<Value> Pointer = evaluate(E.Operands[0], State);
    if (!Pointer)
      return Pointer.takeError();
    Place Result;
    Result.Address = Pointer->Bits;
    return Result;
  }
  case Kind::Field: {
    Expected<Place> Object = placeOf(E.Operands[0], State);
    if (!Object)
      return Object;
    if (Object->Address) {
      *Object->Address += E.Number;
      return Object;
    }
    if (E.Number > Object->Bytes.size())
      return notSimple("its object is only in part in a register");
    Object->Bytes.erase(Object->Bytes.begin(),
                        Object->Bytes.begin() + ptrdiff_t(E.Number));
    return Object;
  }
  default:
    return notSimple("it has no place");
  }
}

/// Reads an object of up to 8 bytes.
static Expected<Value> load(const TypedExpression &E, StateReader &State) {
  const unsigned Size = E.Bits ? (E.BitOffset + E.Bits + 7) / 8 : E.Of->Size;
  if (!E.Of->isWhole() && E.Of->What != Type::Kind::Pointer &&
      E.Of->What != Type::Kind::Float)
    return notSimple(
        formatv("values of type '{0}' are not read here", E.Of->Name).str());
  Expected<Place> Where = placeOf(E, State);
  if (!Where)
    return Where.takeError();
  uint8_t Bytes[sizeof(uint64_t)] = {};
  if (Where->Address) {
    Expected<bool> Mapped =
        State.read(*Where->Address, MutableArrayRef<uint8_t>(Bytes, Size));
    if (!Mapped)
      return Mapped.takeError();
    if (!*Mapped)
      return noValue(formatv("{0:x} is not mapped", *Where->Address).str());
  } else {
    if (Where->Bytes.size() < Size)
      return notSimple("it is only in part in a register");
    std::memcpy(Bytes, Where->Bytes.data(), Size);
  }
  Value Result;
  Result.Of = E.Of;
  Result.Target = E.Target;
  const uint64_t Raw = support::endian::read64le(Bytes);
  Result.Bits = E.Bits ? extended(Raw >> E.BitOffset, E.Bits, E.Of->Signed)
                       : extended(Raw, *E.Of);
  return Result;
}

/// A float is computed with as a double: rounded once more, the result of one
/// operation is the same.
static uint64_t floating(Operation How, const Type &Of, double A, double B) {
  switch (How) {
  case Operation::Add:
    return floatBits(A + B, Of);
  case Operation::Subtract:
    return floatBits(A - B, Of);
  case Operation::Multiply:
    return floatBits(A * B, Of);
  case Operation::Divide:
    return floatBits(A / B, Of);
  default:
    llvm_unreachable("the resolver makes no other operation");
  }
}

static bool compare(Operation How, double A, double B) {
  switch (How) {
  case Operation::Less:
    return A < B;
  case Operation::LessEqual:
    return A <= B;
  case Operation::Greater:
    return A > B;
  case Operation::GreaterEqual:
    return A >= B;
  case Operation::Equal:
    return A == B;
  case Operation::NotEqual:
    return A != B;
  default:
    llvm_unreachable("it is no comparison");
  }
}

/// Both operands and the result have one type, of 4 or 8 bytes.
static Expected<uint64_t> arithmetic(Operation How, const Type &Of, uint64_t A,
                                     uint64_t B) {
  const int64_t SignedA = int64_t(A), SignedB = int64_t(B);
  switch (How) {
  case Operation::Add:
    return A + B;
  case Operation::Subtract:
    return A - B;
  case Operation::Multiply:
    return A * B;
  case Operation::Divide:
  case Operation::Remainder: {
    const bool Divide = How == Operation::Divide;
    if (!B)
      return noValue("division by zero");
    if (!Of.Signed)
      return Divide ? A / B : A % B;
    if (SignedB == -1)
      return Divide ? -A : 0;
    return uint64_t(Divide ? SignedA / SignedB : SignedA % SignedB);
  }
  case Operation::ShiftLeft:
  case Operation::ShiftRight:
    if (B >= Of.Size * 8)
      return noValue(formatv("shift by {0} bits", int64_t(B)).str());
    if (How == Operation::ShiftLeft)
      return A << B;
    return Of.Signed ? uint64_t(SignedA >> B) : A >> B;
  case Operation::BitAnd:
    return A & B;
  case Operation::BitOr:
    return A | B;
  case Operation::BitXor:
    return A ^ B;
  default:
    llvm_unreachable("the resolver makes no other operation");
  }
}

static bool compare(Operation How, bool Signed, uint64_t A, uint64_t B) {
  const bool Less = Signed ? int64_t(A) < int64_t(B) : A < B;
  switch (How) {
  case Operation::Less:
    return Less;
  case Operation::LessEqual:
    return Less || A == B;
  case Operation::Greater:
    return !Less && A != B;
  case Operation::GreaterEqual:
    return !Less;
  case Operation::Equal:
    return A == B;
  case Operation::NotEqual:
    return A != B;
  default:
    llvm_unreachable("it is no comparison");
  }
}

static bool isComparison(Operation How) {
  return How >= Operation::Less && How <= Operation::NotEqual;
}

static Expected<uint64_t> binary(const TypedExpression &E, StateReader &State) {
  Expected<Value> A = evaluate(E.Operands[0], State);
  if (!A)
    return A.takeError();
  const bool Logic = E.How == Operation::And || E.How == Operation::Or;
  if (Logic && (A->Bits != 0) == (E.How == Operation::Or))
    return E.How == Operation::Or;
  Expected<Value> B = evaluate(E.Operands[1], State);
  if (!B)
    return B.takeError();
  if (Logic)
    return B->Bits != 0;
  if (E.What == Kind::Scaled) {
    const uint64_t Distance = B->Bits * E.Number;
    return E.How == Operation::Subtract ? A->Bits - Distance
                                        : A->Bits + Distance;
  }
  if (E.What == Kind::Distance)
    return uint64_t(int64_t(A->Bits - B->Bits) / int64_t(E.Number));
  if (isFloat(*A->Of))
    return isComparison(E.How)
               ? uint64_t(compare(E.How, A->number(), B->number()))
               : floating(E.How, *E.Of, A->number(), B->number());
  if (isComparison(E.How))
    return compare(E.How, A->Of->Signed, A->Bits, B->Bits);
  return arithmetic(E.How, *E.Of, A->Bits, B->Bits);
}

static Expected<uint64_t> unary(const TypedExpression &E, StateReader &State) {
  Expected<Value> A = evaluate(E.Operands[0], State);
  if (!A)
    return A.takeError();
  if (isFloat(*E.Of))
    return E.How == Operation::Negate ? floatBits(-A->number(), *E.Of)
                                      : A->Bits;
  switch (E.How) {
  case Operation::Negate:
    return -A->Bits;
  case Operation::Not:
    return A->Bits == 0;
  case Operation::Complement:
    return ~A->Bits;
  default:
    return A->Bits;
  }
}

static Expected<uint64_t> addressOf(const TypedExpression &E,
                                    StateReader &State) {
  Expected<Place> Where = placeOf(E.Operands[0], State);
  if (!Where)
    return Where.takeError();
  if (!Where->Address)
    return notSimple("it has no address");
  return *Where->Address;
}

static uint64_t converted(const Value &From, const Type &To) {
  if (To.What == Type::Kind::Boolean)
    return From.isTrue();
  if (!isFloat(To))
    return From.Bits; // the resolver never makes a whole number of a float
  if (isFloat(*From.Of))
    return floatBits(From.number(), To);
  if (To.Size == sizeof(float))
    return bit_cast<uint32_t>(From.Of->Signed ? float(int64_t(From.Bits))
                                              : float(From.Bits));
  return floatBits(
      From.Of->Signed ? double(int64_t(From.Bits)) : double(From.Bits), To);
}

/// What the call returns, in the register that the ABI returns it in.
static Expected<uint64_t> resultOf(const TypedExpression &E,
                                   StateReader &State) {
  if (!State.returned())
    return noValue("the call does not return");
  Expected<answers::Registers> R =
      State.trace().registers(State.thread(), *State.returned());
  if (!R)
    return R.takeError();
  if (isFloat(*E.Of))
    return support::endian::read64le(R->ymm(0).data());
  return R->word(CH_OFFSET_RAX);
}

static Expected<uint64_t> bitsOf(const TypedExpression &E, StateReader &State) {
  switch (E.What) {
  case Kind::Constant:
    return E.Number;
  case Kind::Register: {
    uint64_t Raw = 0;
    std::memcpy(&Raw, State.registers().State.data() + E.Number, E.Bits / 8);
    return Raw;
  }
  case Kind::Result:
    return resultOf(E, State);
  case Kind::AddressOf:
    return addressOf(E, State);
  case Kind::Convert: {
    Expected<Value> A = evaluate(E.Operands[0], State);
    if (!A)
      return A.takeError();
    return converted(*A, *E.Of);
  }
  case Kind::Unary:
    return unary(E, State);
  case Kind::Binary:
  case Kind::Scaled:
  case Kind::Distance:
    return binary(E, State);
  case Kind::Conditional: {
    Expected<Value> Condition = evaluate(E.Operands[0], State);
    if (!Condition)
      return Condition.takeError();
    Expected<Value> Chosen =
        evaluate(E.Operands[Condition->Bits ? 1 : 2], State);
    if (!Chosen)
      return Chosen.takeError();
    return Chosen->Bits;
  }
  default:
    llvm_unreachable("it is an object");
  }
}

Expected<Value> evaluate(const TypedExpression &E, StateReader &State) {
  if (E.isObject())
    return load(E, State);
  Expected<uint64_t> Bits = bitsOf(E, State);
  if (!Bits)
    return Bits.takeError();
  Value Result;
  Result.Of = E.Of;
  Result.Target = E.Target;
  Result.Bits = extended(*Bits, *E.Of);
  return Result;
}

} // namespace chronicle::expressions
