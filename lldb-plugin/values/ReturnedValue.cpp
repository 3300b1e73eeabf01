// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/ReturnedValue.h"
#include "lldb-plugin/values/ValueText.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::values {

namespace {
/// What eight bytes of a value are, by which the ABI selects the register.
enum class EightBytes {
  Nothing, ///< padding
  Integer, ///< rax, then rdx
  Sse,     ///< xmm0, then xmm1
  SseUp,   ///< the next bytes of the vector register before
  X87,     ///< st(0), a number of 80 bits of which these are the first
  X87Up,   ///< the rest of it
};

/// How a value is returned that fits into registers.
class Classification {
public:
  void add(lldb::SBType Type, uint64_t Offset, unsigned Depth = 0);

  SmallVector<EightBytes, 4> Classes;
  bool Known = true;
  /// The program declares how an object is copied or destroyed. If it says more
  /// than "= default", which LLDB does not show, the object is returned in
  /// memory.
  bool DeclaresCopies = false;

private:
  void merge(uint64_t Offset, EightBytes Class);
  void addNumber(lldb::SBType Type, uint64_t Offset);
  void addComplex(uint64_t Size, uint64_t Offset);
  void addVector(uint64_t Size, uint64_t Offset);
  void addClass(lldb::SBType Type, uint64_t Offset, unsigned Depth);
};
} // namespace

void Classification::merge(uint64_t Offset, EightBytes Class) {
  const size_t I = Offset / 8;
  if (I >= 4) {
    Known = false;
    return;
  }
  if (Classes.size() <= I)
    Classes.resize(I + 1, EightBytes::Nothing);
  EightBytes &There = Classes[I];
  if (There == EightBytes::Nothing || There == Class)
    There = Class;
  else if (There == EightBytes::Integer || Class == EightBytes::Integer)
    There = EightBytes::Integer;
  else
    Known = false;
}

void Classification::addNumber(lldb::SBType Type, uint64_t Offset) {
  const uint64_t Size = Type.GetByteSize();
  switch (Type.GetBasicType()) {
  case lldb::eBasicTypeFloat:
  case lldb::eBasicTypeDouble:
    return merge(Offset, EightBytes::Sse);
  case lldb::eBasicTypeLongDouble:
    merge(Offset, EightBytes::X87);
    return merge(Offset + 8, EightBytes::X87Up);
  case lldb::eBasicTypeInt128:
  case lldb::eBasicTypeUnsignedInt128:
    merge(Offset, EightBytes::Integer);
    return merge(Offset + 8, EightBytes::Integer);
  case lldb::eBasicTypeOther:
  case lldb::eBasicTypeInvalid:
    Known = false;
    return;
  default:
    Known &= Size > 0 && Size <= 8;
    merge(Offset, EightBytes::Integer);
  }
}

/// Two numbers of floating point, or of the x87 stack if they are long.
void Classification::addComplex(uint64_t Size, uint64_t Offset) {
  for (uint64_t At : {uint64_t(0), Size / 2})
    if (Size == 32) {
      merge(Offset + At, EightBytes::X87);
      merge(Offset + At + 8, EightBytes::X87Up);
    } else {
      merge(Offset + At, EightBytes::Sse);
    }
  Known &= Size == 8 || Size == 16 || Size == 32;
}

/// One register of 8, 16 or 32 bytes.
void Classification::addVector(uint64_t Size, uint64_t Offset) {
  Known &= Size == 8 || Size == 16 || Size == 32;
  merge(Offset, EightBytes::Sse);
  for (uint64_t At = 8; Known && At < Size; At += 8)
    merge(Offset + At, EightBytes::SseUp);
}

