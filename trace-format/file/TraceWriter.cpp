// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/file/TraceWriter.h"
#include "trace-format/PrivateFile.h"
#include "trace-format/file/Piece.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::file {

static Error fileError(StringRef What, StringRef Path, int Code) {
  return createStringError(std::error_code(Code, std::generic_category()),
                           "cannot " + What + " '" + Path +
                               "': " + sys::StrError(Code));
}

static Error beingWritten(StringRef Path) {
  return createStringError("'" + Path +
                           "' is being written by another recording: name "
                           "another file");
}

Expected<std::unique_ptr<FileAppender>> FileAppender::create(StringRef Path,
                                                             bool Overwrite) {
  std::string Name = Path.str();
  int Descriptor = ::open(
      Name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (Overwrite ? 0 : O_EXCL),
      PrivateMode);
  if (Descriptor < 0) {
    if (errno == EEXIST)
      return createStringError(std::make_error_code(std::errc::file_exists),
                               "'" + Path + "' exists already");
    return fileError("create", Path, errno);
  }
  std::unique_ptr<FileAppender> File(new FileAppender(Descriptor, Path));
  struct stat Status;
  if (fstat(Descriptor, &Status) != 0)
    return fileError("examine", Path, errno);
  // Some file systems have no locks, and no permissions to change.
  if (flock(Descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return beingWritten(Path);
  if (S_ISREG(Status.st_mode))
    (void)fchmod(Descriptor, PrivateMode);
  if (Overwrite && ftruncate(Descriptor, 0) != 0 && errno != EINVAL)
    return fileError("truncate", Path, errno);
  return File;
}

Error checkNotBeingWritten(StringRef Path) {
  int Descriptor =
      ::open(Path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (Descriptor < 0)
    return Error::success();
  const bool Locked =
      flock(Descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(Descriptor);
  return Locked ? beingWritten(Path) : Error::success();
}

FileAppender::~FileAppender() {
  if (Descriptor >= 0)
    ::close(Descriptor);
}

static Error writeAll(int Descriptor, StringRef Path, uint64_t Offset,
                      ArrayRef<uint8_t> Bytes) {
  while (!Bytes.empty()) {
    ssize_t N = ::pwrite(Descriptor, Bytes.data(), Bytes.size(), off_t(Offset));
    if (N < 0 && errno == EINTR)
      continue;
    if (N <= 0)
      return fileError("write", Path, N ? errno : EIO);
    Bytes = Bytes.drop_front(N);
    Offset += N;
  }
  return Error::success();
}

Error FileAppender::append(ArrayRef<uint8_t> Head, ArrayRef<uint8_t> Body) {
  llvm::append_range(Buffer, Head);
  llvm::append_range(Buffer, Body);
  uint64_t End = Size + Head.size() + Body.size();
  Size = alignTo(End, 8);
  Buffer.append(Size - End, 0);
  return Buffer.size() < BufferBytes ? Error::success() : flush();
}

Error FileAppender::flush() {
  Error E = writeAll(Descriptor, Path, Size - Buffer.size(), Buffer);
  Buffer.clear();
  return E;
}

Expected<std::unique_ptr<MemoryBuffer>> FileAppender::map() const {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Mapped =
      MemoryBuffer::getOpenFile(sys::fs::convertFDToNativeFile(Descriptor),
                                Path, Size, /*RequiresNullTerminator=*/false);
  if (!Mapped)
    return fileError("read", Path, Mapped.getError().value());
  return std::move(*Mapped);
}

void FileAppender::reserve(uint64_t Bytes) {
  while (::fallocate(Descriptor, FALLOC_FL_KEEP_SIZE, off_t(Size),
                     off_t(Bytes)) < 0 &&
         errno == EINTR)
    ;
}

Error FileAppender::close() {
  Error E = flush();
  // Gives back what was reserved, and cuts off what a recovery left behind.
  int Failure = ::ftruncate(Descriptor, off_t(Size)) < 0 ? errno : 0;
  if (::close(Descriptor) < 0 && !Failure)
    Failure = errno;
  Descriptor = -1;
  if (Failure && !E)
    return fileError("finish", Path, Failure);
  return E;
}

Expected<std::unique_ptr<TraceWriter>> TraceWriter::create(StringRef Path,
                                                           bool Overwrite,
                                                           Compression How,
                                                           unsigned Workers) {
  auto File = FileAppender::create(Path, Overwrite);
  if (!File)
    return File.takeError();
  uint8_t Header[FileHeaderSize];
  encodeFileHeader(Header);
  Error E = (*File)->append(Header, {});
  if (!E)
    E = (*File)->flush();
  if (E) {
    ::unlink(Path.str().c_str());
    return E;
  }
  std::unique_ptr<TraceWriter> W(new TraceWriter(std::move(*File)));
  W->Written = W->File->size();
  if (!Workers)
    Workers = std::max(
        1u, get_physical_cores() > 1 ? unsigned(get_physical_cores()) - 1 : 1);
  for (unsigned I = 0; I < Workers; ++I) {
    Expected<Thread> Worker =
        Thread::start([W = W.get(), How] { W->work(How); });
    // Fewer are slower, and one is enough.
    if (!Worker && I > 0) {
      consumeError(Worker.takeError());
      break;
    }
    if (!Worker) {
      ::unlink(Path.str().c_str());
      return Worker.takeError();
    }
    W->Threads.push_back(std::move(*Worker));
  }
  return W;
}

TraceWriter::~TraceWriter() {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Stopping = true;
    Queue.clear();
  }
  JobReady.notify_all();
  for (Thread &T : Threads)
    T.join();
}

uint64_t TraceWriter::append(PieceType Type, uint64_t Key,
                             SmallVector<uint8_t, 0> Raw) {
  std::unique_lock<std::mutex> Lock(Mutex);
  // A worker, or the thread that appends, waits once for many pieces.
  if (Waiting >= QueueBytes)
    Progress.wait(Lock, [&] { return Waiting < QueueBytes / 2; });
  uint64_t Number = NextNumber++;
  Offsets.push_back(0);
  Waiting += Raw.size();
  RawBytes += Raw.size();
  Job J;
  J.Type = Type;
  J.Key = Key;
  J.Raw = std::move(Raw);
  Queued += J.Raw.size();
  Hurry |= Type == PieceType::Checkpoint;
  Queue.emplace_back(Number, std::move(J));
  if (worthwhile())
    JobReady.notify_one();
  return Number;
}

/// Whether opening a trace or asking a question waits for pieces of the type;
/// they are most of a trace.
static bool isBulk(PieceType Type) {
  switch (Type) {
  case PieceType::Pages:
  case PieceType::Block:
  case PieceType::Definitions:
  case PieceType::ExecutionIndex:
    return true;
  default:
    return false;
  }
}

void TraceWriter::work(Compression How) {
  set_thread_name("chronicle-pack");
  Compressor Bulk(How.Bulk, How.Level), Others(How.Others, How.Level);
  std::unique_lock<std::mutex> Lock(Mutex);
  while (true) {
    if (Queue.empty()) {
      Hurry = false;
      JobReady.wait(Lock, [&] { return Stopping || worthwhile(); });
    }
    if (Queue.empty()) {
      if (Stopping)
        return;
      continue;
    }
    uint64_t Number = Queue.front().first;
    Job J = std::move(Queue.front().second);
    Queue.pop_front();
    Queued -= J.Raw.size();
    Lock.unlock();
    // Readers use tables where they lie in the file, uncompressed.
    if (!Failed && J.Type != PieceType::Programs && !isTable(J.Type))
      J.Used = (isBulk(J.Type) ? Bulk : Others).compress(J.Raw, J.Stored);
    Lock.lock();
    Done.emplace(Number, std::move(J));
    writeReady(Lock);
  }
}

/// The worker that finishes the piece that comes next in the file writes it,
/// and the pieces after it that are ready.
void TraceWriter::writeReady(std::unique_lock<std::mutex> &Lock) {
  if (Writing)
    return;
  Writing = true;
  while (!Done.empty() && Done.begin()->first == NextWrite) {
    Job J = std::move(Done.begin()->second);
    Done.erase(Done.begin());
    uint64_t Start = File->size();
    if (!Failed) {
      Lock.unlock();
      Error E = write(J);
      Lock.lock();
      if (E) {
        handleAllErrors(std::move(E), [&](const ErrorInfoBase &Info) {
          FailureCode = Info.convertToErrorCode();
          Failure = Info.message();
        });
        Failed = true;
      } else {
        Written = File->size();
        if (J.Type == PieceType::Checkpoint) {
          CheckpointPieces = NextWrite + 1;
          CheckpointKey = J.Key;
          CheckpointEnd = File->size();
        }
      }
    }
    Offsets[NextWrite++] = Start;
    Waiting -= J.Raw.size();
    Progress.notify_all();
  }
  Writing = false;
}

Error TraceWriter::write(const Job &J) {
  ArrayRef<uint8_t> Payload =
      J.Used == Codec::None ? ArrayRef(J.Raw) : ArrayRef(J.Stored);
  uint8_t Header[PieceHeaderSize];
  encodePieceHeader(Header, J.Type, J.Used, uint32_t(J.Raw.size()), J.Key,
                    Payload);
  if (Error E = File->append(Header, Payload))
    return E;
  if (J.Type != PieceType::Checkpoint)
    return Error::success();
  if (Error E = File->flush())
    return E;
  File->reserve(Reserve);
  return Error::success();
}

Error TraceWriter::flush() {
  std::unique_lock<std::mutex> Lock(Mutex);
  Hurry = true;
  JobReady.notify_all();
  Progress.wait(Lock, [&] { return NextWrite == NextNumber && !Writing; });
  if (Failed)
    return createStringError(FailureCode, Failure);
  return File->flush();
}

Expected<std::unique_ptr<MemoryBuffer>> TraceWriter::written() const {
  return File->map();
}

Expected<TraceWriter::Recovery> TraceWriter::recover() {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!CheckpointEnd)
    return createStringError(FailureCode, Failure);
  File->rewind(CheckpointEnd);
  Failed = false;
  Written = CheckpointEnd;
  return Recovery{CheckpointPieces, CheckpointKey};
}

Error TraceWriter::close(uint64_t DirectoryNumber) {
  if (Error E = flush())
    return E;
  uint8_t Footer[FooterSize];
  encodeFooter(Footer, offsetOf(DirectoryNumber), File->size() + FooterSize);
  if (Error E = File->append(Footer, {}))
    return E;
  Written = File->size();
  return File->close();
}

} // namespace chronicle::file
