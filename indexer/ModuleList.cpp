// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/ModuleList.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace chronicle {

void ModuleList::mapped(const ch_ev_map &Map, StringRef Path, Timestamp Time) {
  if (!(Map.flags & CH_MAP_FILE))
    return;
  if (Map.offset == 0) {
    Module &M = Modules.emplace_back();
    M.Path = Path.str();
    M.Address = Map.address;
    M.Size = Map.length;
    M.Device = Map.device;
    M.Inode = Map.inode;
    M.Time = Time;
  }
  if (!(Map.protection & CH_PROT_EXEC))
    return;
  // The mapping that this belongs to is the last one below it.
  for (Module &M : llvm::reverse(Modules))
    if (M.Device == Map.device && M.Inode == Map.inode &&
        M.Address <= Map.address) {
      M.Executable = true;
      return;
    }
}

void ModuleList::look(const MemoryImage &Image) {
  for (Module &M : llvm::reverse(Modules)) {
    if (M.Looked)
      return;
    M.Looked = true;
    readElf(M, Image);
  }
}

void ModuleList::readElf(Module &M, const MemoryImage &Image) {
  using namespace llvm::ELF;
  Elf64_Ehdr Header;
  Image.read(M.Address, reinterpret_cast<uint8_t *>(&Header), sizeof(Header));
  if (!Header.checkMagic() || Header.e_phentsize != sizeof(Elf64_Phdr))
    return;
  M.Elf = true;
  uint64_t Low = UINT64_MAX, High = 0;
  std::vector<Elf64_Phdr> Segments(std::min<unsigned>(Header.e_phnum, 128));
  Image.read(M.Address + Header.e_phoff,
             reinterpret_cast<uint8_t *>(Segments.data()),
             Segments.size() * sizeof(Elf64_Phdr));
  for (const Elf64_Phdr &S : Segments)
    if (S.p_type == PT_LOAD) {
      Low = std::min(Low, S.p_vaddr & ~uint64_t(PageSize - 1));
      High = std::max(High, S.p_vaddr + S.p_memsz);
    }
  if (Low < High)
    M.Size = alignTo(High - Low, PageSize);
  for (const Elf64_Phdr &S : Segments) {
    // Notes lie in the first segment, where file and memory offsets agree.
    if (S.p_type != PT_NOTE || S.p_filesz > PageSize || S.p_offset > M.Size)
      continue;
    std::vector<uint8_t> Bytes(S.p_filesz);
    Image.read(M.Address + S.p_offset, Bytes.data(), Bytes.size());
    uint64_t Align = S.p_align == 8 ? 8 : 4;
    for (uint64_t At = 0; At + sizeof(Elf64_Nhdr) <= Bytes.size();) {
      Elf64_Nhdr Note;
      std::memcpy(&Note, Bytes.data() + At, sizeof(Note));
      uint64_t Name = At + sizeof(Note);
      uint64_t Value = alignTo(Name + Note.n_namesz, Align);
      uint64_t End = Value + Note.n_descsz;
      if (End > Bytes.size())
        break;
      if (Note.n_type == NT_GNU_BUILD_ID && Note.n_namesz == 4 &&
          !std::memcmp(Bytes.data() + Name, "GNU", 4))
        M.BuildId = toHex(ArrayRef(Bytes).slice(Value, Note.n_descsz),
                          /*LowerCase=*/true);
      At = alignTo(End, Align);
    }
  }
}

json::Array ModuleList::json() const {
  json::Array Result;
  for (const Module &M : Modules)
    if (M.Elf && M.Executable)
      Result.push_back(json::Object{{"path", M.Path},
                                    {"address", M.Address},
                                    {"size", M.Size},
                                    {"build-id", M.BuildId},
                                    {"loaded", M.Time}});
  return Result;
}

} // namespace chronicle
