// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Writes definitions of superblocks, for tests.

#ifndef CHRONICLE_TEST_SUPPORT_PROGRAMWRITER_H
#define CHRONICLE_TEST_SUPPORT_PROGRAMWRITER_H

#include "trace-format/Bytecode.h"
#include "trace-format/Bytes.h"
#include "trace-format/Stream.h"
#include "trace-format/bytecode/BytecodeReader.h"
#include <cassert>
#include <initializer_list>
#include <vector>

namespace chronicle {

/// Writes a definition, statement by statement, and counts its temps and slots
/// as the recorder does.
class ProgramWriter {
public:
  /// A temp or a constant.
  struct Value {
    ch_type Type = CH_I64;
    bool IsTemp = false;
    uint64_t Number = 0;
  };
  static Value constant(ch_type Type, uint64_t Number) {
    return {Type, false, Number};
  }

  /// Flags are those of ch_def_flag.
  explicit ProgramWriter(uint64_t Address, uint32_t Flags = 0)
      : Address(Address), Flags(Flags) {}

  void instruction(unsigned Length) {
    ++Instructions;
    Body.v(CH_OP_INSTRUCTION);
    Body.v(Length);
  }
  Value get(ch_type Type, uint32_t Offset) {
    start(CH_OP_GET, Type);
    Body.v(Offset);
    return define(Type);
  }
  void put(uint32_t Offset, Value V) {
    start(CH_OP_PUT, V.Type);
    Body.v(Offset);
    atom(V);
  }
  Value getIndexed(ch_type Type, uint32_t Base, uint32_t Elements, int32_t Bias,
                   Value Index) {
    start(CH_OP_GET_INDEXED, Type);
    array(Base, Elements, Bias);
    atom(Index);
    return define(Type);
  }
  void putIndexed(uint32_t Base, uint32_t Elements, int32_t Bias, Value Index,
                  Value V) {
    start(CH_OP_PUT_INDEXED, V.Type);
    array(Base, Elements, Bias);
    atom(Index);
    atom(V);
  }
  Value load(ch_type Type, Value At) {
    start(CH_OP_LOAD, Type);
    atom(At);
    if (Flags & CH_DEF_LOGS_LOADS)
      Slots += CH_ACCESS_SLOTS(bytecode::typeSize(Type));
    return define(Type);
  }
  void store(Value At, Value V) {
    start(CH_OP_STORE, V.Type);
    atom(At);
    atom(V);
    addStoreSlots(bytecode::typeSize(V.Type));
  }
  void storeGuarded(Value Guard, Value At, Value V) {
    start(CH_OP_STORE_GUARDED, V.Type);
    atom(Guard);
    atom(At);
    atom(V);
    addStoreSlots(bytecode::typeSize(V.Type));
  }
  Value loadGuarded(uint8_t Conversion, Value Guard, Value At, Value Other) {
    Body.v(CH_OP_LOAD_GUARDED);
    Body.u8(Conversion);
    atom(Guard);
    atom(At);
    atom(Other);
    return define(bytecode::conversionResult(Conversion));
  }
  /// High is empty, or the high halves of expected value and data. Returns the
  /// old low half; the old high half is the next temp.
  Value cas(ch_type Type, Value At, Value Expected, Value Data,
            const std::vector<Value> &High = {}) {
    start(CH_OP_CAS, Type);
    Body.u8(!High.empty());
    atom(At);
    atom(Expected);
    atom(Data);
    for (Value V : High)
      atom(V);
    addStoreSlots(bytecode::typeSize(Type) * (High.empty() ? 1 : 2));
    Value Old = define(Type);
    if (!High.empty())
      define(Type);
    return Old;
  }
  Value ite(Value Condition, Value Then, Value Else) {
    start(CH_OP_ITE, Then.Type);
    atom(Condition);
    atom(Then);
    atom(Else);
    return define(Then.Type);
  }
  Value call(uint32_t Helper, const std::vector<Value> &Arguments) {
    start(CH_OP_CALL, CH_I64);
    Body.v(Helper);
    Body.v(Arguments.size());
    for (Value V : Arguments)
      atom(V);
    return define(CH_I64);
  }
  Value opaque(ch_type Type, uint32_t Reason = CH_REASON_OTHER) {
    start(CH_OP_OPAQUE, Type);
    Body.v(Reason);
    Slots += CH_VALUE_SLOTS(bytecode::typeSize(Type));
    return define(Type);
  }
  void opaqueRegisters(uint32_t Offset, uint32_t Size) {
    Body.v(CH_OP_OPAQUE_REGISTERS);
    Body.v(Offset);
    Body.v(Size);
    Body.v(CH_REASON_HELPER);
    Slots += CH_VALUE_SLOTS(Size);
  }
  void opaqueMemory(Value Guard, Value At, uint32_t Size) {
    Body.v(CH_OP_OPAQUE_MEMORY);
    atom(Guard);
    atom(At);
    Body.v(Size);
    Body.v(CH_REASON_HELPER);
    Slots += 1 + CH_VALUE_SLOTS(Size);
  }
  void stackPointer() {
    Body.v(CH_OP_STACK_POINTER);
    Body.u8(0);
    Slots += CH_VALUE_SLOTS(8);
  }
  Value copy(Value V) {
    start(CH_OP_COPY, V.Type);
    atom(V);
    return define(V.Type);
  }
  Value operation(unsigned N, const std::vector<Value> &Operands) {
    Body.v(CH_OP_FIRST + N);
    for (Value V : Operands)
      atom(V);
    return define(bytecode::operationInfo(N).Result);
  }
  Value operation(const char *Name, const std::vector<Value> &Operands) {
    return operation(numberOf(Name), Operands);
  }
  void exit(Value Guard, uint64_t Target) {
    ++Exits;
    Body.v(CH_OP_EXIT);
    atom(Guard);
    leave(constant(CH_I64, Target));
  }
  /// Adds the last statement, which leaves for Target, and gives the
  /// definition.
  llvm::SmallVector<uint8_t, 0> finish(Value Target) {
    Body.v(CH_OP_NEXT);
    leave(Target);
    ByteWriter Out;
    Out.u64(Address);
    for (uint64_t N : {Instructions, Exits, Temps, Slots, Flags})
      Out.v(N);
    Out.bytes(Body.data());
    return Out.take();
  }

