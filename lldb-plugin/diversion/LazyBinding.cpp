// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/diversion/LazyBinding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <cpuid.h>
#include <elf.h>

using namespace llvm;
using support::endian::read32le;
using support::endian::read64le;

namespace chronicle::diversion {

/// Where lazily bound calls of a module go; 0: there are none.
static Expected<uint64_t> resolverOf(MomentMemory &Memory, uint64_t Dynamic) {
  static constexpr uint64_t MostEntries = 64, EntrySize = 16;
  Expected<std::vector<uint8_t>> Section =
      Memory.read(Dynamic, MostEntries * EntrySize);
  if (!Section)
    return Section.takeError();
  for (size_t I = 0; I + EntrySize <= Section->size(); I += EntrySize) {
    const uint64_t Tag = read64le(&(*Section)[I]);
    if (Tag == DT_NULL)
      break;
    if (Tag != DT_PLTGOT)
      continue;
    // The linker has stored itself in the third entry of the table.
    Expected<std::vector<uint8_t>> Entry =
        Memory.read(read64le(&(*Section)[I + 8]) + 16, 8);
    if (!Entry)
      return Entry.takeError();
    return Entry->size() == 8 ? read64le(Entry->data()) : 0;
  }
  return 0;
}

Error fitLazyBinding(MomentMemory &Memory, ArrayRef<uint64_t> Dynamic) {
  unsigned Size, B, C, D;
  // The size with all registers that the system has switched on.
  if (!__get_cpuid_count(0xd, 0, &B, &Size, &C, &D))
    return Error::success();
  uint64_t Resolver = 0;
  for (uint64_t Each : Dynamic) {
    if (Error E = resolverOf(Memory, Each).moveInto(Resolver))
      return E;
    if (Resolver)
      break;
  }
  if (!Resolver)
    return Error::success();
  Expected<std::vector<uint8_t>> Code = Memory.read(Resolver, 64);
  if (!Code)
    return Code.takeError();
  // sub size(%rip), %rsp
  static constexpr uint8_t Subtract[] = {0x48, 0x2b, 0x25};
  static constexpr size_t Length = sizeof(Subtract) + 4;
  const auto Found = std::search(Code->begin(), Code->end(),
                                 std::begin(Subtract), std::end(Subtract));
  const size_t At = Found - Code->begin();
  if (At + Length > Code->size())
    return Error::success(); // it saves the registers in another way
  const uint64_t Variable =
      Resolver + At + Length + int32_t(read32le(&(*Code)[At + 3]));
  Expected<std::vector<uint8_t>> Known = Memory.read(Variable, 8);
  if (!Known)
    return Known.takeError();
  // glibc keeps its own registers in the first 64 bytes.
  const uint64_t Needed = alignTo(uint64_t(Size) + 64, 64);
  if (Known->size() < 8 || read64le(Known->data()) >= Needed)
    return Error::success();
  uint8_t Bytes[8];
  support::endian::write64le(Bytes, Needed);
  return Memory.write(Variable, Bytes);
}

} // namespace chronicle::diversion
