// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/model/ElfImage.h"
#include "trace-format/FileFormat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstring>
#include <vector>

using namespace llvm;
using namespace llvm::ELF;

namespace chronicle::model {

/// The headers may be damaged: no more than this is read for them.
static constexpr unsigned MostSegments = 128;
static constexpr uint64_t MostNotes = 16 * PageSize;

template <class T> static MutableArrayRef<uint8_t> bytesOf(T *Items, size_t N) {
  return {reinterpret_cast<uint8_t *>(Items), N * sizeof(T)};
}

static std::string findBuildId(ArrayRef<uint8_t> Notes, uint64_t Align) {
  for (uint64_t At = 0; At + sizeof(Elf64_Nhdr) <= Notes.size();) {
    Elf64_Nhdr Note;
    std::memcpy(&Note, Notes.data() + At, sizeof(Note));
    const uint64_t Name = At + sizeof(Note),
                   Value = alignTo(Name + Note.n_namesz, Align),
                   End = Value + Note.n_descsz;
    if (End > Notes.size())
      break;
    if (Note.n_type == NT_GNU_BUILD_ID && Note.n_namesz == 4 &&
        !std::memcmp(Notes.data() + Name, "GNU", 4))
      return toHex(Notes.slice(Value, Note.n_descsz), /*LowerCase=*/true);
    At = alignTo(End, Align);
  }
  return "";
}

std::optional<ElfImage>
readElfImage(uint64_t Address,
             function_ref<bool(uint64_t, MutableArrayRef<uint8_t>)> Read) {
  Elf64_Ehdr Header;
  if (!Read(Address, bytesOf(&Header, 1)) || !Header.checkMagic() ||
      Header.e_phentsize != sizeof(Elf64_Phdr))
    return std::nullopt;
  std::vector<Elf64_Phdr> Segments(
      std::min<unsigned>(Header.e_phnum, MostSegments));
  if (!Read(Address + Header.e_phoff,
            bytesOf(Segments.data(), Segments.size())))
    return std::nullopt;

  ElfImage Result;
  uint64_t Low = UINT64_MAX, High = 0;
  for (const Elf64_Phdr &S : Segments) {
    if (S.p_type != PT_LOAD)
      continue;
    Low = std::min(Low, alignDown(S.p_vaddr, PageSize));
    High = std::max(High, S.p_vaddr + S.p_memsz);
    if (S.p_offset < PageSize)
      Result.Bias = Address - alignDown(S.p_vaddr, PageSize);
  }
  if (Low < High)
    Result.Size = alignTo(High - Low, PageSize);
  for (const Elf64_Phdr &S : Segments) {
    if (S.p_type != PT_NOTE || S.p_filesz > MostNotes)
      continue;
    std::vector<uint8_t> Notes(S.p_filesz);
    if (!Read(Result.Bias + S.p_vaddr, Notes))
      continue;
    std::string Id = findBuildId(Notes, S.p_align == 8 ? 8 : 4);
    if (!Id.empty())
      Result.BuildId = std::move(Id);
  }
  return Result;
}

} // namespace chronicle::model
