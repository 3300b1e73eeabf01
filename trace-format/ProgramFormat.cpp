// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/ProgramFormat.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace chronicle {

ProgramsWriter::ProgramsWriter(uint64_t Version, uint32_t Count) {
  Out.u64(Version);
  Out.u32(Count);
  Out.u32(0);
  FirstProgram = alignTo(StoredPrograms::HeadSize + 4 * uint64_t(Count), 8);
  const size_t Table = FirstProgram - Out.size();
  std::memset(Out.grow(Table), 0, Table);
}

bool ProgramsWriter::add(uint32_t Superblock, ArrayRef<uint8_t> Program) {
  assert(Program.size() % 8 == 0);
  const size_t Offset = Out.size();
  if (Offset + Program.size() > MaxPieceRawSize)
    return false;
  Out.bytes(Program);
  support::endian::write32le(
      Out.at(StoredPrograms::HeadSize + 4 * size_t(Superblock)),
      static_cast<uint32_t>(Offset));
  return true;
}

StoredPrograms StoredPrograms::create(ArrayRef<uint8_t> Payload,
                                      uint64_t Version) {
  StoredPrograms Result;
  if (Payload.size() < HeadSize ||
      reinterpret_cast<uintptr_t>(Payload.data()) % 8 ||
      support::endian::read64le(Payload.data()) != Version)
    return Result;
  const uint32_t Count = support::endian::read32le(Payload.data() + 8);
  if (Count > (Payload.size() - HeadSize) / 4)
    return Result;
  Result.Payload = Payload;
  Result.Count = Count;
  return Result;
}

} // namespace chronicle
