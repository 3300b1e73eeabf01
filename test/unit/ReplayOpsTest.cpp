// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares every operation and every helper of the replayer with Valgrind's own
// library: the machine code that VEX generates for the operation, and its C
// helpers.

#include "VexOracle.h"
#include "query/replay/native/NativeCode.h"
#include "query/replay/operations/Helpers.h"
#include "test/support/ProgramWriter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"
#include <random>

using namespace chronicle;
using namespace llvm;

namespace {

struct NoPages : machine::PageSource {
  Expected<bool> readFrame(FrameNumber, BlockNumber, uint8_t *) override {
    return false;
  }
  void visitFrames(FrameNumber, FrameNumber,
                   function_ref<void(FrameNumber)>) override {}
};

const uint64_t Special64[] = {
    // zeros, ones, infinities, quiet and signalling NaNs with payloads
    0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
    0xfff8000000001234, 0x7ff0000000000001, 0xfff4000000abcdef,
    // denormals and the largest finite
    1, 0x8000000000000001, 0x000fffffffffffff, 0x7fefffffffffffff,
    // halves, and what rounds to the edges of integers
    0x3fe0000000000000, 0x4004000000000000, 0xc004000000000000,
    0x41dfffffffc00000, 0x41dfffffffe00000, 0xc1e0000000000000,
    0xc1e00000001fffff, 0xc1e0000000200000, 0x43e0000000000000,
    0xc3e0000000000000, 0x43dfffffffffffff, ~uint64_t(0), 0x7fffffffffffffff,
    0x3fefffffffffffff,
    // the edges of single precision
    0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000,
    0x36a0000000000000, 0x3690000000000000, 0x3690000000000001,
    0x380fffffffffffff};
const uint32_t Special32[] = {
    0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
    0xffc01234, 0x7f800001, 0xff8abcde, 1, 0x80000001, 0x007fffff, 0x7f7fffff,
    0x3f000000, 0x40200000, 0xc0200000, 0x4effffff, 0x4f000000, 0xcf000000,
    0xcf000001, ~0u, 0x7fffffff, 0x3f7fffff,
    // the edges of half precision
    0x477fe000, 0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x38800000,
    0x387fffff, 0x32ffffff};

class Inputs {
public:
  explicit Inputs(uint64_t Seed) : Random(Seed) {}

