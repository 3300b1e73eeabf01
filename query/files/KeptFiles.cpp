// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/files/KeptFiles.h"
#include "query/files/ElfFile.h"
#include "trace-format/FileFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::files {

bool isSystemPath(StringRef Path) {
  if (Path.starts_with("/usr/local/"))
    return false;
  for (StringRef Directory : {"/usr/", "/lib/", "/lib32/", "/lib64/", "/bin/",
                              "/sbin/", "/nix/store/", "/gnu/store/"})
    if (Path.starts_with(Directory))
      return true;
  return false;
}

/// A short name for bytes that nobody finds other bytes for.
static std::string shortHash(ArrayRef<uint8_t> Bytes) {
  return toHex(ArrayRef(BLAKE3::hash<16>(Bytes)), /*LowerCase=*/true);
}

/// What entries of files with this first page begin with.
static std::string headPrefix(ArrayRef<uint8_t> FirstPage) {
  return "head-" + shortHash(FirstPage) + ".";
}

/// The name of the file's entry.
static Expected<std::string> entryName(MemoryBufferRef Bytes) {
  Expected<std::unique_ptr<object::ObjectFile>> File =
      object::ObjectFile::createObjectFile(Bytes);
  if (!File)
    return File.takeError();
  std::string Id = buildIdOf(**File);
  if (!Id.empty())
    return Id;
  // Memory has zeros behind the end of a file that is shorter than a page.
  ArrayRef<uint8_t> All = arrayRefFromStringRef(Bytes.getBuffer());
  std::vector<uint8_t> Page(PageSize);
  llvm::copy(All.take_front(PageSize), Page.begin());
  return headPrefix(Page) + shortHash(All);
}

static Error copyInto(int From, const std::string &Path) {
  auto Failed = [&] {
    return createStringError(errnoAsErrorCode(),
                             "cannot write '" + Path + "': " + sys::StrError());
  };
  int To = ::open(Path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (To < 0)
    return Failed();
  struct stat Status;
  bool Good = ::fstat(From, &Status) == 0;
  if (Good && ::ioctl(To, FICLONE, From) < 0) {
    // The file system cannot share the bytes.
    off_t Offset = 0;
    while (Good && Offset < Status.st_size) {
      ssize_t N =
          ::sendfile(To, From, &Offset, size_t(Status.st_size - Offset));
      Good = N > 0 || (N < 0 && errno == EINTR);
    }
  }
  // A source that is newer than the program it was built into was changed
  // since.
  const struct timespec Times[] = {Status.st_atim, Status.st_mtim};
  Good = Good && ::futimens(To, Times) == 0 && ::fsync(To) == 0;
  Error E = Good ? Error::success() : Failed();
  ::close(To);
  return E;
}

/// The debug file beside the program is rebuilt with it.
static Error keepDebugFile(const object::ObjectFile &File, StringRef Path,
                           StringRef Into) {
  std::optional<DebugLink> Link = debugLinkOf(File);
  if (!Link)
    return Error::success();
  StringRef Directory = sys::path::parent_path(Path);
  for (StringRef Below : {"/", "/.debug/"}) {
    std::string Debug = (Directory + Below + Link->Name).str();
    if (!hasChecksum(Debug, Link->Checksum))
      continue;
    int Descriptor = ::open(Debug.c_str(), O_RDONLY | O_CLOEXEC);
    if (Descriptor < 0)
      continue;
    Error E = copyInto(Descriptor, (Into + "/" + Link->Name).str());
    ::close(Descriptor);
    return E;
  }
  return Error::success();
}

static Error fill(StringRef Directory, int Descriptor, StringRef Path,
                  StringRef Name) {
  std::string Copy = (Directory + "/" + sys::path::filename(Path)).str();
  if (Error E = copyInto(Descriptor, Copy))
    return E;
  // The original may have been overwritten while it was copied.
  Expected<ElfFile> File = openElf(Copy);
  if (!File)
    return File.takeError();
  Expected<std::string> Now =
      entryName(File->getBinary()->getMemoryBufferRef());
  if (!Now)
    return Now.takeError();
  if (*Now != Name)
    return createStringError("'" + Path + "' changed while it was copied");
  return keepDebugFile(*File->getBinary(), Path, Directory);
}

Error KeptFiles::keep(int Descriptor, StringRef Path) const {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Bytes = MemoryBuffer::getOpenFile(
      sys::fs::convertFDToNativeFile(Descriptor), Path, /*FileSize=*/-1,
      /*RequiresNullTerminator=*/false);
  if (!Bytes)
    return createStringError(Bytes.getError(), "cannot read '" + Path + "': " +
                                                   Bytes.getError().message());
  if ((*Bytes)->getBufferSize() > FileCache::MaxBytes / 4)
    return createStringError("'" + Path + "' is too large to be kept");
  Expected<std::string> Name = entryName((*Bytes)->getMemBufferRef());
  if (!Name)
    return Name.takeError();
  std::string Entry = Cache.kept() + "/" + *Name;
  if (sys::fs::exists(Entry + "/" + sys::path::filename(Path))) {
    touch(Entry);
    return Error::success();
  }
  std::string New = Cache.kept() + "/.new-XXXXXX";
  if (!::mkdtemp(New.data()))
    return createStringError(errnoAsErrorCode(),
                             "cannot make a directory in '" + Cache.kept() +
                                 "': " + sys::StrError());
  Error E = fill(New, Descriptor, Path, *Name);
  // If the entry is there by now, it is of the same build. If it has another
  // name for the file, the newer name is as good.
  if (!E && ::rename(New.c_str(), Entry.c_str()) < 0 &&
      (errno == EEXIST || errno == ENOTEMPTY)) {
    std::string Target = Entry + "/" + sys::path::filename(Path).str();
    std::string Source = New + "/" + sys::path::filename(Path).str();
    (void)::rename(Source.c_str(), Target.c_str());
  }
  removeTree(New);
  Cache.prune();
  return E;
}

std::vector<std::string> KeptFiles::find(StringRef Name, StringRef BuildId,
                                         ArrayRef<uint8_t> FirstPage) const {
  std::vector<std::string> Entries, Result;
  if (!BuildId.empty()) {
    Entries.push_back(Cache.kept() + "/" + BuildId.str());
  } else if (!FirstPage.empty()) {
    const std::string Prefix = headPrefix(FirstPage);
    std::error_code Code;
    for (sys::fs::directory_iterator I(Cache.kept(), Code), E; I != E && !Code;
         I.increment(Code))
      if (sys::path::filename(I->path()).starts_with(Prefix))
        Entries.push_back(I->path());
  }
  for (const std::string &Entry : Entries) {
    std::string Path = Entry + "/" + Name.str();
    if (!sys::fs::exists(Path))
      continue;
    touch(Entry);
    Result.push_back(std::move(Path));
  }
  return Result;
}

} // namespace chronicle::files
