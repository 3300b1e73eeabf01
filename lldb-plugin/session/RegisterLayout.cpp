// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/session/RegisterLayout.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>

using namespace llvm;

namespace chronicle::session {
namespace {

using Value = SmallVector<uint8_t, 32>;

struct Entry {
  const char *Feature;
  const char *Type;
  const char *Group; ///< null: the debugger's default
  /// Reads the value if it has at most 8 bytes; else Bytes does.
  std::function<uint64_t(const answers::Registers &)> Word;
  std::function<Value(const answers::Registers &)> Bytes;
};

constexpr const char *Core = "org.gnu.gdb.i386.core";
constexpr const char *Sse = "org.gnu.gdb.i386.sse";
constexpr const char *Linux = "org.gnu.gdb.i386.linux";
constexpr const char *Segments = "org.gnu.gdb.i386.segments";
constexpr const char *Avx = "org.gnu.gdb.i386.avx";

unsigned stackTop(const answers::Registers &R) {
  return R.word(CH_OFFSET_FTOP) & 7;
}

/// The ten bytes that fstp would store. Valgrind keeps the x87 stack as
/// doubles.
Value x87Value(const answers::Registers &R, unsigned FromTop) {
  unsigned Place = (stackTop(R) + FromTop) & 7;
  APFloat F(APFloat::IEEEdouble(),
            APInt(64, R.word(CH_OFFSET_FPREG + 8 * Place)));
  bool Inexact;
  F.convert(APFloat::x87DoubleExtended(), APFloat::rmNearestTiesToEven,
            &Inexact);
  APInt Bits = F.bitcastToAPInt();
  Value Result(10);
  for (unsigned I = 0; I < 10; ++I)
    Result[I] = Bits.extractBitsAsZExtValue(8, 8 * I);
  return Result;
}

/// Two bits per register: 0 valid, 1 zero, 2 special, 3 empty.
uint64_t x87Tags(const answers::Registers &R) {
  uint64_t Full = R.word(CH_OFFSET_FPTAG), Tags = 0;
  for (unsigned Place = 0; Place < 8; ++Place) {
    APFloat F(APFloat::IEEEdouble(),
              APInt(64, R.word(CH_OFFSET_FPREG + 8 * Place)));
    uint64_t Tag = 0;
    if (!(Full >> (8 * Place) & 0xff))
      Tag = 3;
    else if (F.isZero())
      Tag = 1;
    else if (!F.isFinite())
      Tag = 2;
    Tags |= Tag << (2 * Place);
  }
  return Tags;
}

class Table {
public:
  Table() {
    static const std::pair<const char *, unsigned> General[] = {
        {"rax", CH_OFFSET_RAX}, {"rbx", CH_OFFSET_RBX}, {"rcx", CH_OFFSET_RCX},
        {"rdx", CH_OFFSET_RDX}, {"rsi", CH_OFFSET_RSI}, {"rdi", CH_OFFSET_RDI},
        {"rbp", CH_OFFSET_RBP}, {"rsp", CH_OFFSET_RSP}, {"r8", CH_OFFSET_R8},
        {"r9", CH_OFFSET_R9},   {"r10", CH_OFFSET_R10}, {"r11", CH_OFFSET_R11},
        {"r12", CH_OFFSET_R12}, {"r13", CH_OFFSET_R13}, {"r14", CH_OFFSET_R14},
        {"r15", CH_OFFSET_R15}, {"rip", CH_OFFSET_RIP}};
    for (auto [Name, Offset] : General) {
      StringRef N = Name;
      word(Core, Name, 8,
           N == "rip"                 ? "code_ptr"
           : N == "rsp" || N == "rbp" ? "data_ptr"
                                      : "int64",
           [Offset = Offset](const answers::Registers &R) {
             return R.word(Offset);
           });
    }
    word(Core, "eflags", 4, "i386_eflags",
         [](const answers::Registers &R) { return R.flags(); });
    // Linux gives every 64-bit process these selectors.
    fixed("cs", 0x33);
    fixed("ss", 0x2b);
    for (const char *Name : {"ds", "es", "fs", "gs"})
      fixed(Name, 0);
    GeneralOnly = false;
    for (unsigned I = 0; I < 8; ++I)
      bytes(Core, "st" + std::to_string(I), 10, "i387_ext", "float",
            [I](const answers::Registers &R) { return x87Value(R, I); });
    floating("fctrl", [](const answers::Registers &R) -> uint64_t {
      return 0x037f | (R.word(CH_OFFSET_FPROUND) & 3) << 10;
    });
    floating("fstat", [](const answers::Registers &R) -> uint64_t {
      return (R.word(CH_OFFSET_FC3210) & 0x4700) | stackTop(R) << 11;
    });
    floating("ftag", x87Tags);
    // Valgrind does not keep the address of the last x87 instruction.
    for (const char *Name : {"fiseg", "fioff", "foseg", "fooff", "fop"})
      floating(Name, [](const answers::Registers &) -> uint64_t { return 0; });
    for (unsigned I = 0; I < 16; ++I)
      bytes(Sse, "xmm" + std::to_string(I), 16, "vec128", "vector",
            [I](const answers::Registers &R) {
              ArrayRef<uint8_t> Ymm = R.ymm(I);
              return Value(Ymm.begin(), Ymm.begin() + 16);
            });
    word(Sse, "mxcsr", 4, "i386_mxcsr",
         [](const answers::Registers &R) -> uint64_t {
           return 0x1f80 | (R.word(CH_OFFSET_SSEROUND) & 3) << 13;
         });
    Entries.back().Group = "vector";
    // gdb recognises a Linux process by this register.
    word(Linux, "orig_rax", 8, "int",
         [](const answers::Registers &) { return ~uint64_t(0); });
    GeneralOnly = true;
    word(Segments, "fs_base", 8, "int", [](const answers::Registers &R) {
      return R.word(CH_OFFSET_FS_CONST);
    });
    word(Segments, "gs_base", 8, "int", [](const answers::Registers &R) {
      return R.word(CH_OFFSET_GS_CONST);
    });
    GeneralOnly = false;
    for (unsigned I = 0; I < 16; ++I)
      bytes(Avx, "ymm" + std::to_string(I) + "h", 16, "uint128", "vector",
            [I](const answers::Registers &R) {
              ArrayRef<uint8_t> Ymm = R.ymm(I);
              return Value(Ymm.begin() + 16, Ymm.begin() + 32);
            });
    describe();
  }

