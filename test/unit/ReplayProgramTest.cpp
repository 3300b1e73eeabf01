// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs: what the builder makes of a definition must do what its
// statements say one by one. A fast program must agree at exits, an exact one
// before each instruction too.

#include "query/replay/native/NativeCode.h"
#include "query/replay/native/ProgramCompiler.h"
#include "query/replay/operations/FloatOperations.h"
#include "query/replay/operations/Helpers.h"
#include "test/support/ProgramWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include "gtest/gtest.h"
#include <array>
#include <map>
#include <random>

using namespace chronicle;
using namespace chronicle::operations;
using namespace llvm;

namespace {

using Bytes32 = std::array<uint8_t, 32>;
using Thunk = void (*)(const Bytes32 *O, Bytes32 &R);

#define CH_OPERAND(T, N) loadValue<Type##T>(O[N].data())
#define CH_THUNK_1(N, A, B, C, D) op_##N(CH_OPERAND(A, 0))
#define CH_THUNK_2(N, A, B, C, D) op_##N(CH_OPERAND(A, 0), CH_OPERAND(B, 1))
#define CH_THUNK_3(N, A, B, C, D)                                              \
  op_##N(CH_OPERAND(A, 0), CH_OPERAND(B, 1), CH_OPERAND(C, 2))
#define CH_THUNK_4(N, A, B, C, D)                                              \
  op_##N(CH_OPERAND(A, 0), CH_OPERAND(B, 1), CH_OPERAND(C, 2), CH_OPERAND(D, 3))
const Thunk Thunks[] = {
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D)                          \
  [](const Bytes32 *O, Bytes32 &R) {                                           \
    storeValue<Type##Result>(R.data(), CH_THUNK_##Arity(Name, A, B, C, D));    \
  },
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
};

struct NoPages : machine::PageSource {
  Expected<bool> readFrame(FrameNumber, BlockNumber, uint8_t *) override {
    return false;
  }
  void visitFrames(FrameNumber, FrameNumber,
                   function_ref<void(FrameNumber)>) override {}
};

using State = std::array<uint8_t, CH_GUEST_STATE_SIZE>;

/// Executes the statements of a definition one by one, in the simplest way.
struct Reference {
  State S{};
  std::map<uint64_t, uint8_t> Memory;
  std::vector<uint8_t> Opaque;
  size_t OpaqueUsed = 0;
  std::vector<State> AtInstruction;
  uint32_t Ordinal = 0;

  std::vector<Bytes32> Temps;

  Bytes32 value(const bytecode::Atom &A, ch_type Type) const {
    Bytes32 R{};
    if (A.IsTemp)
      return Temps[A.Temp];
    if (Type == CH_V128 || Type == CH_V256) {
      for (unsigned I = 0; I < bytecode::typeSize(Type); ++I)
        R[I] = A.Constant >> I & 1 ? 0xff : 0;
      return R;
    }
    uint64_t C = Type == CH_I1 ? A.Constant & 1 : A.Constant;
    std::memcpy(R.data(), &C, std::min(bytecode::typeSize(Type), 8u));
    return R;
  }
  uint64_t word(const bytecode::Atom &A, ch_type Type) const {
    Bytes32 V = value(A, Type);
    uint64_t R = 0;
    std::memcpy(&R, V.data(), std::min(bytecode::typeSize(Type), 8u));
    return R;
  }
  Bytes32 load(uint64_t At, unsigned Size) {
    Bytes32 R{};
    for (unsigned I = 0; I < Size; ++I)
      R[I] = Memory[At + I];
    return R;
  }
  void store(uint64_t At, const uint8_t *From, unsigned Size) {
    for (unsigned I = 0; I < Size; ++I)
      Memory[At + I] = From[I];
  }
  void setRip(uint64_t Rip) {
    operations::storeValue(S.data() + CH_OFFSET_RIP, Rip);
  }

  void run(ArrayRef<uint8_t> Definition) {
    Expected<bytecode::BytecodeReader> R =
        bytecode::BytecodeReader::create(Definition);
    ASSERT_TRUE(bool(R)) << toString(R.takeError());
    bytecode::Statement St;
    uint32_t Exits = 0;
    while (R->next(St))
      if (step(St, Exits))
        return;
    FAIL() << toString(R->takeError());
  }

