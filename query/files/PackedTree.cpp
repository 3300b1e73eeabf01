// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/files/PackedTree.h"
#include "query/files/FileCache.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::files {

using pieces::PackedFile;
using pieces::PackedKind;

PackedTree::PackedTree(const file::TraceReader &Reader) : Reader(Reader) {
  Expected<std::vector<PackedFile>> Found = Reader.packedFiles();
  if (Found)
    Files = std::move(*Found);
  else
    Problem = "the files packed into the trace cannot be used: " +
              toString(Found.takeError());
}

bool PackedTree::has(PackedKind Kind) const { return find(Kind, "", ""); }

const PackedFile *PackedTree::find(PackedKind Kind, StringRef Path,
                                   StringRef BuildId) const {
  for (const PackedFile &F : Files)
    if (F.Kind == Kind && (Path.empty() || F.Path == Path) &&
        (BuildId.empty() || F.BuildId == BuildId))
      return &F;
  return nullptr;
}

Expected<std::string> PackedTree::root() const {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Root)
    return *Root;
  Expected<FileCache> Cache = FileCache::open();
  if (!Cache)
    return createStringError(
        "the files packed into the trace cannot be used: " +
        toString(Cache.takeError()));
  // Traces with the same files share a tree. The digests are part of the name,
  // so that no trace can change the files of another.
  ByteWriter Table;
  for (const PackedFile &F : Files)
    encodePackedFile(Table, F);
  Root = Cache->packed() + "/" +
         toHex(ArrayRef(BLAKE3::hash<16>(Table.data())), /*LowerCase=*/true);
  if (sys::fs::exists(*Root))
    touch(*Root);
  else
    Cache->prune();
  return *Root;
}

static Error writeAll(int To, ArrayRef<uint8_t> Bytes) {
  while (!Bytes.empty()) {
    ssize_t N = ::write(To, Bytes.data(), Bytes.size());
    if (N < 0 && errno == EINTR)
      continue;
    if (N <= 0)
      return createStringError(errnoAsErrorCode(), sys::StrError());
    Bytes = Bytes.drop_front(N);
  }
  return Error::success();
}

Error PackedTree::extractTo(StringRef Root, const PackedFile &File) const {
  // The path has no "..", and nothing below the root is a link: Chronicle makes
  // directories and plain files only.
  std::string Path = (Root + File.Path).str();
  if (Error E = makePrivateDirectory(sys::path::parent_path(Path)))
    return E;
  auto Failed = [&](StringRef Why) {
    return createStringError("cannot unpack '" + File.Path + "' to '" + Root +
                             "': " + Why);
  };
  std::string New = (sys::path::parent_path(Path) + "/.new-XXXXXX").str();
  int To = ::mkostemp(New.data(), O_CLOEXEC); // makes it 0600
  if (To < 0)
    return Failed(sys::StrError());
  scope_exit Remove([&] { (void)::unlink(New.c_str()); });
  BLAKE3 Digest;
  Error E = Reader.readPacked(File, [&](ArrayRef<uint8_t> Bytes) {
    Digest.update(Bytes);
    return writeAll(To, Bytes);
  });
  // A program that is half there after a power failure would be worse than
  // none. Sources are many, and small.
  if (!E && File.Kind != PackedKind::Source && ::fsync(To) < 0)
    E = createStringError(sys::StrError());
  ::close(To);
  if (E)
    return Failed(toString(std::move(E)));
  if (Digest.final() != File.Digest)
    return Failed("its bytes in the trace are damaged");
  if (::rename(New.c_str(), Path.c_str()) < 0)
    return Failed(sys::StrError());
  Remove.release();
  return Error::success();
}

Expected<std::string> PackedTree::extract(const PackedFile &File) const {
  Expected<std::string> Root = root();
  if (!Root)
    return Root.takeError();
  std::string Path = *Root + File.Path;
  uint64_t Size = 0;
  if (!sys::fs::file_size(Path, Size) && Size == File.Size &&
      sys::fs::is_regular_file(Path))
    return Path;
  if (Error E = extractTo(*Root, File))
    return E;
  return Path;
}

Error PackedTree::extractAll(PackedKind Kind) const {
  for (const PackedFile &F : Files)
    if (F.Kind == Kind)
      if (Error E = extract(F).takeError())
        return E;
  return Error::success();
}

} // namespace chronicle::files