  /// The number of an operation of ReplayOps.def.
  static unsigned numberOf(const char *Name) {
    for (unsigned N = 0; N < bytecode::operationCount(); ++N)
      if (!std::strcmp(bytecode::operationInfo(N).Name, Name))
        return N;
    assert(false && "no such operation");
    return 0;
  }

private:
  void start(uint32_t Opcode, ch_type Type) {
    Body.v(Opcode);
    Body.u8(Type);
  }
  void addStoreSlots(unsigned Bytes) {
    if (!(Flags & CH_DEF_MARKS_STORES))
      Slots += CH_ACCESS_SLOTS(Bytes);
  }
  Value define(ch_type Type) { return {Type, true, Temps++}; }
  void array(uint32_t Base, uint32_t Elements, int32_t Bias) {
    Body.v(Base);
    Body.v(Elements);
    Body.v(zigzag(Bias));
  }
  void leave(Value Target) {
    atom(Target);
    Body.u8(CH_JUMP_PLAIN);
    Body.v(0); // stack pointer: as at entry
    Body.v(0);
  }
  void atom(Value V) {
    if (V.IsTemp) {
      Body.v(V.Number << 2);
      return;
    }
    // Uses each of the three forms of constants for some of them.
    switch (V.Number % 3) {
    case 0:
      if (V.Number >> 60 == 0) {
        Body.v(zigzag(static_cast<int64_t>(V.Number)) << 2 | 1);
        return;
      }
      break;
    case 1: {
      int64_t Delta = static_cast<int64_t>(V.Number - Address);
      if (Delta > -(int64_t(1) << 60) && Delta < int64_t(1) << 60) {
        Body.v(zigzag(Delta) << 2 | 2);
        return;
      }
      break;
    }
    }
    Body.v(3);
    Body.u64(V.Number);
  }

  uint64_t Address;
  uint32_t Flags;
  uint32_t Instructions = 0, Exits = 0, Temps = 0, Slots = 0;
  ByteWriter Body;
};

} // namespace chronicle

#endif
