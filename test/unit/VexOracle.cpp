// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VexOracle.h"
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sys/mman.h>

extern "C" {
#include "libvex.h"
#include "libvex_guest_amd64.h"
#include "libvex_ir.h"

// Enters generated code with %rbp at the guest state, and takes control back
// when the code wants to leave. Precision and rounding are those that
// Valgrind's dispatcher sets up.
void chronicleRunTranslation(void *State, void *Code);
void chronicleEndTranslation(void);
__asm__(R"(
  .text
  .globl chronicleRunTranslation
chronicleRunTranslation:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  sub $24, %rsp
  fnstcw 8(%rsp)
  movw $0x027f, 16(%rsp)
  fldcw 16(%rsp)
  mov %rdi, %rbp
  mov %rsp, chronicleSavedStack(%rip)
  call *%rsi
  .globl chronicleEndTranslation
chronicleEndTranslation:
  mov chronicleSavedStack(%rip), %rsp
  fldcw 8(%rsp)
  add $24, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret
  .bss
  .p2align 3
chronicleSavedStack:
  .quad 0
  .previous
)");
}

namespace chronicle {

namespace {

struct OperationTypes {
  IROp Op;
  IRType Result;
  int Arity;
  IRType Operands[4];
};
const OperationTypes Operations[] = {
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D)                          \
  {Iop_##Name, Ity_##Result, Arity, {Ity_##A, Ity_##B, Ity_##C, Ity_##D}},
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
};

// Operands and result are in the first YMM registers.
constexpr int OperandOffset = 224, ResultOffset = 480;

struct {
  VexGuestAMD64State Guest, Shadow1, Shadow2;
  uint8_t Spill[LibVEX_N_SPILL_BYTES + 4096];
} __attribute__((aligned(32))) State;
jmp_buf Failed;
const OperationTypes *Current;
uint8_t *Code;
constexpr int CodeSize = 65536;

__attribute__((noreturn)) void failureExit() { longjmp(Failed, 1); }
void logBytes(const HChar *, SizeT) {}
Bool chase(void *, Addr) { return False; }
UInt selfCheck(void *, VexRegisterUpdates *, const VexGuestExtents *) {
  return 0;
}

IRExpr *assign(IRSB *SB, IRType Type, IRExpr *Value) {
  IRTemp Temp = newIRTemp(SB->tyenv, Type);
  addStmtToIRSB(SB, IRStmt_WrTmp(Temp, Value));
  return IRExpr_RdTmp(Temp);
}

IRExpr *readOperand(IRSB *SB, IRType Type, int Offset) {
  if (Type == Ity_I1)
    return assign(SB, Type,
                  IRExpr_Unop(Iop_64to1, assign(SB, Ity_I64,
                                                IRExpr_Get(Offset, Ity_I64))));
  if (Type == Ity_I128) {
    IRExpr *Low = assign(SB, Ity_I64, IRExpr_Get(Offset, Ity_I64));
    IRExpr *High = assign(SB, Ity_I64, IRExpr_Get(Offset + 8, Ity_I64));
    return assign(SB, Type, IRExpr_Binop(Iop_64HLto128, High, Low));
  }
  return assign(SB, Type, IRExpr_Get(Offset, Type));
}

void writeResult(IRSB *SB, IRType Type, IRExpr *Value) {
  if (Type == Ity_I1) {
    Value = assign(SB, Ity_I64, IRExpr_Unop(Iop_1Uto64, Value));
  } else if (Type == Ity_I128) {
    IRExpr *Low = assign(SB, Ity_I64, IRExpr_Unop(Iop_128to64, Value));
    IRExpr *High = assign(SB, Ity_I64, IRExpr_Unop(Iop_128HIto64, Value));
    addStmtToIRSB(SB, IRStmt_Put(ResultOffset, Low));
    addStmtToIRSB(SB, IRStmt_Put(ResultOffset + 8, High));
    return;
  }
  addStmtToIRSB(SB, IRStmt_Put(ResultOffset, Value));
}

IRSB *instrument(void *, IRSB *, const VexGuestLayout *,
                 const VexGuestExtents *, const VexArchInfo *, IRType, IRType) {
  IRSB *SB = emptyIRSB();
  IRExpr *Arguments[4] = {};
  for (int I = 0; I < Current->Arity; ++I)
    Arguments[I] =
        readOperand(SB, Current->Operands[I], OperandOffset + 32 * I);
  IRExpr *Value = nullptr;
  switch (Current->Arity) {
  case 1:
    Value = IRExpr_Unop(Current->Op, Arguments[0]);
    break;
  case 2:
    Value = IRExpr_Binop(Current->Op, Arguments[0], Arguments[1]);
    break;
  case 3:
    Value = IRExpr_Triop(Current->Op, Arguments[0], Arguments[1], Arguments[2]);
    break;
  case 4:
    Value = IRExpr_Qop(Current->Op, Arguments[0], Arguments[1], Arguments[2],
                       Arguments[3]);
    break;
  }
  writeResult(SB, Current->Result, assign(SB, Current->Result, Value));
  SB->next = IRExpr_Const(IRConst_U64(0x1234));
  SB->jumpkind = Ijk_Boring;
  SB->offsIP = offsetof(VexGuestAMD64State, guest_RIP);
  return SB;
}

} // namespace

VexOracle::VexOracle() {
  static bool Ready = false;
  if (Ready)
    return;
  Ready = true;
  VexControl Control;
  LibVEX_default_VexControl(&Control);
  Control.iropt_unroll_thresh = 0;
  LibVEX_Init(failureExit, logBytes, 0, &Control);
  Code = static_cast<uint8_t *>(mmap(nullptr, CodeSize,
                                     PROT_READ | PROT_WRITE | PROT_EXEC,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (Code == MAP_FAILED)
    abort();
}

bool VexOracle::compile(unsigned N) {
  Current = &Operations[N];
  IRType Result = Ity_INVALID,
         Types[4] = {Ity_INVALID, Ity_INVALID, Ity_INVALID, Ity_INVALID};
  if (setjmp(Failed))
    return false;
  typeOfPrimop(Current->Op, &Result, &Types[0], &Types[1], &Types[2],
               &Types[3]);
  if (Result != Current->Result)
    return false;
  for (int I = 0; I < 4; ++I)
    if (Types[I] != (I < Current->Arity ? Current->Operands[I] : Ity_INVALID))
      return false;

  static const UChar Guest[] = {0x90, 0xc3};
  VexTranslateArgs Arguments;
  memset(&Arguments, 0, sizeof(Arguments));
  VexArchInfo Machine;
  LibVEX_default_VexArchInfo(&Machine);
  Machine.endness = VexEndnessLE;
  Machine.hwcaps = VEX_HWCAPS_AMD64_SSE3 | VEX_HWCAPS_AMD64_SSSE3 |
                   VEX_HWCAPS_AMD64_CX16 | VEX_HWCAPS_AMD64_LZCNT |
                   VEX_HWCAPS_AMD64_AVX | VEX_HWCAPS_AMD64_AVX2 |
                   VEX_HWCAPS_AMD64_BMI | VEX_HWCAPS_AMD64_RDTSCP |
                   VEX_HWCAPS_AMD64_F16C | VEX_HWCAPS_AMD64_RDRAND;
  VexAbiInfo Abi;
  LibVEX_default_VexAbiInfo(&Abi);
  Abi.guest_stack_redzone_size = 128;
  Abi.guest_amd64_assume_fs_is_const = True;
  Abi.guest_amd64_assume_gs_is_const = True;
  VexGuestExtents Extents;
  Int Used = 0;
  Arguments.arch_guest = Arguments.arch_host = VexArchAMD64;
  Arguments.archinfo_guest = Arguments.archinfo_host = Machine;
  Arguments.abiinfo_both = Abi;
  Arguments.guest_bytes = Guest;
  Arguments.guest_bytes_addr = 0x400000;
  Arguments.chase_into_ok = chase;
  Arguments.guest_extents = &Extents;
  Arguments.host_bytes = Code;
  Arguments.host_bytes_size = CodeSize;
  Arguments.host_bytes_used = &Used;
  Arguments.instrument1 = instrument;
  Arguments.needs_self_check = selfCheck;
  Arguments.sigill_diag = True;
  const void *End = reinterpret_cast<const void *>(chronicleEndTranslation);
  Arguments.disp_cp_chain_me_to_slowEP = End;
  Arguments.disp_cp_chain_me_to_fastEP = End;
  Arguments.disp_cp_xindir = End;
  Arguments.disp_cp_xassisted = End;
  return LibVEX_Translate(&Arguments).status == VexTranslateResult::VexTransOK;
}

void VexOracle::run(const uint8_t Operands[4][32], uint8_t Result[32]) {
  uint8_t *Guest = reinterpret_cast<uint8_t *>(&State.Guest);
  memcpy(Guest + OperandOffset, Operands, 4 * 32);
  State.Guest.host_EvC_COUNTER = 1000;
  State.Guest.host_EvC_FAILADDR =
      reinterpret_cast<ULong>(chronicleEndTranslation);
  chronicleRunTranslation(&State, Code);
  memcpy(Result, Guest + ResultOffset, 32);
}

extern "C" {
// The helpers have different numbers of arguments. All arguments are 64-bit
// words in registers, so surplus ones do no harm.
#define CH_HELPER(Name)                                                        \
  uint64_t Name(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
#include "trace-format/ReplayHelpers.def"
#undef CH_HELPER
}

uint64_t callVexHelper(unsigned N, const uint64_t *Arguments) {
  using Helper = uint64_t (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
  static const Helper Helpers[] = {
#define CH_HELPER(Name) Name,
#include "trace-format/ReplayHelpers.def"
#undef CH_HELPER
  };
  return Helpers[N](Arguments[0], Arguments[1], Arguments[2], Arguments[3],
                    Arguments[4]);
}

} // namespace chronicle