  bool step(const bytecode::Statement &St, uint32_t &Exits) {
    const unsigned Size = bytecode::typeSize(St.Type);
    Bytes32 Result{};
    switch (St.Opcode) {
    case CH_OP_INSTRUCTION:
      AtInstruction.push_back(S);
      break;
    case CH_OP_GET:
      std::memcpy(Result.data(), S.data() + St.Offset, Size);
      break;
    case CH_OP_PUT:
      std::memcpy(S.data() + St.Offset, value(St.Atoms[0], St.Type).data(),
                  Size);
      break;
    case CH_OP_GET_INDEXED:
    case CH_OP_PUT_INDEXED: {
      uint32_t Index =
          (uint32_t(word(St.Atoms[0], CH_I32)) + uint32_t(St.Bias)) %
          St.Elements;
      uint8_t *At = S.data() + St.Offset + Index * Size;
      if (St.Opcode == CH_OP_GET_INDEXED)
        std::memcpy(Result.data(), At, Size);
      else
        std::memcpy(At, value(St.Atoms[1], St.Type).data(), Size);
      break;
    }
    case CH_OP_LOAD:
      Result = load(word(St.Atoms[0], CH_I64), Size);
      break;
    case CH_OP_STORE:
      store(word(St.Atoms[0], CH_I64), value(St.Atoms[1], St.Type).data(),
            Size);
      break;
    case CH_OP_STORE_GUARDED:
      if (word(St.Atoms[0], CH_I1))
        store(word(St.Atoms[1], CH_I64), value(St.Atoms[2], St.Type).data(),
              Size);
      break;
    case CH_OP_LOAD_GUARDED: {
      if (!word(St.Atoms[0], CH_I1)) {
        Result = value(St.Atoms[2], St.Type);
        break;
      }
      Result = load(word(St.Atoms[1], CH_I64),
                    bytecode::conversionBytes(St.Conversion));
      if (St.Conversion == CH_LOAD_16S_32)
        operations::storeValue<int32_t>(
            Result.data(), operations::loadValue<int16_t>(Result.data()));
      if (St.Conversion == CH_LOAD_8S_32)
        operations::storeValue<int32_t>(
            Result.data(), operations::loadValue<int8_t>(Result.data()));
      break;
    }
    case CH_OP_CAS: {
      uint64_t At = word(St.Atoms[0], CH_I64);
      Bytes32 Low = load(At, Size), High = load(At + Size, Size);
      Bytes32 NewLow = value(St.Atoms[2], St.Type), NewHigh{};
      bool Equal = std::memcmp(Low.data(), value(St.Atoms[1], St.Type).data(),
                               Size) == 0;
      if (St.Double) {
        NewHigh = value(St.Atoms[4], St.Type);
        Equal &= std::memcmp(High.data(), value(St.Atoms[3], St.Type).data(),
                             Size) == 0;
      }
      if (Equal) {
        store(At, NewLow.data(), Size);
        if (St.Double)
          store(At + Size, NewHigh.data(), Size);
      }
      Temps.push_back(Low);
      if (St.Double)
        Temps.push_back(High);
      return false;
    }
    case CH_OP_ITE:
      Result = value(St.Atoms[word(St.Atoms[0], CH_I1) ? 1 : 2], St.Type);
      break;
    case CH_OP_CALL: {
      uint64_t A[5] = {};
      for (unsigned I = 0; I < St.AtomCount; ++I)
        A[I] = word(St.Atoms[I], CH_I64);
      operations::storeValue(Result.data(), operations::helper(St.Helper)(
                                                A[0], A[1], A[2], A[3], A[4]));
      break;
    }
    case CH_OP_OPAQUE:
      std::memcpy(Result.data(), Opaque.data() + OpaqueUsed, Size);
      OpaqueUsed += Size;
      break;
    case CH_OP_OPAQUE_REGISTERS:
      std::memcpy(S.data() + St.Offset, Opaque.data() + OpaqueUsed, St.Size);
      OpaqueUsed += St.Size;
      break;
    case CH_OP_OPAQUE_MEMORY:
      if (word(St.Atoms[0], CH_I1)) {
        store(word(St.Atoms[1], CH_I64), Opaque.data() + OpaqueUsed, St.Size);
        OpaqueUsed += St.Size;
      }
      break;
    case CH_OP_EXIT:
      ++Exits;
      if (word(St.Atoms[0], CH_I1)) {
        setRip(word(St.Atoms[1], CH_I64));
        Ordinal = Exits;
        return true;
      }
      break;
    case CH_OP_NEXT:
      setRip(word(St.Atoms[0], CH_I64));
      Ordinal = Exits + 1;
      return true;
    case CH_OP_COPY:
      Result = value(St.Atoms[0], St.Type);
      break;
    case CH_OP_FIRST: {
      const bytecode::OperationInfo &Info =
          bytecode::operationInfo(St.Operation);
      Bytes32 O[4] = {};
      for (unsigned I = 0; I < Info.Arity; ++I)
        O[I] = value(St.Atoms[I], Info.Operands[I]);
      Thunks[St.Operation](O, Result);
      break;
    }
    }
    if (St.Defines)
      Temps.push_back(Result);
    return false;
  }
};

/// Generates definitions like those of VEX: they read registers, compute, write
/// them back, set flags and access memory.
class Generator {
public:
  explicit Generator(uint64_t Seed) : Random(Seed), W(Address) {}

  static constexpr uint64_t Address = 0x400000;

