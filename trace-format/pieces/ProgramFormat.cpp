// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/pieces/ProgramFormat.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace chronicle::pieces {

ProgramsWriter::ProgramsWriter(uint64_t Version, uint32_t Count,
                               ArrayRef<uint8_t> Passed) {
  Out.u64(Version);
  Out.u32(Count);
  Out.u32(static_cast<uint32_t>(Passed.size()));
  Out.u64(xxh3_64bits(Passed));
  const size_t Table = 4 * size_t(Count);
  std::memset(Out.grow(Table), 0, Table);
  Out.bytes(Passed);
  while (Out.size() % 8)
    Out.u8(0);
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
  const uint64_t Count = support::endian::read32le(Payload.data() + 8);
  const uint64_t Exits = support::endian::read32le(Payload.data() + 12);
  if (4 * Count + Exits > Payload.size() - HeadSize)
    return Result;
  Result.Payload = Payload;
  Result.Count = static_cast<uint32_t>(Count);
  Result.Exits = static_cast<uint32_t>(Exits);
  return Result;
}

ArrayRef<uint8_t> StoredPrograms::passed() const {
  if (!Exits)
    return {};
  ArrayRef<uint8_t> Passed = Payload.slice(HeadSize + 4 * size_t(Count), Exits);
  if (xxh3_64bits(Passed) != support::endian::read64le(Payload.data() + 16))
    return {};
  return Passed;
}

} // namespace chronicle::pieces
