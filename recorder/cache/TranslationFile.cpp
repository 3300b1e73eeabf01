// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/cache/TranslationFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace chronicle::cache {

Expected<ToolId> toolId(StringRef Path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> File = MemoryBuffer::getFile(
      Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!File)
    return createStringError(File.getError(), "cannot read '" + Path + "'");
  XXH128_hash_t Hash =
      xxh3_128bits(arrayRefFromStringRef((*File)->getBuffer()));
  return ToolId{Hash.low64, Hash.high64};
}

/// What is wrong with the file, or an empty string.
static const char *problemOf(const struct stat &Status,
                             const ch_translations_header &H) {
  if (!S_ISREG(Status.st_mode))
    return "it is not a regular file";
  if (Status.st_uid != geteuid())
    return "it belongs to another user";
  if (Status.st_mode & 077)
    return "other users may read or write it";
  if (H.magic != CH_TRANSLATIONS_MAGIC)
    return "it has no valid header";
  if (H.version != CH_TRANSLATIONS_VERSION)
    return "it is of another version";
  if (H.checksum != ch_checksum(&H, offsetof(ch_translations_header, checksum)))
    return "its header is damaged";
  if (H.size != uint64_t(Status.st_size))
    return "it is cut off";
  if (!isPowerOf2_64(H.slots) || H.table < sizeof(H) || H.table % 8 ||
      H.table > H.size ||
      H.slots > (H.size - H.table) / sizeof(ch_translation_slot))
    return "its header is damaged";
  return nullptr;
}

Expected<TranslationFile> TranslationFile::open(int Directory, StringRef Name) {
  TranslationFile F;
  F.Name = Name.str();
  // O_NONBLOCK, because it may be a FIFO.
  F.Descriptor = openat(Directory, F.Name.c_str(),
                        O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat Status;
  if (F.Descriptor < 0 || fstat(F.Descriptor, &Status) != 0)
    return errorCodeToError(std::error_code(errno, std::generic_category()));
  ssize_t Got = S_ISREG(Status.st_mode)
                    ? pread(F.Descriptor, &F.Header, sizeof(F.Header), 0)
                    : 0;
  if (Got != ssize_t(sizeof(F.Header)))
    F.Header = {};
  if (const char *Problem = problemOf(Status, F.Header))
    return createStringError(Problem);
  return F;
}

TranslationFile::TranslationFile(TranslationFile &&Other)
    : Name(std::move(Other.Name)),
      Descriptor(std::exchange(Other.Descriptor, -1)), Header(Other.Header) {}

void TranslationFile::close() {
  if (Descriptor >= 0)
    ::close(Descriptor);
  Descriptor = -1;
}

Error TranslationFile::forEach(
    function_ref<bool(const ch_translation &, ArrayRef<uint8_t>)> Visit) const {
  void *Mapped =
      mmap(nullptr, Header.size, PROT_READ, MAP_SHARED, Descriptor, 0);
  if (Mapped == MAP_FAILED)
    return errorCodeToError(std::error_code(errno, std::generic_category()));
  const auto *Bytes = static_cast<const uint8_t *>(Mapped);
  Error Result = Error::success();
  for (uint64_t At = sizeof(Header); At < Header.table;) {
    const auto *T = reinterpret_cast<const ch_translation *>(Bytes + At);
    if (!ch_translation_is_whole(T, Header.table - At)) {
      Result = createStringError("it is damaged");
      break;
    }
    if (!Visit(*T, ArrayRef(Bytes + At, T->size)))
      break;
    At += T->size;
  }
  munmap(Mapped, Header.size);
  return Result;
}

} // namespace chronicle::cache
