// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/code/CodeFacts.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::code {

Expected<std::unique_ptr<const CodeFacts>>
CodeFacts::create(ArrayRef<uint8_t> Definition) {
  Expected<bytecode::BytecodeReader> Reader =
      bytecode::BytecodeReader::create(Definition);
  if (!Reader)
    return Reader.takeError();
  const bytecode::DefinitionHeader &Header = Reader->header();
  std::unique_ptr<CodeFacts> F(new CodeFacts);
  F->Start = Header.Address;
  F->Offsets.reserve(std::min<size_t>(Header.Instructions, Definition.size()));
  F->Exits.reserve(Header.Exits + 1);
  uint32_t Offset = 0;
  bytecode::Statement S;
  while (Reader->nextFlow(S)) {
    switch (S.Opcode) {
    case CH_OP_INSTRUCTION:
      F->Offsets.push_back(uint16_t(Offset));
      Offset += S.Size;
      break;
    case CH_OP_STACK_POINTER:
      F->StackSets.push_back(
          {uint16_t(F->Offsets.empty() ? 0 : F->Offsets.size() - 1),
           S.Origin == CH_STACK_ELSEWHERE});
      break;
    default:
      F->Exits.push_back({uint16_t(F->Offsets.size()),
                          uint16_t(F->StackSets.size()),
                          S.Jump,
                          {S.StackBase, S.StackDelta}});
    }
  }
  if (Error E = Reader->takeError())
    return E;
  F->Size = Offset;
  return F;
}

int CodeFacts::instructionAt(uint64_t Address) const {
  uint64_t Offset = Address - Start;
  auto It = llvm::lower_bound(Offsets, Offset);
  return It != Offsets.end() && *It == Offset ? int(It - Offsets.begin()) : -1;
}

bool CodeFacts::hasInstructionIn(uint64_t First, uint64_t Last) const {
  auto It = llvm::lower_bound(Offsets, First - std::min(First, Start));
  return It != Offsets.end() && Start + *It <= Last;
}

} // namespace chronicle::code
