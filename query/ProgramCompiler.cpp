// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ProgramCompiler.h"
#include "query/Helpers.h"
#include "query/Interpreter.h"
#include "trace-format/GuestState.h"

using namespace llvm;

namespace chronicle {

/// What the generated code calls for operations it has no instructions for, and
/// for accesses to pages that the memory's tables do not have.
static uint32_t interpret(Interpreter *Machine, const ReplayOp *First,
                          uint32_t Count) {
  SmallVector<ReplayOp, 32> Ops(First, First + Count);
  ReplayOp Stop{};
  Stop.Code = static_cast<uint16_t>(Code::Instruction);
  Ops.push_back(Stop);
  return Machine->run(Ops.data(), /*Stop=*/0);
}

void ProgramCompiler::prologue() {
  // push rbx; push r12; push r13: the stack is aligned as calls want it.
  bytes({0x53, 0x41, 0x54, 0x41, 0x55});
  // lea rbx, [rdi + bias]; mov r12, rsi; mov r13, rdx
  bytes({0x48, 0x8d, 0x9f});
  number(FrameBias);
  bytes({0x49, 0x89, 0xf4, 0x49, 0x89, 0xd5});
}

/// Returns where the count is.
uint8_t *ProgramCompiler::callInterpreter(const ReplayOp &First,
                                          uint32_t Count) {
  // lea rdi, [rbx - bias]
  bytes({0x48, 0x8d, 0xbb});
  number(-FrameBias);
  constant(RSI, reinterpret_cast<uint64_t>(&First));
  constant(RDX, Count);
  uint8_t *CountAt = Out - sizeof(Count);
  constant(RAX, reinterpret_cast<uint64_t>(&interpret));
  bytes({0xff, 0xd0}); // call rax
  spoil();
  return CountAt;
}

/// Of a load or store, in RAX.
void ProgramCompiler::address(bool Indexed, const ReplayOp &Op) {
  uint64_t Displacement = Op.Imm;
  if (Indexed) {
    load(RAX, Op.B, 8);
    if (Op.C)
      bytes({0x48, 0xc1, 0xe0, static_cast<uint8_t>(Op.C)}); // shl rax
    withPlace(0x03, true, RAX, Op.A);
    Displacement = static_cast<uint64_t>(int64_t(Op.Bias));
  } else if (Op.A == FrameZero) {
    spoil();
    return constant(RAX, Displacement);
  } else {
    load(RAX, Op.A, 8);
  }
  if (!Displacement)
    return;
  if (fits(Displacement)) {
    bytes({0x48, 0x05}); // add rax
    number(static_cast<uint32_t>(Displacement));
  } else {
    constant(RDX, Displacement);
    withRegister(0x03, true, RAX, RDX);
  }
}

/// RDX: the bytes of the page with the address in RAX, which becomes the place
/// in it. Table: R12 or R13, by its lowest three bits.
void ProgramCompiler::lookUp(unsigned Size, uint8_t Table, const ReplayOp &Op) {
  // mov edx, eax; shr edx, 12 - 4; and edx, (entries - 1) * 16
  bytes({0x89, 0xc2, 0xc1, 0xea, 0x08, 0x81, 0xe2});
  number<uint32_t>((ReplayMemory::TableSize - 1) * 16);
  // The last byte's page: lea rsi, [rax + size - 1]; shr rsi, 12
  bytes({0x48, 0x8d, 0x70, static_cast<uint8_t>(Size - 1)});
  bytes({0x48, 0xc1, 0xee, 0x0c});
  // cmp rsi, [table + rdx + 0]
  const uint8_t TableAndRdx = RDX << 3 | Table;
  bytes({0x49, 0x3b, 0x74, TableAndRdx, 0});
  detourIf(Condition::NotEqual, &Op);
  // mov rdx, [table + rdx + 8]; and eax, 4095
  bytes({0x49, 0x8b, 0x54, TableAndRdx, 8, 0x25});
  number<uint32_t>(CH_PAGE_SIZE - 1);
}

bool ProgramCompiler::loadMemory(unsigned Size, bool Indexed,
                                 const ReplayOp &Op) {
  address(Indexed, Op);
  lookUp(Size, 4, Op);
  switch (Size) { // from [rdx + rax]
  case 1:
    bytes({0x0f, 0xb6, 0x04, 0x02});
    break;
  case 2:
    bytes({0x0f, 0xb7, 0x04, 0x02});
    break;
  case 4:
    bytes({0x8b, 0x04, 0x02});
    break;
  case 8:
    bytes({0x48, 0x8b, 0x04, 0x02});
    break;
  case 32:
    bytes({0x0f, 0x10, 0x4c, 0x02, 16}); // movups xmm1, 16 bytes behind
    storeVector(Op.Dst + 16, 1);
    [[fallthrough]];
  default:
    bytes({0x0f, 0x10, 0x04, 0x02});
    storeVector(Op.Dst, 0);
    return detourEnds(/*Loads=*/false);
  }
  result(Op.Dst);
  return detourEnds(/*Loads=*/true);
}

bool ProgramCompiler::storeMemory(unsigned Size, bool Indexed,
                                  const ReplayOp &Op) {
  const uint32_t Value = Indexed ? Op.Dst : Op.B;
  if (Size < 16)
    load(RCX, Value, Size);
  else
    loadVector(0, Value);
  address(Indexed, Op);
  lookUp(Size, 5, Op);
  switch (Size) { // to [rdx + rax]
  case 1:
    bytes({0x88, 0x0c, 0x02});
    break;
  case 2:
    bytes({0x66, 0x89, 0x0c, 0x02});
    break;
  case 4:
    bytes({0x89, 0x0c, 0x02});
    break;
  case 8:
    bytes({0x48, 0x89, 0x0c, 0x02});
    break;
  default:
    bytes({0x0f, 0x11, 0x04, 0x02});
  }
  // mov byte [rdx + granule + beyond], 1, behind the page's bytes
  auto Mark = [&](Register Granule, uint32_t Beyond) {
    bytes({0xc6, 0x84, static_cast<uint8_t>(Granule << 3 | RDX)});
    number<uint32_t>(CH_PAGE_SIZE + Beyond);
    bytes({1});
  };
  if (Size > 1) // lea ecx, [rax + size - 1]; shr ecx, 3
    bytes({0x8d, 0x48, static_cast<uint8_t>(Size - 1), 0xc1, 0xe9, 3});
  bytes({0xc1, 0xe8, 3}); // shr eax, 3
  Mark(RAX, 0);
  if (Size > 8)
    Mark(RAX, 1);
  if (Size > 1)
    Mark(RCX, 0);
  return detourEnds(/*Loads=*/false);
}

/// Leaves the flags.
void ProgramCompiler::compare(unsigned Size, bool Immediate,
                              const ReplayOp &Op) {
  load(RAX, Op.A, Size);
  const bool Wide = Size == 8;
  if (Immediate) {
    const uint64_t Value =
        Wide ? Op.Imm : Op.Imm & ((uint64_t(1) << Size * 8) - 1);
    if (Value == 0) {
      withRegister(0x85, Wide, RAX, RAX); // test
    } else if (Wide && !fits(Value)) {
      constant(RCX, Value);
      withRegister(0x3b, true, RAX, RCX);
    } else {
      if (Wide)
        bytes({0x48});
      bytes({0x3d}); // cmp eax
      number(static_cast<uint32_t>(Value));
    }
  } else if (Size >= 4) {
    withPlace(0x3b, Wide, RAX, Op.B);
  } else {
    load(RCX, Op.B, Size);
    withRegister(0x3b, false, RAX, RCX);
  }
}

bool ProgramCompiler::comparison(Condition C, unsigned Size, bool Immediate,
                                 const ReplayOp &Op) {
  compare(Size, Immediate, Op);
  // set<condition> al
  bytes({0x0f, static_cast<uint8_t>(0x90 | static_cast<uint8_t>(C)), 0xc0});
  return result(Op.Dst, 1);
}

bool ProgramCompiler::exitIf(Condition C, unsigned Size, bool Immediate,
                             const ReplayOp &Op) {
  compare(Size, Immediate, Op);
  detourIf(C, &Op + 1);
  return true;
}

bool ProgramCompiler::arithmetic(Arithmetic A, unsigned Size, bool Immediate,
                                 const ReplayOp &Op) {
  uint32_t Left = Op.A, Right = Op.B;
  if (!Immediate && isHeld(Right) && A != Arithmetic::Sub)
    std::swap(Left, Right);
  load(RAX, Left, Size);
  const bool Wide = Size == 8;
  const uint8_t Opcode = static_cast<uint8_t>(static_cast<uint8_t>(A) << 3 | 3);
  if (Immediate && Wide && !fits(Op.Imm)) {
    constant(RCX, Op.Imm);
    withRegister(Opcode, true, RAX, RCX);
  } else if (Immediate) {
    withRegister(0x81, Wide, static_cast<unsigned>(A), RAX);
    number(static_cast<uint32_t>(Op.Imm));
  } else if (Size >= 4) {
    withPlace(Opcode, Wide, RAX, Right);
  } else {
    load(RCX, Right, Size);
    withRegister(Opcode, false, RAX, RCX);
  }
  return result(Op.Dst, Size);
}

bool ProgramCompiler::multiplication(unsigned Size, bool Immediate,
                                     const ReplayOp &Op) {
  load(RAX, Op.A, Size);
  if (Immediate)
    constant(RCX, Op.Imm);
  else
    load(RCX, Op.B, Size);
  if (Size == 8)
    bytes({0x48});
  bytes({0x0f, 0xaf, 0xc1}); // imul eax, ecx
  return result(Op.Dst, Size);
}

/// The processor counts amounts as op_Shl8 and the like do.
bool ProgramCompiler::shift(Shift S, unsigned Size, bool Immediate,
                            const ReplayOp &Op) {
  if (!Immediate)
    load(RCX, Op.B, 1);
  load(RAX, Op.A, Size);
  if (S == Shift::Signed && Size < 4) // movsx eax, al or ax
    bytes({0x0f, static_cast<uint8_t>(Size == 1 ? 0xbe : 0xbf), 0xc0});
  withRegister(Immediate ? 0xc1 : 0xd3, Size == 8, static_cast<unsigned>(S),
               RAX);
  if (Immediate)
    bytes({static_cast<uint8_t>(Op.Imm)});
  return result(Op.Dst, Size);
}

/// To 8 bytes if Wide, else to 4, of which Size count.
bool ProgramCompiler::signExtension(uint32_t Opcode, bool Wide, unsigned Size,
                                    const ReplayOp &Op) {
  spoil();
  withPlace(Opcode, Wide, RAX, Op.A);
  return result(Op.Dst, Size);
}

/// Two values of Size bytes, the high one first.
bool ProgramCompiler::join(unsigned Size, bool Immediate, const ReplayOp &Op) {
  if (Immediate)
    return false;
  load(RCX, Op.B, Size);
  load(RAX, Op.A, Size);
  if (Size == 8) {
    store(Op.Dst, RCX, 8);
    store(Op.Dst + 8, RAX, 8);
    return true;
  }
  bytes({0x48, 0xc1, 0xe0, static_cast<uint8_t>(Size * 8)}); // shl rax
  withRegister(0x0b, true, RAX, RCX);                        // or
  return result(Op.Dst);
}

/// SSE2's operations with a prefix of 66.
bool ProgramCompiler::vectors(uint8_t Opcode, unsigned Size,
                              const ReplayOp &Op) {
  for (unsigned Half = 0; Half < Size; Half += 16) {
    const unsigned N = Half / 8; // XMM0 and 1, then 2 and 3
    loadVector(N, Op.A + Half);
    loadVector(N + 1, Op.B + Half);
    bytes({0x66, 0x0f, Opcode, static_cast<uint8_t>(0xc0 | N << 3 | (N + 1))});
  }
  for (unsigned Half = 0; Half < Size; Half += 16)
    storeVector(Op.Dst + Half, Half / 8);
  return true;
}

bool ProgramCompiler::copy(unsigned Size, const ReplayOp &Op) {
  if (Size < 16) {
    load(RCX, Op.A, Size);
    store(Op.Dst, RCX, Size);
    return true;
  }
  for (unsigned Half = 0; Half < Size; Half += 16)
    loadVector(Half / 16, Op.A + Half);
  for (unsigned Half = 0; Half < Size; Half += 16)
    storeVector(Op.Dst + Half, Half / 16);
  return true;
}

bool ProgramCompiler::choice(unsigned Size, const ReplayOp &Op) {
  load(RCX, Op.C, Size);
  load(RDX, Op.B, Size);
  testByte(Op.A);
  bytes({0x48, 0x0f, 0x45, 0xca}); // cmovne rcx, rdx
  store(Op.Dst, RCX, 8);
  return true;
}

bool ProgramCompiler::clear(const ReplayOp &Op) {
  if (Op.A > 16)
    return false;
  bytes({0x0f, 0x57, 0xc0}); // xorps xmm0, xmm0
  for (unsigned N = 0; N < Op.A; ++N)
    storeVector(Op.Dst + 32 * N, 0);
  return true;
}

bool ProgramCompiler::setFlags(const ReplayOp &Op) {
  const bool Constant = Op.B == FrameZero;
  load(RCX, Op.A, 8);
  if (!Constant) {
    load(RDX, Op.B, 8);
    constant(RSI, Op.Imm);
    withRegister(0x03, true, RDX, RSI);
    store(CH_OFFSET_CC_DEP2, RDX, 8);
  }
  store(CH_OFFSET_CC_DEP1, RCX, 8);
  if (Constant)
    storeConstant(CH_OFFSET_CC_DEP2, Op.Imm, 8);
  storeConstant(CH_OFFSET_CC_OP, Op.Dst, 8);
  return true;
}

bool ProgramCompiler::call(const ReplayOp &Op) {
  const unsigned Size = Op.F >> 8;
  if (Size != 1 && Size != 2 && Size != 4 && Size != 8)
    return false;
  load(RDI, Op.A, 8);
  load(RSI, Op.B, 8);
  load(RDX, Op.C, 8);
  load(RCX, Op.D, 8);
  bytes({0x4c}); // the prefix that makes the number of RAX that of R8
  withPlace(0x8b, false, RAX, Op.E);
  constant(RAX, reinterpret_cast<uint64_t>(helper(Op.F & 0xff)));
  bytes({0xff, 0xd0}); // call rax
  spoil();
  store(Op.Dst, RAX, Size);
  return true;
}

bool ProgramCompiler::leave(const ReplayOp &Exit) {
  const bool IsNext = Exit.Code == static_cast<uint16_t>(Code::Next);
  const bool Computed =
      Exit.Code == static_cast<uint16_t>(Code::ExitComputed) ||
      (IsNext && Exit.A != FrameZero);
  if (Computed) {
    load(RAX, IsNext ? Exit.A : Exit.C, 8);
    if (IsNext && Exit.Imm) {
      constant(RCX, Exit.Imm);
      withRegister(0x03, true, RAX, RCX);
    }
    store(CH_OFFSET_RIP, RAX, 8);
  } else {
    storeConstant(CH_OFFSET_RIP, Exit.Imm, 8);
  }
  constant(RAX, Exit.B);
  epilogue();
  return true;
}

void ProgramCompiler::write(const Detour &D) {
  storeValue(D.From, static_cast<uint32_t>(Out - (D.From + 4)));
  spoil();
  if (!D.Op)
    return epilogue();
  if (!D.Back)
    return void(leave(*D.Op));
  callInterpreter(*D.Op, 1);
  if (D.Loads)
    load(RAX, D.Op->Dst, 8);
  bytes({0xe9}); // jmp
  number(static_cast<uint32_t>(D.Back - (Out + 4)));
}

uint8_t *ProgramCompiler::compile() {
  prologue();
  // Of the stretch of interpreted operations that ends here, if one does.
  uint8_t *StretchCount = nullptr;
  for (size_t I = 0; I < Ops.size();) {
    const ReplayOp &Op = Ops[I];
    const uint32_t Takes = takesNext(static_cast<Code>(Op.Code)) ? 2 : 1;
    I += Takes;
    if (operation(Op)) {
      StretchCount = nullptr;
    } else if (StretchCount) {
      storeValue(StretchCount, loadValue<uint32_t>(StretchCount) + Takes);
    } else {
      StretchCount = callInterpreter(Op, Takes);
      bytes({0x83, 0xf8, 0xff}); // cmp eax, Interpreter::Stopped
      detourIf(Condition::NotEqual, nullptr);
    }
  }
  for (const Detour &D : Detours)
    write(D);
  return Out;
}

} // namespace chronicle