  SmallVector<uint8_t, 0> generate() {
    const unsigned Instructions = 1 + below(8);
    for (unsigned I = 0; I < Instructions; ++I) {
      W.instruction(1 + below(8));
      for (unsigned N = below(14); N > 0; --N)
        statement();
      if (below(3) == 0)
        W.exit(value(CH_I1), below(1 << 20));
      // Flags as most instructions set them.
      if (below(2)) {
        W.put(CH_OFFSET_CC_OP, ProgramWriter::constant(CH_I64, below(64)));
        W.put(CH_OFFSET_CC_DEP1, value(CH_I64));
        W.put(CH_OFFSET_CC_DEP2, value(CH_I64));
        if (below(3) == 0)
          W.put(CH_OFFSET_CC_NDEP, value(CH_I64));
      }
    }
    return W.finish(value(CH_I64));
  }

private:
  uint64_t below(uint64_t N) { return Random() % N; }

  uint32_t offset(ch_type Type) {
    unsigned Size = bytecode::typeSize(Type);
    if (Size >= 16 || below(4) == 0)
      return CH_OFFSET_YMM0 + uint32_t(below(4)) * 32 +
             (Size == 32 ? 0 : uint32_t(below(32 / Size)) * Size);
    return CH_OFFSET_RAX + uint32_t(below(8)) * 8 +
           (Size < 8 && below(4) == 0 ? 1 * (Size == 1) : 0);
  }

  ProgramWriter::Value remember(ProgramWriter::Value V) {
    Known[V.Type].push_back(V);
    return V;
  }

  ProgramWriter::Value value(ch_type Type) {
    auto &Values = Known[Type];
    if (!Values.empty() && below(5)) {
      // Takes mostly recent ones, so that there are chains.
      size_t Back = std::min<size_t>(below(1 + below(8)), Values.size() - 1);
      return Values[Values.size() - 1 - Back];
    }
    if (Type == CH_I128)
      return remember(W.operation("64HLto128", {value(CH_I64), value(CH_I64)}));
    if (Type == CH_I1)
      return below(3) ? remember(W.operation("CmpLT64U",
                                             {value(CH_I64), value(CH_I64)}))
                      : ProgramWriter::constant(CH_I1, below(2));
    if (below(3) == 0)
      return ProgramWriter::constant(Type, below(2)          ? below(300)
                                           : Type >= CH_V128 ? below(1ull << 32)
                                                             : Random());
    return remember(W.get(Type, offset(Type)));
  }

  ProgramWriter::Value address() {
    // Few pages, some accesses across their ends.
    ProgramWriter::Value Low = W.operation(
        "And64", {value(CH_I64), ProgramWriter::constant(CH_I64, 0x1fff)});
    uint64_t Displacement = 0x10000 + below(64);
    switch (below(4)) {
    case 0:
      return ProgramWriter::constant(CH_I64, 0x10000 + below(0x2000));
    case 1:
      return W.operation("Add64",
                         {Low, ProgramWriter::constant(CH_I64, Displacement)});
    case 2: {
      ProgramWriter::Value Scaled =
          W.operation("Shl64", {Low, ProgramWriter::constant(CH_I8, below(4))});
      ProgramWriter::Value Sum = W.operation("Add64", {Low, Scaled});
      return below(3) ? W.operation("Add64", {Sum, ProgramWriter::constant(
                                                       CH_I64, Displacement)})
                      : Sum;
    }
    default:
      return remember(W.operation(
          "Sub64",
          {Low, ProgramWriter::constant(CH_I64, 0 - uint64_t(0x10000))}));
    }
  }

  ch_type type() {
    static const ch_type Types[] = {CH_I8,  CH_I16,  CH_I32,  CH_I32,
                                    CH_I64, CH_I64,  CH_I64,  CH_F32,
                                    CH_F64, CH_V128, CH_V128, CH_V256};
    return Types[below(std::size(Types))];
  }

  void operation() {
    static const char *const Frequent[] = {"Add64",
                                           "Sub64",
                                           "Add32",
                                           "Sub32",
                                           "And32",
                                           "Xor64",
                                           "64to32",
                                           "32Uto64",
                                           "64to8",
                                           "8Uto64",
                                           "8Uto32",
                                           "16Uto64",
                                           "32Uto64",
                                           "64to16",
                                           "1Uto64",
                                           "64to1",
                                           "32Sto64",
                                           "64HIto32",
                                           "CmpEQ32",
                                           "CmpEQ64",
                                           "CmpLT32S",
                                           "1Uto32",
                                           "32to1",
                                           "1Uto8",
                                           "V128to64",
                                           "V128HIto64",
                                           "64HLtoV128",
                                           "V256toV128_1",
                                           "128HIto64",
                                           "ReinterpF64asI64",
                                           "ReinterpI64asF64",
                                           "Not1",
                                           "Add8",
                                           "Shr16"};
    unsigned N =
        below(3) ? ProgramWriter::numberOf(Frequent[below(std::size(Frequent))])
                 : unsigned(below(bytecode::operationCount()));
    const bytecode::OperationInfo &Info = bytecode::operationInfo(N);
    std::vector<ProgramWriter::Value> Operands;
    for (unsigned I = 0; I < Info.Arity; ++I)
      Operands.push_back(value(Info.Operands[I]));
    remember(W.operation(N, Operands));
  }