  uint64_t word() {
    switch (Random() % 6) {
    case 0:
      return Special64[Random() % std::size(Special64)];
    case 1:
      return Special32[Random() % std::size(Special32)] |
             uint64_t(Special32[Random() % std::size(Special32)]) << 32;
    case 2:
      return Random() % 200 - 100;
    case 3: {
      const uint8_t Bytes[8] = {0, 0xff, 0x80, 0x7f,
                                1, 0x81, 0xfe, uint8_t(Random())};
      uint64_t W = 0;
      for (unsigned I = 0; I < 8; ++I)
        W = W << 8 | Bytes[Random() % 8];
      return W;
    }
    case 4: {
      double D =
          double(int64_t(Random())) / double(uint64_t(1) << (Random() % 64));
      if (Random() & 1)
        return std::bit_cast<uint64_t>(D);
      uint32_t Single = std::bit_cast<uint32_t>(float(D));
      return Single | (uint64_t(Single) ^ Random() % 3) << 32;
    }
    default:
      return Random();
    }
  }
  void fill(uint8_t Operand[32]) {
    for (unsigned I = 0; I < 32; I += 8)
      operations::storeValue(Operand + I, word());
  }
  uint64_t below(uint64_t N) { return Random() % N; }

private:
  std::mt19937_64 Random;
};

/// Makes operands that the operation is defined for; false if that failed.
bool prepare(StringRef Name, const bytecode::OperationInfo &Info,
             uint8_t O[4][32], Inputs &In) {
  for (unsigned I = 0; I < Info.Arity; ++I)
    if (Info.Operands[I] == CH_I1)
      O[I][0] &= 1;
  // A first operand of type I32 beside floating-point ones is a rounding mode.
  if (Name.contains('F') && Info.Operands[0] == CH_I32 && Info.Arity > 1)
    operations::storeValue<uint32_t>(O[0], In.below(4));
  if (Info.Arity > 1 && Info.Operands[1] == CH_I8 && In.below(2))
    O[1][0] %= 70;

  uint64_t A = operations::loadValue<uint64_t>(O[0]),
           High = operations::loadValue<uint64_t>(O[0] + 8),
           B = operations::loadValue<uint64_t>(O[1]);
  if (Name == "Clz64" || Name == "Ctz64")
    return A != 0;
  // Divisions must not trap.
  if (Name == "DivModU64to32")
    return uint32_t(B) > A >> 32;
  if (Name == "DivModS64to32") {
    int32_t Divisor = int32_t(B);
    operations::storeValue<int64_t>(O[0], int64_t(A) >> In.below(40));
    int64_t Dividend = operations::loadValue<int64_t>(O[0]);
    if (Divisor == 0 || Divisor == -1)
      return false;
    return Dividend / Divisor == int32_t(Dividend / Divisor);
  }
  if (Name == "DivModU128to64") {
    if (B == 0)
      return false;
    operations::storeValue<uint64_t>(O[0] + 8, High % B);
  }
  if (Name == "DivModS128to64") {
    int64_t Divisor = int64_t(B);
    if (Divisor == 0 || Divisor == -1)
      return false;
    operations::Int128 Quotient =
        operations::Int128(operations::UInt128(High) << 64 | A) / Divisor;
    if (Quotient != int64_t(Quotient))
      operations::storeValue<int64_t>(O[0] + 8, int64_t(A) >> 63);
  }
  return true;
}

// Operands in YMM0 to YMM3, the result in YMM8, as in VexOracle.
constexpr uint32_t OperandOffset = CH_OFFSET_YMM0,
                   ResultOffset = CH_OFFSET_YMM0 + 8 * 32;

SmallVector<uint8_t, 0> programOf(unsigned N, const uint8_t *Immediate) {
  const bytecode::OperationInfo &Info = bytecode::operationInfo(N);
  ProgramWriter W(0x400000);
  W.instruction(1);
  std::vector<ProgramWriter::Value> Operands;
  for (unsigned I = 0; I < Info.Arity; ++I) {
    const ch_type Type = Info.Operands[I];
    const uint32_t At = OperandOffset + 32 * I;
    if (Immediate && I == 1) {
      uint64_t Constant = 0;
      std::memcpy(&Constant, Immediate, bytecode::typeSize(Type));
      Operands.push_back(ProgramWriter::constant(Type, Constant));
    } else if (Type == CH_I1) {
      Operands.push_back(W.operation("64to1", {W.get(CH_I64, At)}));
    } else {
      Operands.push_back(W.get(Type, At));
    }
  }
  ProgramWriter::Value Result = W.operation(N, Operands);
  if (Info.Result == CH_I1)
    Result = W.operation("1Uto64", {Result});
  W.put(ResultOffset, Result);
  return W.finish(ProgramWriter::constant(CH_I64, 0x400001));
}

std::unique_ptr<program::ReplayProgram> decode(ArrayRef<uint8_t> Definition) {
  auto P =
      program::ReplayProgram::create(Definition, program::ProgramForm::Fast);
  if (!P) {
    ADD_FAILURE() << toString(P.takeError());
    return nullptr;
  }
  return std::move(*P);
}

class ReplayOps : public testing::TestWithParam<unsigned> {};

// Runs the operation in the interpreter and as native code.
TEST_P(ReplayOps, IsWhatVexComputes) {
  const unsigned N = GetParam();
  const bytecode::OperationInfo &Info = bytecode::operationInfo(N);
  VexOracle Vex;
  ASSERT_TRUE(Vex.compile(N)) << Info.Name << " is not what VEX has";
  NoPages Pages;
  auto Memory = std::make_unique<machine::ReplayMemory>(Pages, 0);
  auto Ours = std::make_unique<machine::Interpreter>(*Memory);
  std::unique_ptr<program::ReplayProgram> Program =
      decode(programOf(N, nullptr));
  ASSERT_TRUE(Program);
  native::NativeCode Native(102);
  native::NativeProgram General = Native.make(101, Program->ops());
  ASSERT_NE(General, nullptr);
  const bool TakesImmediate =
      Info.Arity == 2 && bytecode::typeSize(Info.Operands[1]) <= 8;

  Inputs In(N);
  unsigned Compared = 0;
  for (unsigned Round = 0; Round < 5000; ++Round) {
    uint8_t Operands[4][32], Expected[32] = {};
    for (uint8_t *O : Operands)
      In.fill(O);
    if (!prepare(Info.Name, Info, Operands, In))
      continue;
    Vex.run(Operands, Expected);
    const bool Immediate = TakesImmediate && Round % 50 == 0;
    std::unique_ptr<program::ReplayProgram> Special;
    if (Immediate) {
      Special = decode(programOf(N, Operands[1]));
      ASSERT_TRUE(Special);
    }
    native::NativeProgram AsNative =
        Immediate ? Native.make(Round / 50, Special->ops()) : General;
    ASSERT_NE(AsNative, nullptr);
    const unsigned Size = bytecode::typeSize(Info.Result);
    ++Compared;
    for (bool Interpreted : {true, false}) {
      std::memcpy(Ours->state() + OperandOffset, Operands, sizeof(Operands));
      uint8_t *Result = Ours->state() + ResultOffset;
      std::memset(Result, 0xa5, 32);
      ASSERT_EQ(Interpreted ? Ours->run(Immediate ? *Special : *Program)
                            : native::NativeCode::run(AsNative, *Ours, *Memory),
                1u);
      if (std::memcmp(Result, Expected, Size) == 0)
        continue;
      std::string Text;
      for (unsigned I = 0; I < Info.Arity; ++I)
        Text += " " + toHex(ArrayRef(Operands[I],
                                     bytecode::typeSize(Info.Operands[I])));
      FAIL() << Info.Name << " of" << Text << " (low byte first): VEX "
             << toHex(ArrayRef(Expected, Size))
             << (Interpreted ? ", replay " : ", native code ")
             << toHex(ArrayRef(Result, Size));
    }
  }
  EXPECT_GT(Compared, 500u);
}

std::string operationName(const testing::TestParamInfo<unsigned> &Info) {
  return bytecode::operationInfo(Info.param).Name;
}
INSTANTIATE_TEST_SUITE_P(All, ReplayOps,
                         testing::Range(0u, bytecode::operationCount()),
                         operationName);

// VEX multiplies and adds in software. This looks harder where product and
// addend nearly cancel, and where results are tiny or huge.
TEST(FusedMultiplyAdd, IsWhatVexComputesNearTheEdges) {
  NoPages Pages;
  auto Memory = std::make_unique<machine::ReplayMemory>(Pages, 0);
  auto Ours = std::make_unique<machine::Interpreter>(*Memory);
  VexOracle Vex;
  std::mt19937_64 Random(7);
  for (const char *Name : {"MAddF32", "MAddF64"}) {
    const unsigned N = ProgramWriter::numberOf(Name);
    const bool Single = N == ProgramWriter::numberOf("MAddF32");
    ASSERT_TRUE(Vex.compile(N));
    std::unique_ptr<program::ReplayProgram> Program =
        decode(programOf(N, nullptr));
    ASSERT_TRUE(Program);
    for (unsigned Round = 0; Round < 300000; ++Round) {
      uint8_t Operands[4][32] = {}, Expected[32] = {};
      auto Number = [&](int Spread) {
        double D = 1 + double(Random() >> 12) / double(uint64_t(1) << 52);
        int Exponent = int(Random() % (2 * Spread + 1)) - Spread;
        return std::ldexp(Random() & 1 ? D : -D, Exponent);
      };
      double X = Number(Single ? 140 : 1070), Y = Number(Single ? 140 : 1070),
             Z = Number(Single ? 140 : 1070);
      if (Round % 2) {
        X = Number(30);
        Y = Number(30);
        Z = -X * Y * (1 + double(int(Random() % 5) - 2) * 0x1p-52);
        if (Random() % 8 == 0)
          Y = 0;
      }
      operations::storeValue<uint32_t>(Operands[0], Random() % 4);
      double Values[3] = {X, Y, Z};
      for (unsigned I = 0; I < 3; ++I) {
        if (Single)
          operations::storeValue(Operands[I + 1], float(Values[I]));
        else
          operations::storeValue(Operands[I + 1], Values[I]);
      }
      Vex.run(Operands, Expected);
      std::memcpy(Ours->state() + OperandOffset, Operands, sizeof(Operands));
      ASSERT_EQ(Ours->run(*Program), 1u);
      ASSERT_EQ(
          std::memcmp(Ours->state() + ResultOffset, Expected, Single ? 4 : 8),
          0)
          << Name << " of " << X << ", " << Y << ", " << Z;
    }
  }
}

class ReplayHelpers : public testing::TestWithParam<unsigned> {};

/// Arguments as the front end passes them.
void prepareArguments(StringRef Name, uint64_t A[5], std::mt19937_64 &Random) {
  if (Name == "amd64g_calculate_condition") {
    A[0] %= 16;
    A[1] %= 65;
  }
  if (Name.contains("rflags"))
    A[0] %= 65;
  if (Name.ends_with("RCR") || Name.ends_with("RCL")) {
    const int64_t Sizes[] = {1, 2, 4, 8, -1, -2, -4, -8};
    int64_t Size = Sizes[Random() % 8];
    A[3] = uint64_t(Size);
    unsigned Bits = unsigned(Size < 0 ? -Size : Size) * 8;
    if (Bits < 64)
      A[0] &= (uint64_t(1) << Bits) - 1;
  }
  if (Name.contains("FXAM")) {
    A[0] &= 1;
    if (Random() % 3 == 0)
      A[1] |= 0x7ff0000000000000;
  }
  if (Name.contains("mpsadbw"))
    A[4] = (Random() & 7) | (Random() & 1) << 7;
  if (Name.contains("pclmul"))
    A[2] &= 1;
  if (Name.contains("check_"))
    A[0] = (Random() % 3 ? Random() | 0x1fbf : Random()) & 0xffff;
  if (Name.contains("create_"))
    A[0] &= 3;
  if (Name.contains("crc32")) {
    A[0] &= 0xffffffff;
    const char Width = Name.back();
    if (Width != 'q')
      A[1] &= Width == 'b' ? 0xff : Width == 'w' ? 0xffff : 0xffffffff;
  }
}

TEST_P(ReplayHelpers, IsWhatVexComputes) {
  const unsigned N = GetParam();
  const StringRef Name = bytecode::helperName(N);
  std::mt19937_64 Random(N);
  Inputs In(N + 1);
  for (unsigned Round = 0; Round < 100000; ++Round) {
    uint64_t A[5];
    for (uint64_t &Word : A) {
      switch (Random() % 4) {
      case 0:
        Word = Random() % 300;
        break;
      case 1:
        Word = uint64_t(1) << Random() % 64;
        break;
      default:
        Word = In.word();
      }
    }
    prepareArguments(Name, A, Random);
    ASSERT_EQ(operations::helper(N)(A[0], A[1], A[2], A[3], A[4]),
              callVexHelper(N, A))
        << Name.str() << std::hex << " of " << A[0] << " " << A[1] << " "
        << A[2] << " " << A[3] << " " << A[4];
  }
}

std::string nameOfHelper(const testing::TestParamInfo<unsigned> &Info) {
  return bytecode::helperName(Info.param);
}
INSTANTIATE_TEST_SUITE_P(All, ReplayHelpers,
                         testing::Range(0u, bytecode::helperCount()),
                         nameOfHelper);

} // namespace
