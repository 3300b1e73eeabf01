// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/ProcessImage.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"
#include <elf.h>

using namespace llvm;
using support::endian::read32le;
using support::endian::read64le;

namespace chronicle {

/// Longer lists than this are garbage, not lists.
static constexpr unsigned MostModules = 4096;
static constexpr size_t LongestName = 4096;

/// Whatever of the range is mapped from its start on.
static Expected<std::vector<uint8_t>>
readUpTo(const Trace &T, uint64_t Address, uint64_t Length, Timestamp Time) {
  Expected<MemoryContents> M = T.memory(Address, Length, Time);
  if (!M)
    return M.takeError();
  if (M->Mapped.empty() || M->Mapped.front().first != 0)
    M->Bytes.clear();
  else
    M->Bytes.resize(M->Mapped.front().second);
  return std::move(M->Bytes);
}

Expected<std::vector<uint8_t>> auxiliaryVector(const Trace &T) {
  Expected<uint32_t> First = T.threadAt(0);
  if (!First)
    return First.takeError();
  Expected<Registers> R = T.registers(*First, 0);
  if (!R)
    return R.takeError();
  Expected<std::vector<uint8_t>> Stack = readUpTo(T, R->rsp(), 4 << 20, 0);
  if (!Stack)
    return Stack.takeError();
  // argc, argv, 0, environment, 0, pairs up to AT_NULL.
  size_t At = 8, Nulls = 0;
  for (; At + 8 <= Stack->size() && Nulls < 2; At += 8)
    Nulls += read64le(&(*Stack)[At]) == 0;
  size_t Start = At;
  for (; At + 16 <= Stack->size(); At += 16)
    if (read64le(&(*Stack)[At]) == AT_NULL)
      return std::vector<uint8_t>(Stack->begin() + Start,
                                  Stack->begin() + At + 16);
  return createStringError("the initial stack has no auxiliary vector");
}

static uint64_t auxiliaryValue(ArrayRef<uint8_t> Vector, uint64_t Type) {
  for (; Vector.size() >= 16; Vector = Vector.drop_front(16))
    if (read64le(Vector.data()) == Type)
      return read64le(Vector.data() + 8);
  return 0;
}

Expected<uint64_t> debugSlot(const Trace &T, ArrayRef<uint8_t> Vector,
                             Timestamp Time) {
  uint64_t Headers = auxiliaryValue(Vector, AT_PHDR);
  uint64_t Count = std::min<uint64_t>(auxiliaryValue(Vector, AT_PHNUM), 256);
  Expected<std::vector<uint8_t>> Table =
      readUpTo(T, Headers, Count * sizeof(Elf64_Phdr), Time);
  if (!Table)
    return Table.takeError();
  uint64_t Bias = 0, Dynamic = 0, Size = 0;
  for (size_t At = 0; At + sizeof(Elf64_Phdr) <= Table->size();
       At += sizeof(Elf64_Phdr)) {
    const uint8_t *Header = &(*Table)[At];
    uint64_t Address = read64le(Header + offsetof(Elf64_Phdr, p_vaddr));
    uint32_t Type = read32le(Header + offsetof(Elf64_Phdr, p_type));
    if (Type == PT_PHDR)
      Bias = Headers - Address;
    if (Type == PT_DYNAMIC) {
      Dynamic = Address;
      Size = read64le(Header + offsetof(Elf64_Phdr, p_memsz));
    }
  }
  if (!Dynamic)
    return 0;
  Expected<std::vector<uint8_t>> Section =
      readUpTo(T, Bias + Dynamic, std::min<uint64_t>(Size, 1 << 16), Time);
  if (!Section)
    return Section.takeError();
  for (size_t At = 0; At + 16 <= Section->size(); At += 16)
    if (read64le(&(*Section)[At]) == DT_DEBUG)
      return Bias + Dynamic + At + 8;
  return 0;
}

/// What the slot holds at Time: 0 until the dynamic linker has filled it.
static Expected<uint64_t>
debugStructure(const Trace &T, ArrayRef<uint8_t> Vector, Timestamp Time) {
  Expected<uint64_t> Slot = debugSlot(T, Vector, Time);
  if (!Slot || !*Slot)
    return Slot;
  Expected<std::vector<uint8_t>> Value = readUpTo(T, *Slot, 8, Time);
  if (!Value)
    return Value.takeError();
  return Value->size() == 8 ? read64le(Value->data()) : 0;
}

Expected<std::vector<LinkedModule>>
linkedModules(const Trace &T, ArrayRef<uint8_t> AuxiliaryVector,
              Timestamp Time) {
  std::vector<LinkedModule> Result;
  Expected<uint64_t> Debug = debugStructure(T, AuxiliaryVector, Time);
  if (!Debug)
    return Debug.takeError();
  if (!*Debug)
    return Result;
  // r_version, padding, r_map.
  Expected<std::vector<uint8_t>> Head = readUpTo(T, *Debug, 16, Time);
  if (!Head)
    return Head.takeError();
  uint64_t Entry = Head->size() == 16 ? read64le(&(*Head)[8]) : 0;
  while (Entry && Result.size() < MostModules) {
    // l_addr, l_name, l_ld, l_next.
    Expected<std::vector<uint8_t>> Map = readUpTo(T, Entry, 32, Time);
    if (!Map)
      return Map.takeError();
    if (Map->size() < 32)
      break;
    LinkedModule M;
    M.Entry = Entry;
    M.Bias = read64le(&(*Map)[0]);
    M.Dynamic = read64le(&(*Map)[16]);
    Expected<std::vector<uint8_t>> Name =
        readUpTo(T, read64le(&(*Map)[8]), LongestName, Time);
    if (!Name)
      return Name.takeError();
    M.Name.assign(Name->begin(), std::find(Name->begin(), Name->end(), 0));
    Entry = read64le(&(*Map)[24]);
    Result.push_back(std::move(M));
  }
  return Result;
}

} // namespace chronicle
