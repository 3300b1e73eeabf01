// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/Location.h"
#include "query/expressions/EvaluationError.h"
#include "query/registers/RegisterNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/DebugInfo/DWARF/DWARFUnit.h"
#include "llvm/DebugInfo/DWARF/LowLevel/DWARFExpression.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace chronicle::expressions {

static constexpr const char *NotAvailable = "variable not available";

static DWARFExpression decoded(ArrayRef<uint8_t> Bytes) {
  return {DataExtractor(Bytes, /*IsLittleEndian=*/true, 8), 8};
}

static void appendAddress(uint64_t Address, std::vector<uint8_t> &To) {
  To.push_back(dwarf::DW_OP_addr);
  To.resize(To.size() + sizeof(Address));
  support::endian::write64le(To.data() + To.size() - sizeof(Address), Address);
}

/// The same operations, with addresses of the program, and without indexes into
/// tables of debug info.
static Expected<std::vector<uint8_t>> resolved(ArrayRef<uint8_t> Bytes,
                                               DWARFUnit &Unit, uint64_t Bias) {
  std::vector<uint8_t> Result;
  size_t Start = 0;
  DWARFExpression Expression = decoded(Bytes);
  for (auto It = Expression.begin(); It != Expression.end();) {
    if (It->isError())
      return notSimple("its location cannot be decoded");
    const size_t End = It->getEndOffset();
    const uint8_t Code = It->getCode();
    if (Code == dwarf::DW_OP_addr || Code == dwarf::DW_OP_addrx ||
        Code == dwarf::DW_OP_GNU_addr_index) {
      uint64_t Address = It->getRawOperand(0);
      if (Code != dwarf::DW_OP_addr) {
        std::optional<object::SectionedAddress> Entry =
            Unit.getAddrOffsetSectionItem(uint32_t(Address));
        if (!Entry)
          return notSimple("its location names an address that is missing");
        Address = Entry->Address;
      }
      appendAddress(Address + Bias, Result);
    } else if (Code == dwarf::DW_OP_entry_value ||
               Code == dwarf::DW_OP_GNU_entry_value) {
      // The operand is a register, which has no address.
      const uint64_t Length = It->getRawOperand(0);
      if (Length > Bytes.size() - End)
        return notSimple("its location cannot be decoded");
      append_range(Result, Bytes.slice(Start, End + Length - Start));
      Start = End + Length;
      It = It.skipBytes(Length);
      continue;
    } else {
      append_range(Result, Bytes.slice(Start, End - Start));
    }
    Start = End;
    ++It;
  }
  return Result;
}

static Expected<std::vector<uint8_t>>
frameBaseOf(const DWARFDie &Function, uint64_t Address, uint64_t Bias) {
  Expected<DWARFLocationExpressionsVector> List =
      Function.getLocations(dwarf::DW_AT_frame_base);
  if (!List) {
    consumeError(List.takeError()); // it has none
    return std::vector<uint8_t>();
  }
  for (const DWARFLocationExpression &Each : *List)
    if (!Each.Range ||
        (Each.Range->LowPC <= Address && Address < Each.Range->HighPC))
      return resolved(Each.Expr, *Function.getDwarfUnit(), Bias);
  return std::vector<uint8_t>();
}

Location Location::atAddress(uint64_t Address) {
  Location Result;
  appendAddress(Address, Result.Operations);
  return Result;
}