  void statement() {
    switch (below(16)) {
    case 0:
    case 1:
    case 2: {
      ch_type Type = type();
      uint32_t At = offset(Type);
      W.put(At, value(Type));
      break;
    }
    case 3: {
      ch_type Type = type();
      remember(W.load(Type, address()));
      break;
    }
    case 4: {
      ch_type Type = type();
      ProgramWriter::Value At = address();
      W.store(At, value(Type));
      break;
    }
    case 5: {
      ch_type Type = type();
      ProgramWriter::Value C = value(CH_I1), A = value(Type), B = value(Type);
      remember(W.ite(C, A, B));
      break;
    }
    case 6: {
      std::vector<ProgramWriter::Value> A = {
          ProgramWriter::constant(CH_I64, below(16)),
          ProgramWriter::constant(CH_I64, below(65)), value(CH_I64),
          value(CH_I64), value(CH_I64)};
      remember(W.operation("64to1", {W.call(0, A)}));
      break;
    }
    case 7:
      rare();
      break;
    default:
      operation();
    }
  }

  void rare() {
    switch (below(10)) {
    case 0:
      remember(W.getIndexed(CH_F64, CH_OFFSET_FPREG, 8, int(below(16)) - 8,
                            value(CH_I32)));
      break;
    case 1: {
      ProgramWriter::Value I = value(CH_I32), V = value(CH_F64);
      W.putIndexed(CH_OFFSET_FPREG, 8, int(below(16)) - 8, I, V);
      break;
    }
    case 2: {
      ProgramWriter::Value G = value(CH_I1), A = address();
      W.storeGuarded(G, A, value(CH_V128));
      break;
    }
    case 3: {
      uint8_t Conversion = uint8_t(below(7));
      ProgramWriter::Value G = value(CH_I1), A = address();
      remember(W.loadGuarded(Conversion, G, A,
                             value(bytecode::conversionResult(Conversion))));
      break;
    }
    case 4: {
      ch_type Type = ch_type(CH_I8 + below(4));
      ProgramWriter::Value At = address();
      ProgramWriter::Value Seen = below(2) ? W.load(Type, At) : value(Type);
      remember(W.cas(Type, At, Seen, value(Type)));
      break;
    }
    case 5: {
      ProgramWriter::Value At = address(), D = value(CH_I64), H = value(CH_I64);
      ProgramWriter::Value Low = W.load(CH_I64, At);
      ProgramWriter::Value High =
          W.load(CH_I64, W.operation("Add64",
                                     {At, ProgramWriter::constant(CH_I64, 8)}));
      remember(W.cas(CH_I64, At, Low, D, {High, H}));
      break;
    }
    case 6:
      remember(W.opaque(type()));
      break;
    case 7:
      W.opaqueRegisters(CH_OFFSET_RAX + uint32_t(below(4)) * 8,
                        uint32_t(1 + below(24)));
      break;
    case 8: {
      ProgramWriter::Value G = value(CH_I1);
      W.opaqueMemory(G, address(), uint32_t(1 + below(40)));
      break;
    }
    case 9: // as vzeroupper
      for (uint32_t N = uint32_t(below(4)); N < 16; ++N)
        W.put(CH_OFFSET_YMM0 + N * 32 + 16,
              ProgramWriter::constant(CH_V128, 0));
      break;
    }
  }

  std::mt19937_64 Random;
  ProgramWriter W;
  std::map<ch_type, std::vector<ProgramWriter::Value>> Known;
};

/// A program's bytes for superblock 7, aligned as in a mapped file.
struct StoredBytes {
  explicit StoredBytes(const program::ReplayProgram &P)
      : Words(P.stored(7).size() / 8), Size(P.stored(7).size()) {
    std::memcpy(Words.data(), P.stored(7).data(), Size);
  }
  uint8_t *data() { return reinterpret_cast<uint8_t *>(Words.data()); }
  ArrayRef<uint8_t> bytes() { return {data(), Size}; }
  program::ReplayOp *ops() {
    return reinterpret_cast<program::ReplayOp *>(data() + 24);
  }
  /// Corrects the checksum after a change.
  void seal() {
    support::endian::write32le(
        data(), uint32_t(xxh3_64bits(bytes().drop_front(4))) + 7);
  }
  std::vector<uint64_t> Words;
  size_t Size;
};

