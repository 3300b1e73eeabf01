// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/symbols/DebugFiles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace llvm::object;

namespace chronicle::symbols {

using ElfFile = SymbolFile::ElfFile;

static Expected<ElfFile> openElf(StringRef Path) {
  Expected<ElfFile> File = ObjectFile::createObjectFile(Path);
  if (!File)
    return File.takeError();
  if (!isa<ELF64LEObjectFile>(File->getBinary()))
    return createStringError("%s is not a 64-bit ELF file", Path.str().c_str());
  return File;
}

static std::string buildIdOf(const ElfFile &File) {
  return toHex(getBuildID(File.getBinary()), /*LowerCase=*/true);
}

static void openBinary(StringRef Path, StringRef BuildId, bool AnyBuild,
                       DebugFiles &Result) {
  Expected<ElfFile> File = openElf(Path);
  if (!File) {
    Result.Problems.push_back("no symbols from " + Path.str() + ": " +
                              toString(File.takeError()));
    return;
  }
  std::string Found = buildIdOf(*File);
  Result.IsRecorded = Found == BuildId;
  if (!Result.IsRecorded && !AnyBuild) {
    auto Name = [](StringRef Id) { return Id.empty() ? "none" : Id.str(); };
    Result.Problems.push_back(Path.str() +
                              " is not the file that was recorded (build id " +
                              Name(Found) + ", recorded " + Name(BuildId) +
                              "): not used for symbols");
    return;
  }
  Result.Binary = std::move(*File);
}

/// Takes the file if it exists and has the build id. Reports a file that exists
/// and has another one.
static bool takeDebugFile(const Twine &Path, StringRef BuildId,
                          DebugFiles &Result) {
  std::string Name = Path.str();
  if (!sys::fs::exists(Name))
    return false;
  Expected<ElfFile> File = openElf(Name);
  if (!File) {
    Result.Problems.push_back("no debug info from " + Name + ": " +
                              toString(File.takeError()));
    return false;
  }
  std::string Found = buildIdOf(*File);
  if (Found != BuildId) {
    Result.Problems.push_back(Name +
                              " is not the debug file of what was recorded "
                              "(another build id): not used for symbols");
    return false;
  }
  Result.Debug = std::move(*File);
  return true;
}

static bool checksumFits(const std::string &Path, uint32_t Checksum,
                         DebugFiles &Result) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer =
      MemoryBuffer::getFile(Path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!Buffer) {
    Result.Problems.push_back("no debug info from " + Path + ": " +
                              Buffer.getError().message());
    return false;
  }
  if (crc32(arrayRefFromStringRef((*Buffer)->getBuffer())) == Checksum)
    return true;
  Result.Problems.push_back(Path + " does not have the checksum that "
                                   "the program's .gnu_debuglink asks for: "
                                   "not used for symbols");
  return false;
}

static bool followDebugLink(StringRef Path, StringRef BuildId,
                            ArrayRef<std::string> Directories,
                            DebugFiles &Result) {
  for (const SectionRef &Section : Result.Binary.getBinary()->sections()) {
    Expected<StringRef> Name = Section.getName();
    if (!Name) {
      consumeError(Name.takeError()); // it is not the section looked for
      continue;
    }
    if (*Name != ".gnu_debuglink")
      continue;
    Expected<StringRef> Contents = Section.getContents();
    if (!Contents) {
      Result.Problems.push_back(Path.str() + ": " +
                                toString(Contents.takeError()));
      return false;
    }
    DataExtractor Data(*Contents, /*IsLittleEndian=*/true, /*AddressSize=*/8);
    uint64_t Offset = 0;
    StringRef Link = Data.getCStrRef(&Offset);
    Offset = alignTo(Offset, 4);
    if (Link.empty() || !Data.isValidOffsetForDataOfSize(Offset, 4))
      return false;
    uint32_t Checksum = Data.getU32(&Offset);
    std::string Directory = sys::path::parent_path(Path).str();
    std::vector<std::string> Places = {Directory + "/" + Link.str(),
                                       Directory + "/.debug/" + Link.str()};
    for (const std::string &D : Directories)
      Places.push_back(D + "/" + Directory + "/" + Link.str());
    for (const std::string &Place : Places)
      if (!sys::fs::equivalent(Place, Path) && sys::fs::exists(Place) &&
          checksumFits(Place, Checksum, Result) &&
          takeDebugFile(Place, BuildId, Result))
        return true;
  }
  return false;
}

static bool hasDebugInfo(const ElfFile &File) {
  for (const SectionRef &Section : File.getBinary()->sections())
    if (Section.isDebugSection())
      return true;
  return false;
}

DebugFiles findDebugFiles(StringRef Path, StringRef BuildId,
                          ArrayRef<std::string> Directories, bool AnyBuild) {
  DebugFiles Result;
  openBinary(Path, BuildId, AnyBuild, Result);
  std::string Found = BuildId.str();
  if (Result.Binary.getBinary() && !Result.IsRecorded)
    Found = buildIdOf(Result.Binary);
  BuildId = Found;
  if (Result.Binary.getBinary() && hasDebugInfo(Result.Binary))
    return Result;
  if (BuildId.size() > 2)
    for (const std::string &Directory : Directories)
      if (takeDebugFile(Directory + "/.build-id/" + BuildId.take_front(2) +
                            "/" + BuildId.drop_front(2) + ".debug",
                        BuildId, Result))
        return Result;
  if (Result.Binary.getBinary())
    followDebugLink(Path, BuildId, Directories, Result);
  return Result;
}

} // namespace chronicle::symbols