Expected<Location> Location::of(const DWARFDie &Variable,
                                const DWARFDie &Function, uint64_t Address,
                                const state::ModuleLoad &Module) {
  Location Result;
  Result.Module = &Module;
  if (!Variable.find(dwarf::DW_AT_location))
    return noValue(NotAvailable);
  Expected<DWARFLocationExpressionsVector> List =
      Variable.getLocations(dwarf::DW_AT_location);
  if (!List)
    return notSimple(toString(List.takeError()));
  for (const DWARFLocationExpression &Each : *List) {
    if (Each.Range &&
        (Address < Each.Range->LowPC || Address >= Each.Range->HighPC))
      continue;
    if (Each.Expr.empty())
      return noValue(NotAvailable);
    if (Error E = resolved(Each.Expr, *Variable.getDwarfUnit(), Module.Bias)
                      .moveInto(Result.Operations))
      return E;
    if (Function)
      if (Error E = frameBaseOf(Function, Address, Module.Bias)
                        .moveInto(Result.FrameBase))
        return E;
    return Result;
  }
  return noValue(NotAvailable);
}

namespace {
/// DWARF's stack machine.
class Machine {
public:
  Machine(StateReader &State, ArrayRef<uint8_t> FrameBase,
          const state::ModuleLoad *Module)
      : State(State), FrameBase(FrameBase), Module(Module) {}

  Expected<Place> run(ArrayRef<uint8_t> Operations) {
    DWARFExpression Expression = decoded(Operations);
    for (auto It = Expression.begin(); It != Expression.end();) {
      const DWARFExpression::Operation &Op = *It;
      const size_t End = Op.getEndOffset();
      const bool IsLast = End == Operations.size();
      const uint8_t Code = Op.getCode();
      if (Op.isError())
        return notSimple("its location cannot be decoded");
      if (Code == dwarf::DW_OP_entry_value ||
          Code == dwarf::DW_OP_GNU_entry_value) {
        const uint64_t Length = Op.getRawOperand(0);
        if (Length > Operations.size() - End)
          return notSimple("its location cannot be decoded");
        if (Error E = pushEntryValue(Operations.slice(End, Length)))
          return E;
        It = It.skipBytes(Length);
        continue;
      }
      if (std::optional<uint64_t> Register = registerOf(Op))
        return IsLast ? inRegister(*Register)
                      : Expected<Place>(notSimple("it is in several places"));
      if (Code == dwarf::DW_OP_implicit_value)
        return IsLast ? implicit(Operations, Op)
                      : Expected<Place>(notSimple("it is in several places"));
      if (Code == dwarf::DW_OP_stack_value) {
        if (!IsLast || Stack.empty())
          return notSimple("it is in several places");
        Place Result;
        Result.Bytes.resize(sizeof(uint64_t));
        support::endian::write64le(Result.Bytes.data(), Stack.back());
        return Result;
      }
      if (Error E = execute(Op))
        return E;
      ++It;
    }
    if (Stack.empty())
      return noValue(NotAvailable);
    Place Result;
    Result.Address = Stack.back();
    return Result;
  }

private:
  static std::optional<uint64_t>
  registerOf(const DWARFExpression::Operation &Op) {
    const uint8_t Code = Op.getCode();
    if (Code >= dwarf::DW_OP_reg0 && Code <= dwarf::DW_OP_reg31)
      return Code - dwarf::DW_OP_reg0;
    if (Code == dwarf::DW_OP_regx)
      return Op.getRawOperand(0);
    return std::nullopt;
  }

  Expected<Place> inRegister(uint64_t Number) {
    std::optional<registers::Register> R = registers::registerNumbered(Number);
    if (!R)
      return notSimple("it is in a register that is not read here");
    Place Result;
    append_range(Result.Bytes, R->valueIn(State.registers()));
    return Result;
  }

  static Expected<Place> implicit(ArrayRef<uint8_t> Operations,
                                  const DWARFExpression::Operation &Op) {
    const uint64_t Length = Op.getRawOperand(0);
    if (Length > Operations.size())
      return notSimple("its location cannot be decoded");
    Place Result;
    append_range(Result.Bytes, Operations.take_back(Length));
    return Result;
  }

