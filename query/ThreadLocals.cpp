// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ThreadLocals.h"
#include "query/search/WriteSearch.h"
#include "query/state/Moment.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::object;

namespace chronicle::query {

namespace {

/// A word in a library's memory that the dynamic linker fills in.
struct Slot {
  enum Meaning { Offset, Module } Holds;
  uint64_t Address;
  uint64_t Variable; ///< if it holds an offset: of this place in the block
  StringRef Name;    ///< if another module's symbol may replace this one
};

/// How the code of a module finds its thread-local variables.
struct Storage {
  bool Found = false; ///< the module has such a segment
  bool Executable = false;
  uint64_t Address = 0, Size = 0, Alignment = 1; ///< of the segment
  std::vector<Slot> Slots;
};

} // namespace

static Error addSlots(const ELF64LEFile &Elf, Storage &S) {
  auto Sections = Elf.sections();
  if (!Sections)
    return Sections.takeError();
  for (const auto &Section : *Sections) {
    if (Section.sh_type != ELF::SHT_RELA)
      continue;
    auto Table = Elf.getSection(Section.sh_link);
    auto Relocations = Elf.relas(Section);
    if (!Table || !Relocations)
      return joinErrors(Table.takeError(), Relocations.takeError());
    for (const auto &R : *Relocations) {
      const uint32_t Type = R.getType(false), Index = R.getSymbol(false);
      if (Type != ELF::R_X86_64_TPOFF64 && Type != ELF::R_X86_64_DTPMOD64)
        continue;
      Slot New{Type == ELF::R_X86_64_TPOFF64 ? Slot::Offset : Slot::Module,
               R.r_offset, static_cast<uint64_t>(R.r_addend), ""};
      if (Index) {
        auto Symbol = Elf.getEntry<ELF64LE::Sym>(**Table, Index);
        auto Names = Elf.getStringTableForSymtab(**Table);
        if (!Symbol || !Names)
          return joinErrors(Symbol.takeError(), Names.takeError());
        if ((*Symbol)->st_shndx == ELF::SHN_UNDEF)
          continue;
        New.Variable += (*Symbol)->st_value;
        auto Name = (*Symbol)->getName(*Names);
        if (!Name)
          return Name.takeError();
        if ((*Symbol)->getBinding() != ELF::STB_LOCAL &&
            (*Symbol)->getVisibility() == ELF::STV_DEFAULT)
          New.Name = *Name;
      }
      S.Slots.push_back(New);
    }
  }
  // Slots of symbols that nothing can replace come first.
  llvm::stable_sort(S.Slots, [](const Slot &A, const Slot &B) {
    return A.Name.empty() > B.Name.empty();
  });
  return Error::success();
}

static Expected<Storage> storageOf(const ELF64LEFile &Elf) {
  Storage S;
  auto Segments = Elf.program_headers();
  if (!Segments)
    return Segments.takeError();
  for (const auto &P : *Segments)
    if (P.p_type == ELF::PT_TLS) {
      S.Found = true;
      S.Address = P.p_vaddr;
      S.Size = P.p_memsz;
      S.Alignment = std::max<uint64_t>(P.p_align, 1);
    }
  S.Executable = Elf.getHeader().e_type == ELF::ET_EXEC;
  auto Dynamic = Elf.dynamicEntries();
  if (!Dynamic)
    return Dynamic.takeError();
  for (const auto &D : *Dynamic)
    S.Executable |=
        D.getTag() == ELF::DT_FLAGS_1 && (D.getVal() & ELF::DF_1_PIE);
  if (!S.Executable)
    if (Error E = addSlots(Elf, S))
      return E;
  return S;
}

Expected<uint64_t> ThreadLocals::wordAt(uint64_t Address) {
  Expected<answers::MemoryContents> M =
      state::Moment(States, T).memory(Address, 8);
  if (!M)
    return M.takeError();
  if (M->Mapped.empty())
    return createStringError(formatv("nothing is mapped at {0:x}", Address));
  return support::endian::read64le(M->Bytes.data());
}

/// The block of a module in a thread, from the table that the second word of
/// the thread control block points to. The table has 16 bytes per module, the
/// first entry is the table's own, and its length is before it.
Expected<uint64_t> ThreadLocals::blockInTable(const state::ModuleLoad &Load,
                                              uint64_t Index, uint64_t FsBase,
                                              StringRef None) {
  if (none_of(Symbols.modules(), [&](const state::ModuleLoad &L) {
        return L.isThere(T) &&
               StringRef(L.Info.Path).ends_with("/ld-linux-x86-64.so.2");
      }))
    return createStringError("its library's code asks the C library, which is "
                             "not glibc");
  Expected<uint64_t> Table = wordAt(FsBase + 8);
  if (!Table)
    return Table.takeError();
  Expected<uint64_t> Length = wordAt(*Table - 16);
  if (!Length)
    return Length.takeError();
  if (Index > *Length)
    return createStringError(None);
  const uint64_t Place = *Table + 16 * Index;
  Expected<uint64_t> Block = wordAt(Place);
  if (!Block)
    return Block.takeError();
  constexpr uint64_t Unallocated = ~uint64_t(0);
  if (*Block == 0 || *Block == Unallocated)
    return createStringError(None);
  // A library that was unloaded may have had the same index.
  bool Written = false;
  if (Error E = search::findWrites(
          States, {Place, Place + 7}, {Load.Loaded, T}, /*Backward=*/true,
          [&](const answers::Write &) {
            Written = true;
            return false;
          },
          /*Cancel=*/nullptr))
    return E;
  if (!Written)
    return createStringError(None);
  return *Block;
}

Expected<uint64_t> ThreadLocals::address(const symbols::SymbolAt &Variable,
                                         uint32_t Thread) {
  const state::ModuleLoad &Load = *Variable.Module;
  const std::string None =
      formatv("thread {0} has no '{1}' yet at {2}", Thread, Variable.Name, T);
  auto CannotTell = [&](const Twine &Why) {
    return createStringError("cannot find '" + Variable.Name + "' of thread " +
                             Twine(Thread) + ": " + Why);
  };
  const symbols::SymbolFile *File = Symbols.fileOf(Load);
  if (!File || !File->binary())
    return CannotTell(Load.Info.Path + " cannot be read");
  Expected<Storage> S = storageOf(File->binary()->getELFFile());
  if (!S)
    return CannotTell(toString(S.takeError()));
  if (!S->Found)
    return CannotTell(Load.Info.Path + " has no thread-local storage");
  Expected<answers::Registers> R = state::Moment(States, T).registers(Thread);
  if (!R)
    return R.takeError();
  const uint64_t FsBase = R->word(CH_OFFSET_FS_CONST);
  if (!FsBase)
    return createStringError(None);
  if (S->Executable) {
    // Its block ends at the fs base, or before it to be aligned.
    const uint64_t First = -S->Address & (S->Alignment - 1);
    return FsBase - (alignTo(S->Size - First, S->Alignment) + First) +
           Variable.Address;
  }

  for (const Slot &Slot : S->Slots) {
    if (!Slot.Name.empty() && count_if(Symbols.globals(Slot.Name),
                                       [&](const symbols::SymbolAt &Other) {
                                         return Other.ThreadLocal &&
                                                Other.Module->isThere(T);
                                       }) != 1)
      continue;
    Expected<uint64_t> Word = wordAt(Load.Bias + Slot.Address);
    if (!Word)
      return Word.takeError();
    if (*Word == 0)
      return createStringError(None);
    if (Slot.Holds == Slot::Offset)
      return FsBase + *Word - Slot.Variable + Variable.Address;
    Expected<uint64_t> Block = blockInTable(Load, *Word, FsBase, None);
    if (!Block)
      return Block.takeError();
    return *Block + Variable.Address;
  }
  return CannotTell("no code of " + Load.Info.Path +
                    " accesses it in a known way");
}

} // namespace chronicle::query
