// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/support/ProgramWriter.h"
#include "trace-format/GuestState.h"
#include "trace-format/bytecode/SuperblockFacts.h"
#include "gtest/gtest.h"

using namespace chronicle;
using namespace llvm;

namespace {

using Value = ProgramWriter::Value;
Value constant(ch_type Type, uint64_t N) {
  return ProgramWriter::constant(Type, N);
}

/// Two instructions with one of about everything; 5 and 3 bytes long.
SmallVector<uint8_t, 0> sample() {
  ProgramWriter W(0x401000);
  W.instruction(5);
  Value Rax = W.get(CH_I64, CH_OFFSET_RAX);
  Value Sum = W.operation("Add64", {Rax, constant(CH_I64, 0x401005)});
  W.store(Sum, W.load(CH_V128, Rax));
  W.exit(W.operation("CmpEQ64", {Sum, constant(CH_I64, 0)}), 0x401234);
  W.instruction(3);
  W.cas(CH_I64, Rax, Sum, Rax, {Sum, Rax});
  W.opaque(CH_V256);
  W.opaqueMemory(constant(CH_I1, 1), Sum, 20);
  W.opaqueRegisters(CH_OFFSET_RBX, 17);
  return W.finish(Sum);
}

std::vector<bytecode::Statement> readAll(ArrayRef<uint8_t> Definition) {
  std::vector<bytecode::Statement> Result;
  Expected<bytecode::BytecodeReader> R =
      bytecode::BytecodeReader::create(Definition);
  if (!R) {
    ADD_FAILURE() << toString(R.takeError());
    return Result;
  }
  bytecode::Statement S;
  while (R->next(S))
    Result.push_back(S);
  if (Error E = R->takeError())
    ADD_FAILURE() << toString(std::move(E));
  return Result;
}

std::string errorOf(ArrayRef<uint8_t> Definition) {
  Expected<bytecode::SuperblockFacts> F =
      bytecode::analyzeSuperblock(Definition);
  return F ? "" : toString(F.takeError());
}

TEST(BytecodeReader, GivesWhatWasWritten) {
  std::vector<bytecode::Statement> S = readAll(sample());
  ASSERT_EQ(S.size(), 13u);
  EXPECT_EQ(S[0].Opcode, unsigned(CH_OP_INSTRUCTION));
  EXPECT_EQ(S[0].Size, 5u);
  EXPECT_EQ(S[1].Offset, unsigned(CH_OFFSET_RAX));
  EXPECT_EQ(S[1].Defines, 1u);
  EXPECT_EQ(S[1].FirstTemp, 0u);
  EXPECT_EQ(S[2].Opcode, unsigned(CH_OP_FIRST));
  EXPECT_STREQ(bytecode::operationInfo(S[2].Operation).Name, "Add64");
  EXPECT_TRUE(S[2].Atoms[0].IsTemp);
  EXPECT_EQ(S[2].Atoms[1].Constant, 0x401005u);
  EXPECT_EQ(S[3].DefinedType, CH_V128);
  EXPECT_EQ(S[4].Atoms[1].Temp, 2u);
  EXPECT_EQ(S[6].Opcode, unsigned(CH_OP_EXIT));
  EXPECT_EQ(S[6].Atoms[1].Constant, 0x401234u);
  EXPECT_TRUE(S[8].Double);
  EXPECT_EQ(S[8].Defines, 2u);
  EXPECT_EQ(S[9].FirstTemp, 6u);
  EXPECT_EQ(S[12].Opcode, unsigned(CH_OP_NEXT));
}

TEST(BytecodeReader, ConstantsInAllForms) {
  for (uint64_t N : {uint64_t(0), uint64_t(1), uint64_t(2), uint64_t(0x401001),
                     ~uint64_t(0), ~uint64_t(1), uint64_t(1) << 63,
                     uint64_t(0xfffffffffffff), uint64_t(0x7fffffffffff001)}) {
    ProgramWriter W(0x401000);
    W.instruction(1);
    W.put(CH_OFFSET_RAX, constant(CH_I64, N));
    std::vector<bytecode::Statement> S = readAll(W.finish(constant(CH_I64, N)));
    ASSERT_EQ(S.size(), 3u);
    EXPECT_EQ(S[1].Atoms[0].Constant, N);
    EXPECT_EQ(S[2].Atoms[0].Constant, N);
  }
}

TEST(BytecodeReader, KnowsTheFactsOfASuperblock) {
  Expected<bytecode::SuperblockFacts> F = bytecode::analyzeSuperblock(sample());
  ASSERT_TRUE(bool(F)) << toString(F.takeError());
  EXPECT_EQ(F->InstructionAddress, (std::vector<uint64_t>{0x401000, 0x401005}));
  EXPECT_EQ(F->instructionAt(0x401005), 1);
  EXPECT_EQ(F->instructionAt(0x401001), -1);
  ASSERT_EQ(F->InstructionsAt.size(), 3u);
  EXPECT_EQ(F->InstructionsAt[1], 1u);
  EXPECT_EQ(F->InstructionsAt[2], 2u);
  EXPECT_EQ(F->SlotFactsAt[1], 1u);
  EXPECT_EQ(F->SlotFactsAt[2], 5u);
  const bytecode::SlotKind Kinds[] = {
      bytecode::SlotKind::Store, bytecode::SlotKind::Store,
      bytecode::SlotKind::Opaque, bytecode::SlotKind::OpaqueMemory,
      bytecode::SlotKind::OpaqueRegisters};
  const unsigned Bytes[] = {16, 16, 32, 20, 17}, First[] = {0, 2, 4, 6, 9},
                 Slots[] = {2, 2, 2, 3, 2};
  ASSERT_EQ(F->Slots.size(), 5u);
  for (unsigned I = 0; I < 5; ++I) {
    EXPECT_EQ(F->Slots[I].Kind, Kinds[I]) << I;
    EXPECT_EQ(F->Slots[I].Bytes, Bytes[I]) << I;
    EXPECT_EQ(F->Slots[I].FirstSlot, First[I]) << I;
    EXPECT_EQ(F->Slots[I].Slots, Slots[I]) << I;
    EXPECT_EQ(F->Slots[I].Instruction, I == 0 ? 0 : 1) << I;
    EXPECT_EQ(F->Slots[I].Exit, I == 0 ? 0 : 1) << I;
  }
}

TEST(BytecodeReader, EveryTruncationIsAnError) {
  SmallVector<uint8_t, 0> Whole = sample();
  for (size_t Size = 0; Size < Whole.size(); ++Size)
    EXPECT_NE(errorOf(ArrayRef(Whole).take_front(Size)), "") << Size;
  Whole.push_back(CH_OP_INSTRUCTION);
  EXPECT_EQ(errorOf(Whole),
            "damaged replay program: statements follow the last one");
}

TEST(BytecodeReader, NamesWhatIsWrong) {
  {
    ProgramWriter W(0x1000);
    W.put(CH_OFFSET_RAX, Value{CH_I64, true, 3});
    EXPECT_EQ(errorOf(W.finish(constant(CH_I64, 0))),
              "damaged replay program: a temp is used before it is defined");
  }
  {
    ProgramWriter W(0x1000);
    Value V = W.get(CH_I32, CH_OFFSET_RAX);
    V.Type = CH_I64;
    W.put(CH_OFFSET_RAX, V);
    EXPECT_EQ(errorOf(W.finish(constant(CH_I64, 0))),
              "damaged replay program: a temp has another type than its use");
  }
  {
    ProgramWriter W(0x1000);
    W.get(CH_V256, CH_GUEST_STATE_SIZE - 31);
    EXPECT_EQ(errorOf(W.finish(constant(CH_I64, 0))),
              "damaged replay program: it reaches beyond the guest state");
  }
  {
    ProgramWriter W(0x1000);
    W.getIndexed(CH_F64, CH_OFFSET_FPREG, 0, 0, constant(CH_I32, 0));
    EXPECT_EQ(errorOf(W.finish(constant(CH_I64, 0))),
              "damaged replay program: bad array");
  }
}

} // namespace