  Expected<uint64_t> registerValue(uint64_t Number,
                                   const answers::Registers &In) {
    std::optional<registers::Register> R = registers::registerNumbered(Number);
    if (!R)
      return notSimple("its location needs a register that is not read here");
    std::vector<uint8_t> Bytes = R->valueIn(In);
    Bytes.resize(sizeof(uint64_t));
    return support::endian::read64le(Bytes.data());
  }

  Error pushEntryValue(ArrayRef<uint8_t> Operand) {
    DWARFExpression Expression = decoded(Operand);
    auto It = Expression.begin();
    std::optional<uint64_t> Number;
    if (It != Expression.end() && !It->isError() &&
        It->getEndOffset() == Operand.size())
      Number = registerOf(*It);
    if (!Number)
      return notSimple("its location needs more than a register at the entry");
    Expected<std::optional<answers::Registers>> Entry =
        State.registersAtEntry();
    if (!Entry)
      return Entry.takeError();
    if (!*Entry)
      return notSimple("the entry of its function is not known");
    Expected<uint64_t> Value = registerValue(*Number, **Entry);
    if (!Value)
      return Value.takeError();
    Stack.push_back(*Value);
    return Error::success();
  }

  Error pushFrameBase(int64_t Offset) {
    if (FrameBase.empty())
      return notSimple("its function has no frame base");
    Expected<Place> Base = Machine(State, {}, Module).run(FrameBase);
    if (!Base)
      return Base.takeError();
    uint64_t Address;
    if (Base->Address)
      Address = *Base->Address;
    else if (Base->Bytes.size() >= sizeof(uint64_t))
      Address = support::endian::read64le(Base->Bytes.data());
    else
      return notSimple("its function has no frame base");
    Stack.push_back(Address + uint64_t(Offset));
    return Error::success();
  }

  Error load(unsigned Size) {
    uint8_t Bytes[sizeof(uint64_t)] = {};
    if (Stack.empty() || Size > sizeof(Bytes))
      return notSimple("its location cannot be evaluated");
    Expected<bool> Mapped =
        State.read(Stack.back(), MutableArrayRef<uint8_t>(Bytes, Size));
    if (!Mapped)
      return Mapped.takeError();
    if (!*Mapped)
      return noValue(NotAvailable);
    Stack.back() = support::endian::read64le(Bytes);
    return Error::success();
  }

  Error threadLocal() {
    if (Stack.empty() || !Module)
      return notSimple("its location cannot be evaluated");
    symbols::SymbolAt Variable;
    Variable.Module = Module;
    Variable.Address = Stack.back();
    Variable.ThreadLocal = true;
    Expected<uint64_t> Address = State.trace().threadLocalAddress(
        Variable, State.thread(), State.time());
    if (!Address)
      return noValue(toString(Address.takeError()));
    Stack.back() = *Address;
    return Error::success();
  }

  Error execute(const DWARFExpression::Operation &Op) {
    const uint8_t Code = Op.getCode();
    const uint64_t A = Op.getNumOperands() > 0 ? Op.getRawOperand(0) : 0;
    if (Code >= dwarf::DW_OP_lit0 && Code <= dwarf::DW_OP_lit31) {
      Stack.push_back(Code - dwarf::DW_OP_lit0);
      return Error::success();
    }
    const bool Wide = Code == dwarf::DW_OP_bregx;
    if (Wide || (Code >= dwarf::DW_OP_breg0 && Code <= dwarf::DW_OP_breg31)) {
      Expected<uint64_t> Value = registerValue(
          Wide ? A : Code - dwarf::DW_OP_breg0, State.registers());
      if (!Value)
        return Value.takeError();
      Stack.push_back(*Value + (Wide ? Op.getRawOperand(1) : A));
      return Error::success();
    }
    switch (Code) {
    case dwarf::DW_OP_addr:
    case dwarf::DW_OP_const1u:
    case dwarf::DW_OP_const1s:
    case dwarf::DW_OP_const2u:
    case dwarf::DW_OP_const2s:
    case dwarf::DW_OP_const4u:
    case dwarf::DW_OP_const4s:
    case dwarf::DW_OP_const8u:
    case dwarf::DW_OP_const8s:
    case dwarf::DW_OP_constu:
    case dwarf::DW_OP_consts:
      Stack.push_back(A);
      return Error::success();
    case dwarf::DW_OP_fbreg:
      return pushFrameBase(int64_t(A));
    case dwarf::DW_OP_call_frame_cfa: {
      Expected<uint64_t> Frame = State.frameAddress();
      if (!Frame)
        return Frame.takeError();
      Stack.push_back(*Frame);
      return Error::success();
    }
    case dwarf::DW_OP_deref:
      return load(sizeof(uint64_t));
    case dwarf::DW_OP_deref_size:
      return load(unsigned(A));
    case dwarf::DW_OP_form_tls_address:
    case dwarf::DW_OP_GNU_push_tls_address:
      return threadLocal();
    case dwarf::DW_OP_nop:
      return Error::success();
    default:
      return calculate(Code, A);
    }
  }

