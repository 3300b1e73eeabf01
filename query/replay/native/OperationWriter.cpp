// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/native/OperationWriter.h"
#include "query/replay/machine/Interpreter.h"
#include "query/replay/operations/Helpers.h"
#include "trace-format/GuestState.h"

using namespace llvm;
using namespace Xbyak;

namespace chronicle::native {

using machine::Interpreter;
using machine::ReplayMemory;
using program::Code;
using program::FrameZero;
using program::ReplayOp;

/// For an access that native code cannot do itself. Op is copied, because it
/// needs an end behind it.
static uint32_t interpretOne(Interpreter *Machine, const ReplayOp *Op) {
  ReplayOp Ops[2] = {*Op, {}};
  Ops[1].Code = static_cast<uint16_t>(Code::Instruction);
  return Machine->run(Ops, /*Stop=*/0);
}

static uint32_t interpretMany(Interpreter *Machine, const ReplayOp *Ops) {
  return Machine->run(Ops, /*Stop=*/0);
}

OperationWriter::OperationWriter(MutableArrayRef<uint8_t> Room, bool MarksReads)
    : FrameAssembler(Room), MarksReads(MarksReads),
      ForOne(writeEntry(interpretOne)), ForStretch(writeEntry(interpretMany)) {}

/// Programs call this code with RSI, and it goes on in the function, which gets
/// the interpreter as its first argument.
const uint8_t *OperationWriter::writeEntry(InterpreterFunction *Function) {
  const uint8_t *Entry = getCurr();
  lea(rdi, ptr[rbx - FrameBias]);
  mov(rax, reinterpret_cast<uint64_t>(Function));
  jmp(rax);
  return Entry;
}

void OperationWriter::callInterpreter(const uint8_t *Entry) {
  call(Entry);
  forgetHeld();
}

void OperationWriter::interpretStretch() {
  callInterpreter(ForStretch);
  cmp(eax, Interpreter::Stopped);
  detour(&CodeGenerator::jne, nullptr);
}

void OperationWriter::arithmetic(const Arithmetic &A, unsigned Size,
                                 bool Immediate, const ReplayOp &Op) {
  uint32_t Left = Op.A, Right = Op.B;
  if (!Immediate && isHeld(Right) && A.Commutes)
    std::swap(Left, Right);
  load(rax, Left, Size);
  // Below 4 bytes the wider instruction does the same to the lowest bytes.
  const Reg To = resize(rax, std::max(Size, 4u));
  if (Immediate && (Size < 8 || fitsSigned32(Op.Imm))) {
    (this->*A.WithConstant)(To, static_cast<uint32_t>(Op.Imm));
  } else if (Immediate) {
    mov(rcx, Op.Imm);
    (this->*A.WithOperand)(To, rcx);
  } else if (Size >= 4) {
    (this->*A.WithOperand)(To, frame(Right, Size));
  } else {
    load(rcx, Right, Size);
    (this->*A.WithOperand)(To, ecx);
  }
  storeResult(Op.Dst, Size);
}

void OperationWriter::multiplication(unsigned Size, bool Immediate,
                                     const ReplayOp &Op) {
  load(rax, Op.A, Size);
  if (Immediate)
    mov(rcx, Op.Imm);
  else
    load(rcx, Op.B, Size);
  imul(resize(rax, Size), resize(rcx, Size));
  storeResult(Op.Dst, Size);
}

/// The processor takes the amount modulo 32 or 64, as op_Shl8 and the other
/// shifts of the interpreter do.
void OperationWriter::shift(const Shift &S, unsigned Size, bool Immediate,
                            const ReplayOp &Op) {
  if (!Immediate)
    load(rcx, Op.B, 1);
  load(rax, Op.A, Size);
  if (S.Signed && Size < 4)
    movsx(eax, resize(rax, Size));
  const Reg To = resize(rax, std::max(Size, 4u));
  if (Immediate)
    (this->*S.ByConstant)(To, static_cast<uint8_t>(Op.Imm));
  else
    (this->*S.ByRegister)(To, cl);
  storeResult(Op.Dst, Size);
}

void OperationWriter::complement(unsigned Size, const ReplayOp &Op) {
  load(rax, Op.A, Size);
  not_(resize(rax, std::max(Size, 4u)));
  storeResult(Op.Dst, Size);
}

void OperationWriter::complementBit(const ReplayOp &Op) {
  load(rax, Op.A, 1);
  xor_(eax, 1);
  storeResult(Op.Dst);
}

void OperationWriter::lowestBit(const ReplayOp &Op) {
  load(rax, Op.A, 1);
  and_(eax, 1);
  storeResult(Op.Dst);
}

void OperationWriter::trailingZeros(const ReplayOp &Op) {
  load(rcx, Op.A, 8);
  forgetHeld();
  mov(edx, 64);
  bsf(rax, rcx); // sets the zero flag, and no result, if RCX is zero
  cmove(rax, rdx);
  storeResult(Op.Dst);
}

/// Compares A with B or the constant, zero-extended, for the flags.
void OperationWriter::compare(unsigned Size, bool Immediate,
                              const ReplayOp &Op) {
  load(rax, Op.A, Size);
  const Reg Left = resize(rax, std::max(Size, 4u));
  if (Immediate) {
    const uint64_t Value = truncate(Op.Imm, Size);
    if (Value == 0) {
      test(Left, Left);
    } else if (Size == 8 && !fitsSigned32(Value)) {
      mov(rcx, Value);
      cmp(rax, rcx);
    } else {
      cmp(Left, static_cast<uint32_t>(Value));
    }
  } else if (Size >= 4) {
    cmp(Left, frame(Op.B, Size));
  } else {
    load(rcx, Op.B, Size);
    cmp(eax, ecx);
  }
}

void OperationWriter::comparison(const Condition &C, unsigned Size,
                                 bool Immediate, const ReplayOp &Op) {
  compare(Size, Immediate, Op);
  (this->*C.Set)(al);
  storeResult(Op.Dst, 1);
}

void OperationWriter::zeroExtension(unsigned From, const ReplayOp &Op) {
  load(rax, Op.A, From);
  storeResult(Op.Dst);
}

void OperationWriter::signExtension(unsigned From, unsigned To,
                                    const ReplayOp &Op) {
  forgetHeld();
  if (From == 4)
    movsxd(rax, frame(Op.A, From));
  else
    movsx(resize(rax, std::max(To, 4u)), frame(Op.A, From));
  storeResult(Op.Dst, To);
}

void OperationWriter::join(unsigned Size, const ReplayOp &Op) {
  load(rcx, Op.B, Size);
  load(rax, Op.A, Size);
  if (Size == 8) {
    store(Op.Dst, rcx, 8);
    store(Op.Dst + 8, rax, 8);
    return;
  }
  shl(rax, static_cast<int>(Size * 8));
  or_(rax, rcx);
  storeResult(Op.Dst);
}

/// Dst may overlap the operands, so all of them are read first.
void OperationWriter::vector(Vector V, unsigned Size, const ReplayOp &Op) {
  for (unsigned Part = 0; Part < Size; Part += 16) {
    const Xmm Left(Part / 8), Right(Part / 8 + 1);
    loadVector(Left, Op.A + Part);
    loadVector(Right, Op.B + Part);
    (this->*V)(Left, Right);
  }
  for (unsigned Part = 0; Part < Size; Part += 16)
    storeVector(Op.Dst + Part, Xmm(Part / 8));
}

void OperationWriter::vectorOfInteger(unsigned Size, const ReplayOp &Op) {
  load(rax, Op.A, Size);
  storeConstant(Op.Dst + 8, 0, 8);
  storeResult(Op.Dst);
}

void OperationWriter::highestBits(const ReplayOp &Op) {
  loadVector(xmm0, Op.A);
  forgetHeld();
  pmovmskb(eax, xmm0);
  storeResult(Op.Dst);
}

void OperationWriter::copy(unsigned Size, const ReplayOp &Op) {
  if (Size < 16) {
    load(rcx, Op.A, Size);
    store(Op.Dst, rcx, Size);
    return;
  }
  for (unsigned Part = 0; Part < Size; Part += 16)
    loadVector(Xmm(Part / 16), Op.A + Part);
  for (unsigned Part = 0; Part < Size; Part += 16)
    storeVector(Op.Dst + Part, Xmm(Part / 16));
}

void OperationWriter::copyTwice(const ReplayOp &Op) {
  load(rcx, Op.A, 8);
  load(rdx, Op.C, 8);
  store(Op.Dst, rcx, 8);
  store(Op.B, rdx, 8);
}

void OperationWriter::copyAndConstant(const ReplayOp &Op) {
  load(rcx, Op.A, 8);
  store(Op.Dst, rcx, 8);
  storeConstant(Op.B, Op.Imm, 8);
}

void OperationWriter::twoConstants(const ReplayOp &Op) {
  storeConstant(Op.Dst, Op.Imm & 0xffffffff, 8);
  storeConstant(Op.A, Op.Imm >> 32, 8);
}

void OperationWriter::testGuard(uint32_t Place) { cmp(frame(Place, 1), 0); }

void OperationWriter::choice(unsigned Size, const ReplayOp &Op) {
  load(rcx, Op.C, Size);
  load(rdx, Op.B, Size);
  testGuard(Op.A);
  cmovne(rcx, rdx);
  store(Op.Dst, rcx, 8);
}

bool OperationWriter::clear(const ReplayOp &Op) {
  if (Op.A > 16)
    return false;
  xorps(xmm0, xmm0);
  for (unsigned N = 0; N < Op.A; ++N)
    storeVector(Op.Dst + 32 * N, xmm0);
  return true;
}

void OperationWriter::setFlags(const ReplayOp &Op) {
  const bool Constant = Op.B == FrameZero;
  load(rcx, Op.A, 8);
  if (!Constant) {
    load(rdx, Op.B, 8);
    if (Op.Imm)
      addConstant(rdx, Op.Imm, rsi);
    store(CH_OFFSET_CC_DEP2, rdx, 8);
  }
  store(CH_OFFSET_CC_DEP1, rcx, 8);
  if (Constant)
    storeConstant(CH_OFFSET_CC_DEP2, Op.Imm, 8);
  storeConstant(CH_OFFSET_CC_OP, Op.Dst, 8);
}

bool OperationWriter::helperCall(const ReplayOp &Op) {
  const unsigned Size = Op.F >> 8;
  if (Size != 1 && Size != 2 && Size != 4 && Size != 8)
    return false;
  load(rdi, Op.A, 8);
  load(rsi, Op.B, 8);
  load(rdx, Op.C, 8);
  load(rcx, Op.D, 8);
  load(r8, Op.E, 8);
  mov(rax, reinterpret_cast<uint64_t>(operations::helper(Op.F & 0xff)));
  call(rax);
  forgetHeld();
  store(Op.Dst, rax, Size);
  return true;
}

/// The address of a load or store goes to RAX. May change RDX.
void OperationWriter::memoryAddress(bool Indexed, const ReplayOp &Op) {
  uint64_t Displacement = Op.Imm;
  if (Indexed) {
    load(rax, Op.B, 8);
    if (Op.C)
      shl(rax, Op.C);
    add(rax, frame(Op.A, 8));
    Displacement = static_cast<uint64_t>(int64_t(Op.Bias));
  } else if (Op.A == FrameZero) {
    forgetHeld();
    mov(rax, Displacement);
    return;
  } else {
    load(rax, Op.A, 8);
  }
  if (Displacement)
    addConstant(rax, Displacement, rdx);
}

/// What ReplayMemory::load() and store() do to find the bytes of a page: RDX
/// points to the page that has the address in RAX, and RAX becomes the offset
/// in it. If the table does not have that page, or the access goes on in the
/// next one, the interpreter does Op instead. Changes RSI.
void OperationWriter::findPage(const Reg64 &Table, unsigned Size,
                               const ReplayOp &Op) {
  constexpr int PageBits = 12, EntryBits = 4; // an entry has 16 bytes
  mov(edx, eax);
  shr(edx, PageBits - EntryBits);
  and_(edx, (ReplayMemory::TableSize - 1) << EntryBits);
  lea(rsi, ptr[rax + (Size - 1)]); // the last byte must be in the same page
  shr(rsi, PageBits);
  cmp(rsi, ptr[Table + rdx]);
  detour(&CodeGenerator::jne, &Op);
  mov(rdx, ptr[Table + rdx + 8]);
  and_(eax, CH_PAGE_SIZE - 1);
}

void OperationWriter::loadMemory(unsigned Size, bool Indexed,
                                 const ReplayOp &Op) {
  memoryAddress(Indexed, Op);
  findPage(r12, Size, Op);
  if (MarksReads)
    markRead(Size);
  if (Size >= 16) {
    for (unsigned Part = 0; Part < Size; Part += 16) {
      movups(xmm0, ptr[rdx + rax + Part]);
      storeVector(Op.Dst + Part, xmm0);
    }
    return endDetour(/*Loads=*/false);
  }
  const Address From(Size * 8, false, rdx + rax);
  if (Size < 4)
    movzx(eax, From);
  else
    mov(resize(rax, Size), From);
  storeResult(Op.Dst);
  endDetour(/*Loads=*/true);
}

void OperationWriter::storeMemory(unsigned Size, bool Indexed,
                                  const ReplayOp &Op) {
  const uint32_t Value = Indexed ? Op.Dst : Op.B;
  if (Size == 16)
    loadVector(xmm0, Value);
  else
    load(rcx, Value, Size);
  memoryAddress(Indexed, Op);
  findPage(r13, Size, Op);
  if (Size == 16)
    movups(ptr[rdx + rax], xmm0);
  else
    mov(ptr[rdx + rax], resize(rcx, Size));
  markWritten(Size);
  endDetour(/*Loads=*/false);
}

static constexpr int GranuleBits = 3;

/// Flags the granules of Size bytes as written: RDX points to their page, RAX
/// is the offset in it. Changes RAX and RCX.
void OperationWriter::markWritten(unsigned Size) {
  auto Mark = [&](const Reg64 &Granule, unsigned Beyond) {
    // The flags are behind the page's bytes.
    mov(byte[rdx + Granule + (CH_PAGE_SIZE + Beyond)], 1);
  };
  if (Size > 1) {
    lea(ecx, ptr[rax + (Size - 1)]);
    shr(ecx, GranuleBits);
  }
  shr(eax, GranuleBits);
  Mark(rax, 0);
  if (Size > 8)
    Mark(rax, 1);
  if (Size > 1)
    Mark(rcx, 0);
}

/// Flags the granules of Size bytes as read: RDX points to their page, RAX is
/// the offset in it. Changes RCX and RSI.
void OperationWriter::markRead(unsigned Size) {
  auto Mark = [&](const Reg64 &Granule, unsigned Beyond) {
    mov(byte[rdx + Granule +
             (static_cast<uint32_t>(ReplayMemory::ReadFlags) + Beyond)],
        1);
  };
  mov(esi, eax);
  shr(esi, GranuleBits);
  Mark(rsi, 0);
  for (unsigned I = 1; I * GranuleSize < Size; ++I)
    Mark(rsi, I);
  if (Size == 1)
    return;
  lea(ecx, ptr[rax + (Size - 1)]);
  shr(ecx, GranuleBits);
  Mark(rcx, 0);
}

void OperationWriter::exitIfGuard(const ReplayOp &Op) {
  testGuard(Op.A);
  detour(&CodeGenerator::jne, &Op);
}

void OperationWriter::exitIf(const Condition &C, unsigned Size, bool Immediate,
                             const ReplayOp &Op) {
  compare(Size, Immediate, Op);
  detour(C.Jump, &Op + 1);
}

void OperationWriter::leave(const ReplayOp &Exit) {
  const bool IsNext = Exit.Code == static_cast<uint16_t>(Code::Next);
  const bool Computed =
      Exit.Code == static_cast<uint16_t>(Code::ExitComputed) ||
      (IsNext && Exit.A != FrameZero);
  if (Computed) {
    load(rax, IsNext ? Exit.A : Exit.C, 8);
    if (IsNext && Exit.Imm)
      addConstant(rax, Exit.Imm, rcx);
    store(CH_OFFSET_RIP, rax, 8);
  } else {
    storeConstant(CH_OFFSET_RIP, Exit.Imm, 8);
  }
  mov(eax, Exit.B);
  epilogue();
}

void OperationWriter::prologue() {
  forgetHeld();
  // Three registers: the stack is then aligned as calls need it.
  push(rbx);
  push(r12);
  push(r13);
  lea(rbx, ptr[rdi + FrameBias]);
  mov(r12, rsi);
  mov(r13, rdx);
}

void OperationWriter::epilogue() {
  pop(r13);
  pop(r12);
  pop(rbx);
  ret();
}

void OperationWriter::detour(void (CodeGenerator::*Jump)(const Label &,
                                                         LabelType),
                             const ReplayOp *Op) {
  Detours.push_back({Label(), nullptr, Op, false});
  (this->*Jump)(Detours.back().Entry, T_NEAR);
}

/// The last detour goes on here.
void OperationWriter::endDetour(bool Loads) {
  Detours.back().Back = getCurr();
  Detours.back().Loads = Loads;
}

void OperationWriter::write(Detour &D) {
  L(D.Entry);
  forgetHeld();
  if (!D.Op)
    return epilogue();
  if (!D.Back)
    return leave(*D.Op);
  mov(rsi, reinterpret_cast<uint64_t>(D.Op));
  callInterpreter(ForOne);
  if (D.Loads)
    load(rax, D.Op->Dst, 8);
  jmp(D.Back);
}

void OperationWriter::writeDetours() {
  for (Detour &D : Detours)
    write(D);
  Detours.clear();
}

} // namespace chronicle::native