class RandomPrograms : public testing::Test {
protected:
  void SetUp() override {
    Memory = std::make_unique<machine::ReplayMemory>(Pages, 0);
    Machine = std::make_unique<machine::Interpreter>(*Memory);
  }
  void reset(uint64_t Seed) {
    std::mt19937_64 Random(Seed);
    Start = State();
    for (unsigned I = 16; I < Start.size(); I += 8)
      operations::storeValue(Start.data() + I,
                             Random() >> (Random() % 3 ? 0 : Random() % 64));
    Opaque.resize(4096);
    for (uint8_t &B : Opaque)
      B = uint8_t(Random());
    Memory = std::make_unique<machine::ReplayMemory>(Pages, 0);
    Machine = std::make_unique<machine::Interpreter>(*Memory);
    std::memcpy(Machine->state(), Start.data(), Start.size());
    Machine->setOpaque(Opaque);
  }
  void compare(const Reference &R, uint64_t Seed) {
    for (unsigned I = 0; I < R.S.size(); ++I)
      ASSERT_EQ(Machine->state()[I], R.S[I])
          << "guest state byte " << I << ", seed " << Seed;
    for (auto [At, Byte] : R.Memory) {
      uint8_t Mine;
      Memory->read(At, &Mine, 1);
      ASSERT_EQ(Mine, Byte) << "memory at " << At << ", seed " << Seed;
    }
    ASSERT_EQ(Machine->opaqueLeft(), Opaque.size() - R.OpaqueUsed)
        << "seed " << Seed;
  }

  /// Starts afresh, and says what the statements of the definition do.
  Reference reference(uint64_t Seed, ArrayRef<uint8_t> Definition) {
    reset(Seed);
    Reference R;
    R.S = Start;
    R.Opaque = Opaque;
    R.run(Definition);
    return R;
  }

  NoPages Pages;
  State Start;
  std::vector<uint8_t> Opaque;
  std::unique_ptr<machine::ReplayMemory> Memory;
  std::unique_ptr<machine::Interpreter> Machine;
};

TEST_F(RandomPrograms, DoWhatTheirStatementsSay) {
  unsigned SideExits = 0, Operations = 0, Statements = 0;
  for (uint64_t Seed = 0; Seed < 6000; ++Seed) {
    SmallVector<uint8_t, 0> Definition = Generator(Seed).generate();
    Reference R = reference(Seed, Definition);
    if (HasFatalFailure())
      return;
    SideExits += R.Ordinal == 1;

    auto Fast =
        program::ReplayProgram::create(Definition, program::ProgramForm::Fast);
    ASSERT_TRUE(bool(Fast)) << toString(Fast.takeError());
    ASSERT_EQ(Machine->run(**Fast), R.Ordinal) << "seed " << Seed;
    compare(R, Seed);
    if (HasFatalFailure())
      return;
    StoredBytes Stored(**Fast);
    ASSERT_TRUE(program::ReplayProgram::at(Stored.bytes(), 7, (*Fast)->start(),
                                           (*Fast)->ordinals()))
        << "seed " << Seed;
    Operations += (*Fast)->ops().size();

    auto Exact =
        program::ReplayProgram::create(Definition, program::ProgramForm::Exact);
    ASSERT_TRUE(bool(Exact)) << toString(Exact.takeError());
    Statements += (*Exact)->ops().size();
    reset(Seed);
    uint32_t Result = 0;
    for (uint32_t I = 0; I < R.AtInstruction.size(); ++I) {
      Result = I == 0 ? Machine->run(**Exact, 0) : Machine->resume(I);
      ASSERT_EQ(Result, machine::Interpreter::Stopped) << "seed " << Seed;
      for (unsigned B = 0; B < Start.size(); ++B)
        ASSERT_EQ(Machine->state()[B], R.AtInstruction[I][B])
            << "guest state byte " << B << " before instruction " << I
            << ", seed " << Seed;
    }
    ASSERT_EQ(Machine->resume(), R.Ordinal) << "seed " << Seed;
    compare(R, Seed);
    if (HasFatalFailure())
      return;
  }
  // The programs must not be trivial.
  EXPECT_GT(SideExits, 1000u);
  EXPECT_LT(Operations, Statements);
}