  Error calculate(uint8_t Code, uint64_t A) {
    if (Stack.empty())
      return notSimple("its location cannot be evaluated");
    uint64_t &Top = Stack.back();
    const uint64_t Copy = Top; // pushing may move what Top refers to
    switch (Code) {
    case dwarf::DW_OP_dup:
      Stack.push_back(Copy);
      return Error::success();
    case dwarf::DW_OP_drop:
      Stack.pop_back();
      return Error::success();
    case dwarf::DW_OP_plus_uconst:
      Top += A;
      return Error::success();
    case dwarf::DW_OP_neg:
      Top = -Top;
      return Error::success();
    case dwarf::DW_OP_not:
      Top = ~Top;
      return Error::success();
    default:
      break;
    }
    return combine(Code);
  }

  /// An operation on the two values on top.
  Error combine(uint8_t Code) {
    if (Stack.size() < 2)
      return notSimple("its location cannot be evaluated");
    const uint64_t R = Stack.pop_back_val();
    uint64_t &L = Stack.back();
    const int64_t SignedL = int64_t(L), SignedR = int64_t(R);
    switch (Code) {
    case dwarf::DW_OP_plus:
      L += R;
      break;
    case dwarf::DW_OP_minus:
      L -= R;
      break;
    case dwarf::DW_OP_mul:
      L *= R;
      break;
    case dwarf::DW_OP_and:
      L &= R;
      break;
    case dwarf::DW_OP_or:
      L |= R;
      break;
    case dwarf::DW_OP_xor:
      L ^= R;
      break;
    case dwarf::DW_OP_shl:
      L = R < 64 ? L << R : 0;
      break;
    case dwarf::DW_OP_shr:
      L = R < 64 ? L >> R : 0;
      break;
    case dwarf::DW_OP_shra:
      L = uint64_t(SignedL >> std::min<uint64_t>(R, 63));
      break;
    case dwarf::DW_OP_eq:
      L = L == R;
      break;
    case dwarf::DW_OP_ne:
      L = L != R;
      break;
    case dwarf::DW_OP_lt:
      L = SignedL < SignedR;
      break;
    case dwarf::DW_OP_le:
      L = SignedL <= SignedR;
      break;
    case dwarf::DW_OP_gt:
      L = SignedL > SignedR;
      break;
    case dwarf::DW_OP_ge:
      L = SignedL >= SignedR;
      break;
    default:
      return notSimple("its location has " +
                       dwarf::OperationEncodingString(Code) +
                       ", which is not evaluated here");
    }
    return Error::success();
  }

  StateReader &State;
  ArrayRef<uint8_t> FrameBase;
  const state::ModuleLoad *Module;
  SmallVector<uint64_t, 8> Stack;
};
} // namespace

Expected<Place> Location::evaluate(StateReader &State) const {
  return Machine(State, FrameBase, Module).run(Operations);
}

} // namespace chronicle::expressions
