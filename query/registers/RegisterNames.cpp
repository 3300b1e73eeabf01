// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/registers/RegisterNames.h"
#include "trace-format/GuestState.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::registers {

namespace {
struct General {
  const char *Names[4]; ///< of 8, 4, 2 bytes and of one
  const char *High;     ///< of the second byte, or null
  uint32_t Offset;
};
} // namespace

/// In the order of DWARF's numbers.
static const General Generals[] = {
    {{"rax", "eax", "ax", "al"}, "ah", CH_OFFSET_RAX},
    {{"rdx", "edx", "dx", "dl"}, "dh", CH_OFFSET_RDX},
    {{"rcx", "ecx", "cx", "cl"}, "ch", CH_OFFSET_RCX},
    {{"rbx", "ebx", "bx", "bl"}, "bh", CH_OFFSET_RBX},
    {{"rsi", "esi", "si", "sil"}, nullptr, CH_OFFSET_RSI},
    {{"rdi", "edi", "di", "dil"}, nullptr, CH_OFFSET_RDI},
    {{"rbp", "ebp", "bp", "bpl"}, nullptr, CH_OFFSET_RBP},
    {{"rsp", "esp", "sp", "spl"}, nullptr, CH_OFFSET_RSP},
    {{"r8", "r8d", "r8w", "r8l"}, nullptr, CH_OFFSET_R8},
    {{"r9", "r9d", "r9w", "r9l"}, nullptr, CH_OFFSET_R9},
    {{"r10", "r10d", "r10w", "r10l"}, nullptr, CH_OFFSET_R10},
    {{"r11", "r11d", "r11w", "r11l"}, nullptr, CH_OFFSET_R11},
    {{"r12", "r12d", "r12w", "r12l"}, nullptr, CH_OFFSET_R12},
    {{"r13", "r13d", "r13w", "r13l"}, nullptr, CH_OFFSET_R13},
    {{"r14", "r14d", "r14w", "r14l"}, nullptr, CH_OFFSET_R14},
    {{"r15", "r15d", "r15w", "r15l"}, nullptr, CH_OFFSET_R15},
};
static constexpr uint32_t GeneralSizes[] = {8, 4, 2, 1};
static constexpr unsigned Vectors = 16, VectorSize = 32;
/// DWARF's number of xmm0.
static constexpr uint64_t FirstVector = 17;

std::vector<uint8_t> Register::valueIn(const answers::Registers &R) const {
  if (!Flags)
    return ArrayRef<uint8_t>(R.State).slice(Bytes.Offset, Bytes.Size).vec();
  std::vector<uint8_t> Value(8);
  support::endian::write64le(Value.data(), R.flags());
  return Value;
}

static std::optional<Register> generalNamed(StringRef Name) {
  for (const General &G : Generals) {
    for (unsigned I = 0; I < 4; ++I)
      if (Name == G.Names[I])
        return Register{Name.str(), {G.Offset, GeneralSizes[I]}};
    if (G.High && Name == G.High)
      return Register{Name.str(), {G.Offset + 1, 1}};
  }
  // gdb and the manuals of the processor call the low byte of r8 "r8b".
  if (Name.size() > 2 && Name.starts_with("r") && Name.ends_with("b"))
    return generalNamed((Name.drop_back() + "l").str());
  return std::nullopt;
}

static std::optional<Register> vectorNamed(StringRef Name) {
  StringRef Number = Name;
  const bool Wide = Number.consume_front("ymm");
  unsigned N;
  if ((!Wide && !Number.consume_front("xmm")) || Number.getAsInteger(10, N) ||
      N >= Vectors || std::to_string(N) != Number)
    return std::nullopt;
  return Register{
      Name.str(),
      {CH_OFFSET_YMM0 + VectorSize * N, Wide ? VectorSize : VectorSize / 2}};
}

Expected<Register> registerNamed(StringRef Given) {
  StringRef Name = Given;
  Name.consume_front("$");
  if (std::optional<Register> R = generalNamed(Name))
    return std::move(*R);
  if (std::optional<Register> R = vectorNamed(Name))
    return std::move(*R);
  if (Name == "rflags" || Name == "eflags" || Name == "flags")
    return Register{Name.str(),
                    {CH_OFFSET_CC_OP, CH_OFFSET_DFLAG + 8 - CH_OFFSET_CC_OP},
                    true};
  if (Name == "fs_base")
    return Register{Name.str(), {CH_OFFSET_FS_CONST, 8}};
  if (Name == "gs_base")
    return Register{Name.str(), {CH_OFFSET_GS_CONST, 8}};
  if (Name == "rip" || Name == "pc" || Name == "eip")
    return createStringError("every instruction writes the program counter; "
                             "'chronicle last-exec' finds code that ran");
  if (Name.starts_with("st") || Name.starts_with("mm"))
    return createStringError(formatv(
        "writes to '{0}' cannot be followed: which register of the x87 it is "
        "changes as values are pushed; ask for a general or vector register",
        Name));
  return createStringError(
      formatv("no register is called '{0}': give a general register (rax, eax, "
              "al), xmm0 to ymm15, rflags, fs_base or gs_base",
              Name));
}

std::optional<Register> registerNumbered(uint64_t DwarfNumber) {
  if (DwarfNumber < std::size(Generals))
    return Register{Generals[DwarfNumber].Names[0],
                    {Generals[DwarfNumber].Offset, 8}};
  if (DwarfNumber >= FirstVector && DwarfNumber < FirstVector + Vectors) {
    const auto N = unsigned(DwarfNumber - FirstVector);
    return Register{"xmm" + std::to_string(N),
                    {CH_OFFSET_YMM0 + VectorSize * N, VectorSize / 2}};
  }
  return std::nullopt;
}

std::string nameOf(answers::StateRange Bytes) {
  for (const General &G : Generals) {
    if (Bytes.Offset < G.Offset || Bytes.Offset >= G.Offset + 8)
      continue;
    if (G.High && Bytes.Offset == G.Offset + 1 && Bytes.Size == 1)
      return G.High;
    const uint32_t End = Bytes.Offset + Bytes.Size - G.Offset;
    for (unsigned I = 4; I-- > 0;)
      if (End <= GeneralSizes[I])
        return G.Names[I];
    return "";
  }
  const uint32_t End = CH_OFFSET_YMM0 + Vectors * VectorSize;
  if (Bytes.Offset >= CH_OFFSET_YMM0 && Bytes.Offset < End) {
    const uint32_t In = Bytes.Offset - CH_OFFSET_YMM0;
    return formatv("{0}mm{1}",
                   In % VectorSize + Bytes.Size <= VectorSize / 2 ? "x" : "y",
                   In / VectorSize);
  }
  if (Bytes.Offset >= CH_OFFSET_CC_OP && Bytes.Offset < CH_OFFSET_DFLAG + 8)
    return "rflags";
  if (Bytes.Offset >= CH_OFFSET_FPREG && Bytes.Offset < CH_OFFSET_FPTAG)
    return "x87 stack";
  if (Bytes.Offset == CH_OFFSET_FS_CONST)
    return "fs_base";
  if (Bytes.Offset == CH_OFFSET_GS_CONST)
    return "gs_base";
  if (Bytes.Offset == CH_OFFSET_RIP)
    return "rip";
  return "";
}

} // namespace chronicle::registers