// Every second program finds its pages in the memory's tables, so that its
// accesses are native too.
TEST_F(RandomPrograms, DoTheSameAsNativeCode) {
  struct Outcome {
    uint32_t Ordinal;
    State Registers;
    size_t OpaqueLeft;
    std::map<FrameNumber, std::vector<uint8_t>> Written; ///< and their flags
  };
  constexpr uint64_t Seeds = 6000;
  native::NativeCode Native(Seeds);
  size_t BytesWritten = 0;
  for (uint64_t Seed = 0; Seed < Seeds; ++Seed) {
    auto Fast = program::ReplayProgram::create(Generator(Seed).generate(),
                                               program::ProgramForm::Fast);
    ASSERT_TRUE(bool(Fast)) << toString(Fast.takeError());
    auto After = [&](auto Run) {
      reset(Seed);
      for (uint64_t Page = 0; Seed % 2 && Page < 64; ++Page) {
        Memory->store<uint8_t>(Page * PageSize, uint8_t(Page));
        Memory->load<uint8_t>(Page * PageSize);
      }
      Outcome O;
      O.Ordinal = Run();
      std::memcpy(O.Registers.data(), Machine->state(), O.Registers.size());
      O.OpaqueLeft = Machine->opaqueLeft();
      for (const machine::ReplayFrame *F : Memory->dirtyFrames())
        O.Written[F->Number].assign(F->Bytes, F->Dirty + GranulesPerPage);
      return O;
    };
    const Outcome Interpreted = After([&] { return Machine->run(**Fast); });
    native::NativeProgram P = Native.make(uint32_t(Seed), (*Fast)->ops());
    ASSERT_NE(P, nullptr);
    ASSERT_EQ(Native.find(uint32_t(Seed)), P);
    const Outcome Run =
        After([&] { return native::NativeCode::run(P, *Machine, *Memory); });
    ASSERT_EQ(Run.Ordinal, Interpreted.Ordinal) << "seed " << Seed;
    for (unsigned I = 0; I < Run.Registers.size(); ++I)
      ASSERT_EQ(Run.Registers[I], Interpreted.Registers[I])
          << "guest state byte " << I << ", seed " << Seed;
    ASSERT_EQ(Run.OpaqueLeft, Interpreted.OpaqueLeft) << "seed " << Seed;
    ASSERT_TRUE(Run.Written == Interpreted.Written) << "seed " << Seed;
    for (const auto &Frame : Run.Written)
      BytesWritten += Frame.second.size();
  }
  EXPECT_GT(BytesWritten, Seeds * PageSize); // that it is worth something
}

TEST_F(RandomPrograms, TellTheObserverEveryStore) {
  struct Observer : machine::StoreObserver {
    machine::ReplayMemory *Memory;
    std::map<uint64_t, uint8_t> Bytes;
    bool OldRight = true;
    void store(uint32_t, uint64_t At, uint32_t Size, const uint8_t *Old,
               const uint8_t *New) override {
      for (uint32_t I = 0; I < Size; ++I) {
        auto It = Bytes.find(At + I);
        OldRight &= Old[I] == (It == Bytes.end() ? 0 : It->second);
        Bytes[At + I] = New[I];
      }
    }
  };
  size_t Stored = 0;
  for (uint64_t Seed = 0; Seed < 500; ++Seed) {
    SmallVector<uint8_t, 0> Definition = Generator(Seed).generate();
    Reference R = reference(Seed, Definition);
    auto Fast =
        program::ReplayProgram::create(Definition, program::ProgramForm::Fast);
    ASSERT_TRUE(bool(Fast)) << toString(Fast.takeError());
    Observer O;
    ASSERT_EQ(Machine->run(**Fast, machine::Interpreter::NoStop, &O),
              R.Ordinal);
    EXPECT_TRUE(O.OldRight) << "seed " << Seed;
    for (auto [At, Byte] : O.Bytes)
      EXPECT_EQ(R.Memory[At], Byte) << "seed " << Seed;
    for (auto [At, Byte] : R.Memory) {
      if (Byte) {
        EXPECT_TRUE(O.Bytes.count(At)) << "seed " << Seed;
      }
    }
    Stored += O.Bytes.size();
  }
  EXPECT_GT(Stored, 1000u);
}

// Which instruction stores does not depend on where a program was stopped.
TEST_F(RandomPrograms, SayWhichInstructionStores) {
  struct Observer : machine::StoreObserver {
    std::vector<std::pair<uint32_t, uint64_t>> Stores;
    void store(uint32_t Instruction, uint64_t At, uint32_t, const uint8_t *,
               const uint8_t *) override {
      Stores.emplace_back(Instruction, At);
    }
  };
  size_t Late = 0;
  for (uint64_t Seed = 0; Seed < 300; ++Seed) {
    SmallVector<uint8_t, 0> Definition = Generator(Seed).generate();
    auto Exact =
        program::ReplayProgram::create(Definition, program::ProgramForm::Exact);
    ASSERT_TRUE(bool(Exact)) << toString(Exact.takeError());
    reset(Seed);
    Observer Straight;
    Machine->run(**Exact, machine::Interpreter::NoStop, &Straight);
    reset(Seed);
    Observer Stepped;
    uint32_t Result = Machine->run(**Exact, 0, &Stepped);
    for (uint32_t I = 1; Result == machine::Interpreter::Stopped; ++I)
      Result = Machine->resume(I, &Stepped);
    EXPECT_EQ(Straight.Stores, Stepped.Stores) << "seed " << Seed;
    for (auto [Instruction, At] : Stepped.Stores)
      Late += Instruction > 0;
  }
  EXPECT_GT(Late, 100u);
}

