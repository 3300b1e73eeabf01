// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/control/InstructionDecoder.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace chronicle::control {

struct InstructionDecoder::Impl {
  std::unique_ptr<MCRegisterInfo> Registers;
  std::unique_ptr<MCAsmInfo> Asm;
  std::unique_ptr<MCSubtargetInfo> Subtarget;
  std::unique_ptr<MCInstrInfo> Instructions;
  std::unique_ptr<MCInstrAnalysis> Analysis;
  std::unique_ptr<MCContext> Context;
  std::unique_ptr<MCDisassembler> Disassembler;
};

static const Target &target() {
  static const Target *Result = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    std::string Problem;
    return TargetRegistry::lookupTarget(Triple("x86_64-linux-gnu"), Problem);
  }();
  assert(Result && "linked with the target");
  return *Result;
}

InstructionDecoder::InstructionDecoder() : I(std::make_unique<Impl>()) {
  const Target &T = target();
  const Triple Of("x86_64-linux-gnu");
  I->Registers.reset(T.createMCRegInfo(Of));
  I->Asm.reset(T.createMCAsmInfo(*I->Registers, Of, MCTargetOptions()));
  I->Subtarget.reset(T.createMCSubtargetInfo(Of, "", ""));
  I->Instructions.reset(T.createMCInstrInfo());
  I->Analysis.reset(T.createMCInstrAnalysis(I->Instructions.get()));
  I->Context = std::make_unique<MCContext>(Of, I->Asm.get(), I->Registers.get(),
                                           I->Subtarget.get());
  I->Disassembler.reset(T.createMCDisassembler(*I->Subtarget, *I->Context));
}

InstructionDecoder::~InstructionDecoder() = default;

std::optional<Decoded> InstructionDecoder::decode(ArrayRef<uint8_t> Bytes,
                                                  uint64_t Address) const {
  MCInst Inst;
  uint64_t Size = 0;
  if (I->Disassembler->getInstruction(Inst, Size, Bytes, Address, nulls()) !=
          MCDisassembler::Success ||
      !Size)
    return std::nullopt;
  Decoded Result;
  Result.Size = uint8_t(Size);
  const MCInstrDesc &About = I->Instructions->get(Inst.getOpcode());
  const bool HasTarget =
      I->Analysis->evaluateBranch(Inst, Address, Size, Result.Target);
  const StringRef Name = I->Instructions->getName(Inst.getOpcode());
  if (About.isReturn())
    Result.What = Decoded::Return;
  else if (About.isCall())
    Result.What = HasTarget ? Decoded::Call : Decoded::IndirectCall;
  else if (About.isConditionalBranch() || Name.starts_with("LOOP"))
    Result.What = HasTarget ? Decoded::Branch : Decoded::Plain;
  else if (About.isIndirectBranch())
    Result.What = Decoded::IndirectJump;
  else if (About.isUnconditionalBranch())
    Result.What = HasTarget ? Decoded::Jump : Decoded::IndirectJump;
  else if (About.isTrap() || Name == "HLT" || Name.starts_with("UD"))
    Result.What = Decoded::Trap;
  return Result;
}

} // namespace chronicle::control