/// Whether the function is a destructor, or a constructor that copies or moves.
static bool declaresCopy(lldb::SBTypeMemberFunction F, lldb::SBType Class) {
  if (F.GetKind() == lldb::eMemberFunctionKindDestructor)
    return true;
  if (F.GetKind() != lldb::eMemberFunctionKindConstructor ||
      F.GetNumberOfArguments() != 1)
    return false;
  lldb::SBType Argument = F.GetArgumentTypeAtIndex(0);
  if (!Argument.IsReferenceType())
    return false;
  lldb::SBType Copied = Argument.GetDereferencedType().GetUnqualifiedType();
  lldb::SBType Own = Class.GetUnqualifiedType();
  return Copied == Own;
}

void Classification::addClass(lldb::SBType Type, uint64_t Offset,
                              unsigned Depth) {
  DeclaresCopies |=
      Type.IsPolymorphicClass() || Type.GetNumberOfVirtualBaseClasses() > 0;
  for (uint32_t I = 0, N = Type.GetNumberOfMemberFunctions(); I < N; ++I)
    DeclaresCopies |= declaresCopy(Type.GetMemberFunctionAtIndex(I), Type);
  for (uint32_t I = 0, N = Type.GetNumberOfDirectBaseClasses(); I < N; ++I) {
    lldb::SBTypeMember Base = Type.GetDirectBaseClassAtIndex(I);
    add(Base.GetType(), Offset + Base.GetOffsetInBytes(), Depth + 1);
  }
  for (uint32_t I = 0, N = Type.GetNumberOfFields(); I < N; ++I) {
    lldb::SBTypeMember Field = Type.GetFieldAtIndex(I);
    const uint64_t At = Offset + Field.GetOffsetInBits() / 8;
    if (Field.IsBitfield())
      merge(At, EightBytes::Integer);
    else
      add(Field.GetType(), At, Depth + 1);
  }
}

void Classification::add(lldb::SBType Type, uint64_t Offset, unsigned Depth) {
  constexpr unsigned Deepest = 32;
  Type = Type.GetCanonicalType().GetUnqualifiedType();
  const uint64_t Size = Type.GetByteSize();
  if (!Type.IsValid() || !Size || Depth > Deepest) {
    Known = false;
    return;
  }
  switch (Type.GetTypeClass()) {
  case lldb::eTypeClassBuiltin:
    return addNumber(Type, Offset);
  case lldb::eTypeClassEnumeration:
  case lldb::eTypeClassPointer:
  case lldb::eTypeClassReference:
    return merge(Offset, EightBytes::Integer);
  case lldb::eTypeClassMemberPointer: // of a function, two words
    merge(Offset, EightBytes::Integer);
    return merge(Offset + Size - 8, EightBytes::Integer);
  case lldb::eTypeClassComplexFloat:
    return addComplex(Size, Offset);
  case lldb::eTypeClassVector:
    return addVector(Size, Offset);
  case lldb::eTypeClassStruct:
  case lldb::eTypeClassClass:
  case lldb::eTypeClassUnion:
    return addClass(Type, Offset, Depth);
  case lldb::eTypeClassArray: {
    lldb::SBType Element = Type.GetArrayElementType();
    const uint64_t Step = Element.GetByteSize();
    Known &= Step > 0;
    for (uint64_t At = 0; Known && At < Size; At += Step)
      add(Element, Offset + At, Depth + 1);
    return;
  }
  default:
    Known = false;
  }
}

/// A number of the x87 stack, as 80 bits.
static std::array<uint8_t, 16> onStack(const answers::Registers &R,
                                       unsigned Index) {
  const uint64_t Top = (R.word(CH_OFFSET_FTOP) + Index) & 7;
  APFloat Number(APFloat::IEEEdouble(),
                 APInt(64, R.word(unsigned(CH_OFFSET_FPREG + Top * 8))));
  bool Inexact = false;
  Number.convert(APFloat::x87DoubleExtended(), APFloat::rmNearestTiesToEven,
                 &Inexact);
  APInt Wide = Number.bitcastToAPInt().zext(128);
  std::array<uint8_t, 16> Bytes;
  for (unsigned I = 0; I < Bytes.size(); ++I)
    Bytes[I] = uint8_t(Wide.extractBitsAsZExtValue(8, I * 8));
  return Bytes;
}