// A dead PUT, a narrowing and a widening need no operation.
TEST(ReplayProgram, DropsWhatNobodySees) {
  ProgramWriter W(0x1000);
  W.instruction(3);
  ProgramWriter::Value A = W.get(CH_I64, CH_OFFSET_RAX);
  ProgramWriter::Value Low = W.operation("64to32", {A});
  ProgramWriter::Value Sum =
      W.operation("Add32", {Low, ProgramWriter::constant(CH_I32, 5)});
  W.put(CH_OFFSET_CC_OP, ProgramWriter::constant(CH_I64, 3));
  W.put(CH_OFFSET_RAX, W.operation("32Uto64", {Sum}));
  W.instruction(3);
  W.put(CH_OFFSET_CC_OP, ProgramWriter::constant(CH_I64, 4));
  auto Fast = program::ReplayProgram::create(
      W.finish(ProgramWriter::constant(CH_I64, 0x1006)),
      program::ProgramForm::Fast);
  ASSERT_TRUE(bool(Fast)) << toString(Fast.takeError());
  // They are the sum, which goes straight into RAX, the second CC_OP, and the
  // end.
  EXPECT_EQ((*Fast)->ops().size(), 3u);
}

/// A program with one instruction at 0x1000.
Expected<std::unique_ptr<program::ReplayProgram>> opaqueIntoRax() {
  ProgramWriter W(0x1000);
  W.instruction(3);
  W.put(CH_OFFSET_RAX, W.opaque(CH_I64));
  return program::ReplayProgram::create(
      W.finish(ProgramWriter::constant(CH_I64, 0x1003)),
      program::ProgramForm::Fast);
}

TEST(ReplayProgram, RunsOutOfOpaqueBytesPolitely) {
  auto Fast = opaqueIntoRax();
  ASSERT_TRUE(bool(Fast)) << toString(Fast.takeError());
  NoPages Pages;
  auto Memory = std::make_unique<machine::ReplayMemory>(Pages, 0);
  auto Machine = std::make_unique<machine::Interpreter>(*Memory);
  const uint8_t Few[7] = {};
  Machine->setOpaque(Few);
  EXPECT_EQ(Machine->run(**Fast), machine::Interpreter::OutOfOpaque);
  native::NativeCode Native(1);
  native::NativeProgram P = Native.make(0, (*Fast)->ops());
  ASSERT_NE(P, nullptr);
  EXPECT_EQ(native::NativeCode::run(P, *Machine, *Memory),
            machine::Interpreter::OutOfOpaque);
}

TEST(ReplayProgram, IsNotCompiledIntoTooLittleRoom) {
  auto Fast = opaqueIntoRax();
  ASSERT_TRUE(bool(Fast)) << toString(Fast.takeError());
  std::vector<uint8_t> Room(PageSize + 1, 0xcc);
  native::ProgramCompiler Compiler{MutableArrayRef(Room).drop_back(),
                                   /*MarksReads=*/false};
  std::vector<const uint8_t *> Compiled;
  while (const uint8_t *Code = Compiler.compile((*Fast)->ops()))
    Compiled.push_back(Code);
  EXPECT_EQ(Compiler.compile((*Fast)->ops()), nullptr);
  EXPECT_EQ(Room.back(), 0xcc);
  // All have the same size, and the last one that fits is complete.
  ASSERT_GT(Compiled.size(), 10u);
  const ptrdiff_t Size = Compiled[1] - Compiled[0];
  EXPECT_LE(Compiled.back() + Size, &Room.back());
  EXPECT_GT(Compiled.back() + 3 * Size, &Room.back());
}

TEST(StoredProgram, DamageIsNoProgram) {
  std::mt19937_64 Random(5);
  for (uint64_t Seed = 0; Seed < 300; ++Seed) {
    SmallVector<uint8_t, 0> Definition = Generator(Seed).generate();
    auto Fast =
        program::ReplayProgram::create(Definition, program::ProgramForm::Fast);
    ASSERT_TRUE(bool(Fast)) << toString(Fast.takeError());
    StoredBytes Whole(**Fast);
    const uint64_t Address = (*Fast)->start();
    const uint32_t Exits = (*Fast)->ordinals();
    EXPECT_EQ(program::ReplayProgram::at(Whole.bytes(), 7, Address, Exits + 1),
              nullptr);
    ASSERT_EQ(program::ReplayProgram::at(Whole.bytes(), 7, Address, Exits),
              reinterpret_cast<const program::ReplayProgram *>(Whole.data()));
    EXPECT_EQ(program::ReplayProgram::at(Whole.bytes(), 7, Address + 1, Exits),
              nullptr);
    EXPECT_EQ(program::ReplayProgram::at(Whole.bytes().drop_back(8), 7, Address,
                                         Exits),
              nullptr);
    EXPECT_EQ(program::ReplayProgram::at({}, 7, Address, Exits), nullptr);
    // A damaged table of programs leads to a sound one of another superblock,
    // perhaps at the same address.
    EXPECT_EQ(program::ReplayProgram::at(Whole.bytes(), 8, Address, Exits),
              nullptr);
    for (unsigned Round = 0; Round < 20; ++Round) {
      StoredBytes Damaged(**Fast);
      Damaged.data()[Random() % Damaged.Size] ^= uint8_t(1 << Random() % 8);
      EXPECT_EQ(program::ReplayProgram::at(Damaged.bytes(), 7, Address, Exits),
                nullptr);
    }
  }
}

