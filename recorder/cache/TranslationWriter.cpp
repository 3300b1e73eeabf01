// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/cache/TranslationWriter.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::cache {

namespace {
constexpr size_t BufferBytes = 1 << 20;
/// The cache leaves this much of the file system free: traces matter more.
constexpr uint64_t SpareBytes = 64 << 20;
} // namespace

std::string filePrefix(const ToolId &Tool) {
  return formatv("{0:x-16}-", Tool[0]);
}

static std::string randomDigits() {
  std::random_device Device;
  return formatv("{0:x-8}{1:x-8}", Device(), Device());
}

/// Checks that enough of the file system stays free, and fails otherwise.
bool TranslationWriter::hasSpace() {
  struct statvfs System;
  if (fstatvfs(Directory, &System) != 0) {
    fail(sys::StrError());
    return false;
  }
  // What is reserved for root, root can use.
  const uint64_t Blocks = geteuid() == 0 ? System.f_bfree : System.f_bavail;
  if (Blocks * System.f_frsize >= SpareBytes)
    return true;
  fail(formatv("less than {0} MiB of the disk are free", SpareBytes >> 20));
  return false;
}

/// Creates a file and locks it. Another process may take the file for a
/// leftover between the two and remove it; then there is none.
static int createLocked(int Directory, const std::string &Name) {
  int File = openat(Directory, Name.c_str(),
                    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                    S_IRUSR | S_IWUSR);
  if (File < 0)
    return -1;
  struct stat Status;
  while (flock(File, LOCK_EX) != 0 && errno == EINTR)
    ;
  if (fstat(File, &Status) == 0 && Status.st_nlink)
    return File;
  close(File);
  errno = EAGAIN;
  return -1;
}

bool TranslationWriter::create() {
  if (failed() || Descriptor >= 0)
    return !failed();
  if (!hasSpace())
    return false;
  do {
    TemporaryName = filePrefix(Tool) + randomDigits() + TemporarySuffix.str();
    Descriptor = createLocked(Directory, TemporaryName);
  } while (Descriptor < 0 && errno == EAGAIN);
  if (Descriptor < 0) {
    fail(sys::StrError());
    return false;
  }
  // The header comes last.
  Buffer.assign(sizeof(ch_translations_header), 0);
  Written = Buffer.size();
  return true;
}

void TranslationWriter::flush() {
  for (ArrayRef<uint8_t> Rest = Buffer; !Rest.empty() && !failed();) {
    ssize_t Size = ::write(Descriptor, Rest.data(), Rest.size());
    if (Size > 0)
      Rest = Rest.drop_front(size_t(Size));
    else if (Size == 0 || errno != EINTR)
      fail(sys::StrError(Size == 0 ? ENOSPC : errno));
  }
  Buffer.clear();
}

void TranslationWriter::write(ArrayRef<uint8_t> Bytes) {
  Buffer.insert(Buffer.end(), Bytes.begin(), Bytes.end());
  Written += Bytes.size();
  if (Buffer.size() < BufferBytes)
    return;
  if (hasSpace())
    flush();
}

void TranslationWriter::add(uint64_t Key, ArrayRef<uint8_t> Translation) {
  if (!create() || Written + Translation.size() > MostBytes)
    return;
  Items.push_back({Key, Written});
  write(Translation);
}

std::string TranslationWriter::finish() {
  if (Items.empty() || failed())
    return "";
  const uint64_t Table = Written;
  // At most half full.
  const uint64_t Slots = PowerOf2Ceil(2 * Items.size());
  std::vector<ch_translation_slot> Hashed(Slots);
  for (const Item &I : Items) {
    uint64_t N = I.Key & (Slots - 1);
    while (Hashed[N].at)
      N = (N + 1) & (Slots - 1);
    Hashed[N] = {uint32_t(I.Key >> 32), uint32_t(I.At / 8)};
  }
  write(ArrayRef(reinterpret_cast<const uint8_t *>(Hashed.data()),
                 Slots * sizeof(ch_translation_slot)));
  if (!failed())
    flush();
  ch_translations_header H = {};
  H.magic = CH_TRANSLATIONS_MAGIC;
  H.version = CH_TRANSLATIONS_VERSION;
  H.translations = uint32_t(Items.size());
  H.tool[0] = Tool[0];
  H.tool[1] = Tool[1];
  H.size = Written;
  H.table = Table;
  H.slots = Slots;
  H.checksum = ch_checksum(&H, offsetof(ch_translations_header, checksum));
  std::string Name =
      filePrefix(Tool) + randomDigits() + std::string(FileSuffix);
  if (failed())
    return "";
  if (pwrite(Descriptor, &H, sizeof(H), 0) != ssize_t(sizeof(H)) ||
      renameat(Directory, TemporaryName.c_str(), Directory, Name.c_str()) !=
          0) {
    fail(sys::StrError());
    return "";
  }
  close(Descriptor);
  Descriptor = -1;
  Items.clear();
  return Name;
}

void TranslationWriter::fail(std::string Why) {
  Problem = std::move(Why);
  discard();
}

void TranslationWriter::discard() {
  Items = {};
  Buffer = {};
  if (Descriptor < 0)
    return;
  close(Descriptor);
  Descriptor = -1;
  unlinkat(Directory, TemporaryName.c_str(), 0);
}

} // namespace chronicle::cache