/// The value's bytes, put together from registers.
static std::vector<uint8_t> bytesIn(const answers::Registers &R,
                                    ArrayRef<EightBytes> Classes,
                                    uint64_t Size) {
  std::vector<uint8_t> Result;
  size_t VectorAt = 0; // where the last vector register begins
  unsigned Integers = 0, Vectors = 0, Numbers = 0;
  for (EightBytes Class : Classes)
    switch (Class) {
    case EightBytes::Nothing:
      Result.resize(Result.size() + 8);
      break;
    case EightBytes::Integer:
      append_range(Result, ArrayRef(R.State).slice(
                               Integers++ ? CH_OFFSET_RDX : CH_OFFSET_RAX, 8));
      break;
    case EightBytes::Sse:
      VectorAt = Result.size();
      append_range(Result, R.ymm(Vectors++).take_front(8));
      break;
    case EightBytes::SseUp:
      append_range(Result,
                   R.ymm(Vectors - 1).slice(Result.size() - VectorAt, 8));
      break;
    case EightBytes::X87:
      append_range(Result, onStack(R, Numbers++));
      break;
    case EightBytes::X87Up: // came with the bytes before
      break;
    }
  Result.resize(Size);
  return Result;
}

/// Whether the value is in memory; nothing: it is not known.
static std::optional<bool> isInMemory(const Classification &C,
                                      lldb::SBType Type,
                                      std::optional<bool> ByReference,
                                      bool GotAddress) {
  constexpr uint32_t Classes =
      lldb::eTypeClassClass | lldb::eTypeClassStruct | lldb::eTypeClassUnion;
  const bool IsClass = Type.GetTypeClass() & Classes;
  if (IsClass && ByReference == true)
    return GotAddress ? std::optional(true) : std::nullopt;
  const bool IsWideVector =
      C.Known && C.Classes.size() == 4 && C.Classes[1] == EightBytes::SseUp &&
      C.Classes[2] == EightBytes::SseUp && C.Classes[3] == EightBytes::SseUp;
  if (IsWideVector) // in memory if the compiler may not use such registers
    return GotAddress ? std::nullopt : std::optional(false);
  if (IsClass && Type.GetByteSize() > 16)
    return true;
  if (!C.Known)
    return std::nullopt;
  if (IsClass && C.DeclaresCopies && ByReference != false && GotAddress)
    return std::nullopt;
  return false;
}

Expected<std::string> returnedValue(const query::Trace &T, target::Scout &There,
                                    lldb::SBType Type,
                                    std::optional<bool> ByReference,
                                    uint32_t Thread, Timestamp Entry,
                                    Timestamp Return) {
  lldb::SBType Real = Type.GetCanonicalType().GetUnqualifiedType();
  const uint64_t Size = Real.GetByteSize();
  if (!Size || Real.GetBasicType() == lldb::eBasicTypeVoid)
    return "";
  Classification C;
  C.add(Real, 0);
  Expected<answers::Registers> Before = T.registers(Thread, Entry);
  if (!Before)
    return Before.takeError();
  Expected<answers::Registers> R = T.registers(Thread, Return);
  if (!R)
    return R.takeError();
  // For a value in memory the caller passes the address first and gets it back.
  const uint64_t Rax = R->word(CH_OFFSET_RAX);
  const std::optional<bool> InMemory =
      isInMemory(C, Real, ByReference, Before->word(CH_OFFSET_RDI) == Rax);
  if (!InMemory)
    return "";
  // What is not a number may be shown with what it points to.
  if (*InMemory || !isPlain(Real))
    if (Error E = There.go(Return, Thread))
      return E;
  lldb::SBTarget Target = There.target();
  if (!*InMemory)
    return valueText(valueOf(Target, bytesIn(*R, C.Classes, Size), Type));
  lldb::SBAddress Place(Rax, Target);
  return valueText(Target.CreateValueFromAddress("value", Place, Type));
}

} // namespace chronicle::values