// A correct checksum does not make a program sound.
TEST(StoredProgram, OperationsAreChecked) {
  auto Fast = opaqueIntoRax();
  ASSERT_TRUE(bool(Fast)) << toString(Fast.takeError());
  ASSERT_EQ((*Fast)->ops().size(), 2u);
  auto Accepts = [&](auto Change) {
    StoredBytes Changed(**Fast);
    Change(Changed.ops());
    Changed.seal();
    return program::ReplayProgram::at(Changed.bytes(), 7, 0x1000,
                                      (*Fast)->ordinals()) != nullptr;
  };
  auto Code = [](enum program::Code C) { return static_cast<uint16_t>(C); };
  EXPECT_TRUE(Accepts([](program::ReplayOp *) {}));
  EXPECT_FALSE(Accepts([](program::ReplayOp *Ops) { Ops[0].Code = 0xffff; }));
  EXPECT_FALSE(Accepts([&](program::ReplayOp *Ops) {
    Ops[0].Code = program::operationCode(bytecode::operationCount());
  }));
  EXPECT_FALSE(Accepts([&](program::ReplayOp *Ops) {
    Ops[0].Code = Code(program::Code::Instruction);
  }));
  EXPECT_FALSE(Accepts([](program::ReplayOp *Ops) { Ops[0].A = 0xffff; }));
  // Exits that the superblock does not have, or none at all.
  EXPECT_FALSE(Accepts([](program::ReplayOp *Ops) { Ops[1].B = 0; }));
  EXPECT_FALSE(Accepts([](program::ReplayOp *Ops) { Ops[1].B = 2; }));
  EXPECT_FALSE(Accepts([&](program::ReplayOp *Ops) {
    Ops[1].Code = Code(program::Code::Copy8);
  }));
  EXPECT_FALSE(Accepts([&](program::ReplayOp *Ops) {
    Ops[0].Code = Code(program::Code::Next);
  }));
  // The comparison would consume the last operation, and continue behind it.
  EXPECT_FALSE(Accepts([&](program::ReplayOp *Ops) {
    Ops[0].Code = Code(program::Code::Exit_CmpEQ64);
  }));
  EXPECT_FALSE(Accepts([&](program::ReplayOp *Ops) {
    Ops[0].Code = Code(program::Code::Call);
    Ops[0].F = 0xff;
  }));
  EXPECT_FALSE(Accepts([&](program::ReplayOp *Ops) {
    Ops[0].Code = Code(program::Code::GetIndexed);
    Ops[0].C = 0;
  }));
  EXPECT_FALSE(Accepts([&](program::ReplayOp *Ops) {
    Ops[0].Code = Code(program::Code::PutIndexed);
    Ops[0].B = 0xfff0;
    Ops[0].C = Ops[0].D = 8;
  }));
  EXPECT_FALSE(Accepts([&](program::ReplayOp *Ops) {
    Ops[0].Code = Code(program::Code::Clear16);
    Ops[0].Dst = 1024;
    Ops[0].A = 2048;
  }));
  EXPECT_FALSE(Accepts([&](program::ReplayOp *Ops) {
    Ops[0].Code = Code(program::Code::Cas);
    Ops[0].D = 16;
  }));
}

// Any bytes as a definition give a program or an error.
TEST(ReplayProgram, SurvivesDamage) {
  std::mt19937_64 Random(11);
  unsigned Refused = 0, Accepted = 0;
  for (unsigned Round = 0; Round < 4000; ++Round) {
    SmallVector<uint8_t, 0> Definition = Generator(Round % 300).generate();
    for (unsigned N = 1 + Random() % 3; N > 0; --N)
      Definition[8 + Random() % (Definition.size() - 8)] = uint8_t(Random());
    if (Random() % 4 == 0)
      Definition.resize(Random() % Definition.size());
    auto Program = program::ReplayProgram::create(
        Definition,
        Round % 2 ? program::ProgramForm::Fast : program::ProgramForm::Exact);
    if (!Program) {
      EXPECT_FALSE(toString(Program.takeError()).empty());
      ++Refused;
    } else {
      ++Accepted;
      for (const program::ReplayOp &Op : (*Program)->ops())
        EXPECT_LT(Op.Code, program::operationCode(bytecode::operationCount()));
    }
  }
  EXPECT_GT(Refused, 1000u);
  EXPECT_GT(Accepted, 100u);
}

} // namespace
