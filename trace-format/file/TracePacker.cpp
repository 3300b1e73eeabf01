// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/file/TracePacker.h"
#include "trace-format/file/PieceFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::file {

static Error failure(const Twine &What, StringRef Path, int Code) {
  return createStringError(std::error_code(Code, std::generic_category()),
                           "cannot " + What + " '" + Path +
                               "': " + sys::StrError(Code));
}

Expected<std::unique_ptr<TracePacker>> TracePacker::open(StringRef Path) {
  int Descriptor = ::open(Path.str().c_str(), O_RDWR | O_CLOEXEC);
  if (Descriptor < 0)
    return failure("add files to", Path, errno);
  std::unique_ptr<TracePacker> Result(new TracePacker(Descriptor, Path));
  if (::flock(Descriptor, LOCK_EX | LOCK_NB) < 0)
    return errno == EWOULDBLOCK
               ? createStringError("another 'chronicle pack' is at work on '" +
                                   Path + "'")
               : failure("lock", Path, errno);
  if (Error E = Result->readDirectory())
    return E;
  return Result;
}

/// Where the file ended when it was last whole, or 0.
static uint64_t lastFooter(ArrayRef<uint8_t> File) {
  if (decodeFooter(File))
    return File.size();
  uint64_t Last = 0;
  for (uint64_t Offset = FileHeaderSize; Offset < File.size();) {
    if (isFooter(File, Offset)) {
      Last = Offset += FooterSize;
      continue;
    }
    Expected<Piece> P = Piece::at(File, Offset);
    if (!P) {
      consumeError(P.takeError()); // what a killed packer left
      break;
    }
    Offset = P->End;
  }
  return Last;
}

Error TracePacker::readDirectory() {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer = MemoryBuffer::getOpenFile(
      sys::fs::convertFDToNativeFile(Descriptor), Path, /*FileSize=*/-1,
      /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return failure("read", Path, Buffer.getError().value());
  ArrayRef<uint8_t> File = arrayRefFromStringRef((*Buffer)->getBuffer());
  if (Error E = checkFileHeader(File, Path))
    return E;
  Before = lastFooter(File);
  if (!Before)
    return createStringError(
        "'" + Path +
        "' was cut off and has no directory, so nothing can be added to it: "
        "keep the files of the program beside it, and open it with --sysroot");
  // Beyond it is what a killed packer left.
  if (File.size() > Before && ::ftruncate(Descriptor, off_t(Before)) < 0)
    return failure("cut back", Path, errno);
  File = File.take_front(Before);
  Expected<Directory> D = PieceFile(File).readDirectory();
  if (!D)
    return D.takeError();
  Dir = std::move(*D);
  for (const OtherPiece &Other : Dir.Pieces) {
    if (Other.Type != PieceType::Contents)
      continue;
    Expected<Piece> Last = PieceFile(File).at(Other);
    if (!Last)
      return Last.takeError();
    Sequence = Last->Key + Last->RawSize;
  }
  End = Before;
  return Error::success();
}

TracePacker::~TracePacker() {
  // If this fails, the next packer tries again, and readers scan.
  if (!Finished && End > Before)
    (void)!::ftruncate(Descriptor, off_t(Before));
  ::close(Descriptor);
}

Error TracePacker::write(ArrayRef<uint8_t> Bytes) {
  while (!Bytes.empty()) {
    ssize_t N = ::pwrite(Descriptor, Bytes.data(), Bytes.size(), off_t(End));
    if (N < 0 && errno == EINTR)
      continue;
    if (N <= 0)
      return failure("write", Path, N ? errno : EIO);
    Bytes = Bytes.drop_front(N);
    End += N;
  }
  return Error::success();
}

Error TracePacker::append(PieceType Type, uint64_t Key, ArrayRef<uint8_t> Raw) {
  SmallVector<uint8_t, 0> Stored;
  const Codec Used = Packing.compress(Raw, Stored);
  ArrayRef<uint8_t> Payload = Used == Codec::None ? Raw : ArrayRef(Stored);
  SmallVector<uint8_t, 0> Bytes;
  Bytes.resize(PieceHeaderSize);
  encodePieceHeader(Bytes.data(), Type, Used, uint32_t(Raw.size()), Key,
                    Payload);
  llvm::append_range(Bytes, Payload);
  Bytes.resize(alignTo(Bytes.size(), 8));
  Dir.Pieces.push_back({Type, End, Key});
  return write(Bytes);
}

void TracePacker::beginFile(pieces::PackedFile File) {
  Current = std::move(File);
  Current.Offset = Sequence;
  Digest = BLAKE3();
}

Error TracePacker::addBytes(ArrayRef<uint8_t> Bytes) {
  Digest.update(Bytes);
  while (!Bytes.empty()) {
    ArrayRef<uint8_t> Fits =
        Bytes.take_front(pieces::PackedPartSize - Part.size());
    Part.bytes(Fits);
    Sequence += Fits.size();
    Bytes = Bytes.drop_front(Fits.size());
    if (Part.size() == pieces::PackedPartSize)
      if (Error E = endPart())
        return E;
  }
  return Error::success();
}

uint64_t TracePacker::endFile() {
  Current.Size = Sequence - Current.Offset;
  Current.Digest = Digest.final();
  encodePackedFile(Table, Current);
  return Current.Size;
}

Error TracePacker::endPart() {
  if (Part.empty())
    return Error::success();
  Error E = append(PieceType::Contents, Sequence - Part.size(), Part.data());
  Part.clear();
  return E;
}

Expected<uint64_t> TracePacker::finish() {
  if (Table.empty()) {
    Finished = true;
    return 0;
  }
  if (Error E = endPart())
    return E;
  if (Error E = append(PieceType::Files, 0, Table.data()))
    return E;
  const uint64_t DirectoryOffset = End;
  ByteWriter Raw;
  encodeDirectory(Raw, Dir);
  if (Error E = append(PieceType::Directory, 0, Raw.data()))
    return E;
  uint8_t Footer[FooterSize];
  encodeFooter(Footer, DirectoryOffset, End + FooterSize);
  // The footer must not reach the disk before what it finishes.
  if (::fdatasync(Descriptor) < 0)
    return failure("write", Path, errno);
  if (Error E = write(Footer))
    return E;
  Finished = true;
  return End - Before;
}

} // namespace chronicle::file
