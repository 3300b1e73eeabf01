// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/registers/RegisterFacts.h"
#include "trace-format/GuestState.h"
#include "trace-format/bytecode/BytecodeReader.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::registers {

static_assert(CH_GUEST_STATE_SIZE <= 128 * 8, "Words has too few bits");

void RegisterFacts::add(Words &To, uint32_t Offset, uint32_t Size) {
  for (uint32_t Word = Offset / 8; Word <= (Offset + Size - 1) / 8; ++Word)
    To[Word / 64] |= uint64_t(1) << Word % 64;
}

Expected<std::unique_ptr<const RegisterFacts>>
RegisterFacts::create(ArrayRef<uint8_t> Definition) {
  Expected<bytecode::BytecodeReader> Reader =
      bytecode::BytecodeReader::create(Definition);
  if (!Reader)
    return Reader.takeError();
  std::unique_ptr<RegisterFacts> F(new RegisterFacts);
  uint16_t Instructions = 0, Exits = 0;
  auto Add = [&](uint32_t Offset, uint32_t Size) {
    if (!Size || Offset == CH_OFFSET_RIP)
      return;
    const uint16_t Instruction = Instructions ? Instructions - 1 : 0;
    F->Writes.push_back({Instruction, Exits, uint16_t(Offset), uint16_t(Size)});
    add(F->Written, Offset, Size);
  };
  bytecode::Statement S;
  while (Reader->next(S)) {
    switch (S.Opcode) {
    case CH_OP_INSTRUCTION:
      ++Instructions;
      break;
    case CH_OP_EXIT:
      ++Exits;
      break;
    case CH_OP_PUT:
      Add(S.Offset, bytecode::typeSize(S.Type));
      break;
    case CH_OP_PUT_INDEXED:
      // Which element it is, only replay knows.
      Add(S.Offset, S.Elements * bytecode::typeSize(S.Type));
      break;
    case CH_OP_OPAQUE_REGISTERS:
      Add(S.Offset, S.Size);
      break;
    default:
      break;
    }
  }
  if (Error E = Reader->takeError())
    return E;
  return F;
}

Expected<const RegisterFacts *>
RegisterTable::facts(uint32_t Superblock) const {
  if (Superblock >= Known.size())
    return createStringError("there is no superblock %u", Superblock);
  Slot &S = Known[Superblock];
  if (const RegisterFacts *F = S.load(std::memory_order_acquire))
    return F;
  Expected<std::unique_ptr<const RegisterFacts>> F =
      RegisterFacts::create(Trace.definition(Superblock).Bytes);
  if (!F)
    return createStringError(formatv("superblock {0} is damaged: {1}",
                                     Superblock, toString(F.takeError())));
  std::lock_guard<std::mutex> Guard(Lock);
  if (const RegisterFacts *Others = S.load(std::memory_order_relaxed))
    return Others;
  S.store(F->get(), std::memory_order_release);
  Made.push_back(std::move(*F));
  return Made.back().get();
}

} // namespace chronicle::registers
