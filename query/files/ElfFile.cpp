// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/files/ElfFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace llvm::object;

namespace chronicle::files {

Expected<ElfFile> openElf(StringRef Path) {
  Expected<ElfFile> File = ObjectFile::createObjectFile(Path);
  if (!File)
    return File.takeError();
  if (!isa<ELF64LEObjectFile>(File->getBinary()))
    return createStringError("%s is not a 64-bit ELF file", Path.str().c_str());
  return File;
}

std::string buildIdOf(const ObjectFile &File) {
  return toHex(getBuildID(&File), /*LowerCase=*/true);
}

bool hasDebugInfo(const ObjectFile &File) {
  for (const SectionRef &Section : File.sections())
    if (Section.isDebugSection())
      return true;
  return false;
}

/// The contents of the section of that name; empty: there is none that can be
/// read.
static StringRef sectionContents(const ObjectFile &File, StringRef Wanted) {
  for (const SectionRef &Section : File.sections()) {
    Expected<StringRef> Name = Section.getName();
    if (!Name) {
      consumeError(Name.takeError()); // it is not the section looked for
      continue;
    }
    if (*Name != Wanted)
      continue;
    Expected<StringRef> Contents = Section.getContents();
    if (Contents)
      return *Contents;
    consumeError(Contents.takeError()); // then there is no link to follow
  }
  return "";
}

std::optional<DebugLink> debugLinkOf(const ObjectFile &File) {
  DataExtractor Data(sectionContents(File, ".gnu_debuglink"),
                     /*IsLittleEndian=*/true, /*AddressSize=*/8);
  uint64_t Offset = 0;
  DebugLink Link;
  Link.Name = Data.getCStrRef(&Offset).str();
  Offset = alignTo(Offset, 4);
  // The name comes from the file: it must not lead to another directory.
  if (Link.Name.empty() || Link.Name == "." || Link.Name == ".." ||
      StringRef(Link.Name).contains('/') ||
      !Data.isValidOffsetForDataOfSize(Offset, 4))
    return std::nullopt;
  Link.Checksum = Data.getU32(&Offset);
  return Link;
}

bool hasChecksum(StringRef Path, uint32_t Checksum) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer =
      MemoryBuffer::getFile(Path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  return Buffer &&
         crc32(arrayRefFromStringRef((*Buffer)->getBuffer())) == Checksum;
}

std::optional<SupplementaryLink> supplementaryLinkOf(const ObjectFile &File) {
  auto [Path, Id] = sectionContents(File, ".gnu_debugaltlink").split('\0');
  if (Path.empty() || Id.empty())
    return std::nullopt;
  return SupplementaryLink{Path.str(), toHex(Id, /*LowerCase=*/true)};
}

std::string debugFileName(StringRef BuildId) {
  if (BuildId.size() <= 2)
    return "";
  return (".build-id/" + BuildId.take_front(2) + "/" + BuildId.drop_front(2) +
          ".debug")
      .str();
}

} // namespace chronicle::files