  std::vector<RegisterDescription> Layout;
  std::vector<Entry> Entries;
  std::string Xml;

private:
  bool GeneralOnly = true; ///< stop replies carry what is added now

  void word(const char *Feature, const char *Name, unsigned Bytes,
            const char *Type,
            std::function<uint64_t(const answers::Registers &)> Read) {
    Layout.push_back({Name, Bytes, GeneralOnly});
    Entries.push_back({Feature, Type, nullptr, std::move(Read), nullptr});
  }
  void fixed(const char *Name, uint64_t Constant) {
    word(Core, Name, 4, "int32",
         [Constant](const answers::Registers &) { return Constant; });
  }
  void floating(const char *Name,
                std::function<uint64_t(const answers::Registers &)> Read) {
    word(Core, Name, 4, "int", std::move(Read));
    Entries.back().Group = "float";
  }
  void bytes(const char *Feature, std::string Name, unsigned Bytes,
             const char *Type, const char *Group,
             std::function<Value(const answers::Registers &)> Read) {
    Layout.push_back({std::move(Name), Bytes, GeneralOnly});
    Entries.push_back({Feature, Type, Group, nullptr, std::move(Read)});
  }
  void describe();
};

struct Bits {
  const char *Name; ///< empty: reserved
  unsigned First, Last;
  Bits(const char *Name, unsigned Bit) : Bits(Name, Bit, Bit) {}
  Bits(const char *Name, unsigned First, unsigned Last)
      : Name(Name), First(First), Last(Last) {}
};

void describeFlags(raw_ostream &Out, const char *Type, ArrayRef<Bits> Fields) {
  Out << "<flags id=\"" << Type << "\" size=\"4\">\n";
  for (const Bits &F : Fields)
    Out << "<field name=\"" << F.Name << "\" start=\"" << F.First << "\" end=\""
        << F.Last << "\"/>\n";
  Out << "</flags>\n";
}

/// The types of a feature's registers that gdb has not built in.
void describeTypes(raw_ostream &Out, StringRef Feature) {
  if (Feature == Core)
    describeFlags(Out, "i386_eflags",
                  {{"", 22, 31},
                   {"CF", 0},
                   {"", 1},
                   {"PF", 2},
                   {"AF", 4},
                   {"ZF", 6},
                   {"SF", 7},
                   {"TF", 8},
                   {"IF", 9},
                   {"DF", 10},
                   {"OF", 11},
                   {"NT", 14},
                   {"RF", 16},
                   {"VM", 17},
                   {"AC", 18},
                   {"VIF", 19},
                   {"VIP", 20},
                   {"ID", 21}});
  if (Feature != Sse)
    return;
  Out << R"(<vector id="v4f" type="ieee_single" count="4"/>
<vector id="v2d" type="ieee_double" count="2"/>
<vector id="v16i8" type="int8" count="16"/>
<vector id="v8i16" type="int16" count="8"/>
<vector id="v4i32" type="int32" count="4"/>
<vector id="v2i64" type="int64" count="2"/>
<union id="vec128">
<field name="v4_float" type="v4f"/><field name="v2_double" type="v2d"/>
<field name="v16_int8" type="v16i8"/><field name="v8_int16" type="v8i16"/>
<field name="v4_int32" type="v4i32"/><field name="v2_int64" type="v2i64"/>
<field name="uint128" type="uint128"/>
</union>
)";
  describeFlags(Out, "i386_mxcsr",
                {{"IE", 0},
                 {"DE", 1},
                 {"ZE", 2},
                 {"OE", 3},
                 {"UE", 4},
                 {"PE", 5},
                 {"DAZ", 6},
                 {"IM", 7},
                 {"DM", 8},
                 {"ZM", 9},
                 {"OM", 10},
                 {"UM", 11},
                 {"PM", 12},
                 {"FZ", 15}});
}

void Table::describe() {
  raw_string_ostream Out(Xml);
  Out << "<?xml version=\"1.0\"?>\n"
         "<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
         "<target version=\"1.0\">\n"
         "<architecture>i386:x86-64</architecture>\n"
         "<osabi>GNU/Linux</osabi>\n";
  StringRef Feature;
  for (size_t I = 0; I < Layout.size(); ++I) {
    if (Feature != Entries[I].Feature) {
      if (!Feature.empty())
        Out << "</feature>\n";
      Feature = Entries[I].Feature;
      Out << "<feature name=\"" << Feature << "\">\n";
      describeTypes(Out, Feature);
    }
    Out << "<reg name=\"" << Layout[I].Name << "\" bitsize=\""
        << 8 * Layout[I].Bytes << "\" type=\"" << Entries[I].Type
        << "\" regnum=\"" << I << '"';
    // LLDB's name for it in a live process.
    if (Layout[I].Name == "eflags")
      Out << " altname=\"rflags\"";
    // For a pointer LLDB would print what it points to, twice.
    if (StringRef(Entries[I].Type).ends_with("_ptr"))
      Out << " encoding=\"uint\" format=\"hex\"";
    // LLDB finds thread-local variables from it.
    if (Layout[I].Name == "fs_base")
      Out << " generic=\"tp\"";
    if (Entries[I].Group)
      Out << " group=\"" << Entries[I].Group << '"';
    Out << "/>\n";
  }
  Out << "</feature>\n</target>\n";
}

const Table &table() {
  static const Table T;
  return T;
}

} // namespace

ArrayRef<RegisterDescription> registerLayout() { return table().Layout; }

SmallVector<uint8_t, 32> registerValue(const answers::Registers &R,
                                       unsigned Number) {
  const Entry &E = table().Entries[Number];
  if (E.Bytes)
    return E.Bytes(R);
  uint8_t Bytes[8];
  support::endian::write64le(Bytes, E.Word(R));
  return Value(Bytes, Bytes + table().Layout[Number].Bytes);
}

StringRef targetDescription() { return table().Xml; }

} // namespace chronicle::session
