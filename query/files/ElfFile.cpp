// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/files/ElfFile.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace llvm::object;

namespace chronicle::files {

/// Maps a regular file. A trace from a stranger may name anything as a module:
/// a pipe would never end, a device would fill the memory, and reading either
/// may do something.
static Expected<std::unique_ptr<MemoryBuffer>> mapRegular(StringRef Path) {
  constexpr off_t Largest = off_t(16) << 30;
  auto Refuse = [&](const Twine &Why) {
    return createStringError("cannot read '" + Path + "': " + Why);
  };
  struct stat Status;
  const int Descriptor =
      ::open(Path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (Descriptor < 0)
    return Refuse(sys::StrError());
  scope_exit Close([&] { ::close(Descriptor); });
  if (::fstat(Descriptor, &Status) != 0)
    return Refuse(sys::StrError());
  if (!S_ISREG(Status.st_mode))
    return Refuse("it is not a regular file");
  if (Status.st_size > Largest)
    return Refuse("it is too large");
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer =
      MemoryBuffer::getOpenFile(sys::fs::convertFDToNativeFile(Descriptor),
                                Path, static_cast<uint64_t>(Status.st_size),
                                /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return Refuse(Buffer.getError().message());
  return std::move(*Buffer);
}

Expected<ElfFile> openElf(StringRef Path) {
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = mapRegular(Path);
  if (!Buffer)
    return Buffer.takeError();
  Expected<std::unique_ptr<ObjectFile>> File =
      ObjectFile::createObjectFile((*Buffer)->getMemBufferRef());
  if (!File)
    return File.takeError();
  if (!isa<ELF64LEObjectFile>(**File))
    return createStringError("%s is not a 64-bit ELF file", Path.str().c_str());
  return ElfFile(std::move(*File), std::move(*Buffer));
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
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = mapRegular(Path);
  if (!Buffer) {
    consumeError(Buffer.takeError()); // then it is not the file looked for
    return false;
  }
  return crc32(arrayRefFromStringRef((*Buffer)->getBuffer())) == Checksum;
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
