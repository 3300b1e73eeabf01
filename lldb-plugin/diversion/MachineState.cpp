// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/diversion/MachineState.h"
#include "llvm/ADT/StringExtras.h"
#include <cstddef>
#include <cstring>
#include <utility>

using namespace llvm;

namespace chronicle::diversion {

// Where the parts of an XSAVE area in its standard form are.
static constexpr size_t Fctrl = 0, Fstat = 2, Ftag = 4, Fop = 6, Fioff = 8,
                        Fooff = 16, Mxcsr = 24, St0 = 32, Xmm0 = 160,
                        Components = 512, Ymm0High = 576;
/// Always set in a process, whatever a debugger writes.
static constexpr uint64_t InterruptFlag = 0x200;

static const std::pair<StringRef, size_t> GeneralRegisters[] = {
    {"rax", offsetof(user_regs_struct, rax)},
    {"rbx", offsetof(user_regs_struct, rbx)},
    {"rcx", offsetof(user_regs_struct, rcx)},
    {"rdx", offsetof(user_regs_struct, rdx)},
    {"rsi", offsetof(user_regs_struct, rsi)},
    {"rdi", offsetof(user_regs_struct, rdi)},
    {"rbp", offsetof(user_regs_struct, rbp)},
    {"rsp", offsetof(user_regs_struct, rsp)},
    {"r8", offsetof(user_regs_struct, r8)},
    {"r9", offsetof(user_regs_struct, r9)},
    {"r10", offsetof(user_regs_struct, r10)},
    {"r11", offsetof(user_regs_struct, r11)},
    {"r12", offsetof(user_regs_struct, r12)},
    {"r13", offsetof(user_regs_struct, r13)},
    {"r14", offsetof(user_regs_struct, r14)},
    {"r15", offsetof(user_regs_struct, r15)},
    {"rip", offsetof(user_regs_struct, rip)},
    {"eflags", offsetof(user_regs_struct, eflags)},
    {"fs_base", offsetof(user_regs_struct, fs_base)},
    {"gs_base", offsetof(user_regs_struct, gs_base)},
    {"orig_rax", offsetof(user_regs_struct, orig_rax)},
    {"cs", offsetof(user_regs_struct, cs)},
    {"ss", offsetof(user_regs_struct, ss)},
    {"ds", offsetof(user_regs_struct, ds)},
    {"es", offsetof(user_regs_struct, es)},
    {"fs", offsetof(user_regs_struct, fs)},
    {"gs", offsetof(user_regs_struct, gs)}};

static const struct {
  StringRef Name;
  size_t Offset, Size;
} Control[] = {{"fctrl", Fctrl, 2},     {"fstat", Fstat, 2},
               {"fop", Fop, 2},         {"fioff", Fioff, 4},
               {"fiseg", Fioff + 4, 4}, {"fooff", Fooff, 4},
               {"foseg", Fooff + 4, 4}, {"mxcsr", Mxcsr, 4}};

MutableArrayRef<uint8_t> MachineState::find(StringRef Name) {
  for (auto [Register, Offset] : GeneralRegisters)
    if (Name == Register)
      return {reinterpret_cast<uint8_t *>(&General) + Offset, 8};
  MutableArrayRef<uint8_t> Area = Extended;
  auto Part = [&](size_t Offset, size_t Size) -> MutableArrayRef<uint8_t> {
    if (Offset + Size > Area.size())
      return {};
    return Area.slice(Offset, Size);
  };
  for (const auto &Each : Control)
    if (Name == Each.Name)
      return Part(Each.Offset, Each.Size);
  const bool High = Name.starts_with("ymm") && Name.consume_back("h");
  unsigned Number;
  if (Name.consume_front("st") && !Name.getAsInteger(10, Number) && Number < 8)
    return Part(St0 + 16 * Number, 10);
  if (Name.consume_front("xmm") && !Name.getAsInteger(10, Number) &&
      Number < 16)
    return Part(Xmm0 + 16 * Number, 16);
  if (High && Name.consume_front("ymm") && !Name.getAsInteger(10, Number) &&
      Number < 16)
    return Part(Ymm0High + 16 * Number, 16);
  return {};
}

SmallVector<uint8_t, 32> MachineState::get(StringRef Name) const {
  if (Name != "ftag") {
    const MutableArrayRef<uint8_t> Found =
        const_cast<MachineState *>(this)->find(Name);
    return {Found.begin(), Found.end()};
  }
  // XSAVE has one bit per register, by its place and not by its distance from
  // the top: whether it is used. The long form says what is in it, too.
  uint16_t Tags = 0;
  const unsigned Top = Extended[Fstat + 1] >> 3 & 7;
  for (unsigned Place = 0; Place < 8; ++Place) {
    const uint8_t *Value = &Extended[St0 + 16 * ((Place - Top) & 7)];
    const unsigned Exponent = (Value[8] | Value[9] << 8) & 0x7fff;
    unsigned Tag = 0;
    if (!(Extended[Ftag] >> Place & 1))
      Tag = 3;
    else if (!Exponent && !(Value[0] | Value[1] | Value[2] | Value[3] |
                            Value[4] | Value[5] | Value[6] | Value[7]))
      Tag = 1;
    else if (!Exponent || Exponent == 0x7fff || !(Value[7] & 0x80))
      Tag = 2;
    Tags |= Tag << (2 * Place);
  }
  return {uint8_t(Tags), uint8_t(Tags >> 8)};
}

bool MachineState::set(StringRef Name, ArrayRef<uint8_t> Bytes) {
  if (Name == "ftag") {
    if (Bytes.size() < 2)
      return false;
    const unsigned Tags = Bytes[0] | Bytes[1] << 8;
    uint8_t Used = 0;
    for (unsigned Place = 0; Place < 8; ++Place)
      Used |= ((Tags >> (2 * Place) & 3) != 3) << Place;
    Extended[Ftag] = Used;
    return true;
  }
  MutableArrayRef<uint8_t> Found = find(Name);
  if (Found.empty())
    return false;
  // The processor ignores parts of the area that are not marked as present.
  if (Found.begin() >= Extended.data() &&
      Found.begin() < Extended.data() + Extended.size() &&
      Extended.size() > Components)
    Extended[Components] |= 7;
  const size_t Size = std::min(Found.size(), Bytes.size());
  memset(Found.data(), 0, Found.size());
  memcpy(Found.data(), Bytes.data(), Size);
  return true;
}

bool MachineState::operator==(const MachineState &Other) const {
  // Not the header of the area: the kernel marks parts as present by itself.
  auto Equal = [&](size_t First, size_t Size) {
    return Extended.size() >= First + Size &&
           Other.Extended.size() >= First + Size &&
           !memcmp(&Extended[First], &Other.Extended[First], Size);
  };
  user_regs_struct Mine = General, Theirs = Other.General;
  Mine.orig_rax = Theirs.orig_rax = 0;
  Mine.eflags |= InterruptFlag;
  Theirs.eflags |= InterruptFlag;
  return !memcmp(&Mine, &Theirs, sizeof(Mine)) && Equal(0, Xmm0 + 16 * 16) &&
         Equal(Ymm0High, 16 * 16);
}

} // namespace chronicle::diversion
