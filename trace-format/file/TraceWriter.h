// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Writes a trace.db: pieces are handed over raw, compressed by worker threads
/// and appended in the order in which they came.

#ifndef CHRONICLE_TRACE_FORMAT_FILE_TRACEWRITER_H
#define CHRONICLE_TRACE_FORMAT_FILE_TRACEWRITER_H

#include "trace-format/FileFormat.h"
#include "trace-format/Thread.h"
#include "trace-format/file/Codec.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace llvm {
class MemoryBuffer;
}

namespace chronicle::file {

/// Fails if another process writes to this trace.
llvm::Error checkNotBeingWritten(llvm::StringRef Path);

/// A file that is only appended to, many pieces with one system call. A full or
/// broken disk is reported as an error, possibly some appends late;
/// TraceWriter::recover() cuts off what was written of them.
class FileAppender {
public:
  static constexpr size_t BufferBytes = 256 << 10;

  /// Creates a file that only its owner may read, and locks it.
  static llvm::Expected<std::unique_ptr<FileAppender>>
  create(llvm::StringRef Path, bool Overwrite);
  ~FileAppender();
  llvm::Error append(llvm::ArrayRef<uint8_t> Head,
                     llvm::ArrayRef<uint8_t> Body);
  /// Writes all that was appended.
  llvm::Error flush();
  uint64_t size() const { return Size; }
  /// After flush(): what is in the file, mapped.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> map() const;
  /// After flush(): makes sure that Bytes more can be appended after this point
  /// even if the disk fills up. Best effort: not every file system can do it.
  void reserve(uint64_t Bytes);
  /// Goes on at Offset. What lies beyond is overwritten, in space the file
  /// already has, and cut off by close().
  void rewind(uint64_t Offset) {
    Buffer.clear();
    Size = Offset;
  }
  llvm::Error close();

private:
  FileAppender(int Descriptor, llvm::StringRef Path)
      : Descriptor(Descriptor), Path(Path) {}
  int Descriptor;
  std::string Path;
  uint64_t Size = 0; ///< with what is in the buffer
  llvm::SmallVector<uint8_t, 0> Buffer;
};

/// One thread calls append() and finish(); the worker threads are inside.
/// Memory: at most QueueBytes of raw pieces wait to be compressed; then
/// append() blocks.
class TraceWriter {
public:
  static constexpr uint64_t QueueBytes = 32u << 20;
  /// A sleeping worker is woken when this much is queued, or for a checkpoint.
  static constexpr uint64_t WakeBytes = 512u << 10;

  /// How pieces are compressed.
  struct Compression {
    /// Page chunks, blocks and definitions: most of a trace, and what opening
    /// it or asking a question waits for.
    Codec Bulk = Codec::Lz4;
    Codec Others = Codec::Zstd;
    int Level = 1;
  };
  /// Writes the file header.
  static llvm::Expected<std::unique_ptr<TraceWriter>>
  create(llvm::StringRef Path, bool Overwrite, Compression How,
         unsigned Workers);
  ~TraceWriter();

  /// Hands a piece over and returns its number, from 0, in the order of calls.
  /// After a failure pieces are dropped.
  uint64_t append(PieceType Type, uint64_t Key,
                  llvm::SmallVector<uint8_t, 0> Raw);
  /// Space that recover() needs, kept free behind every checkpoint.
  void setReserve(uint64_t Bytes) { Reserve = Bytes; }

  /// True once something could not be written.
  bool failed() const { return Failed; }
  /// Bytes handed over so far, before compression. For the appending thread.
  uint64_t rawBytes() const { return RawBytes; }
  /// Bytes in the file so far.
  uint64_t bytesWritten() const { return Written; }

  /// Waits until all is written, and gives the first failure.
  llvm::Error flush();
  /// After flush(): the file as it is now, mapped.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> written() const;
  /// After flush(): where the piece of that number starts.
  uint64_t offsetOf(uint64_t Number) const { return Offsets[Number]; }

  struct Recovery {
    uint64_t Pieces; ///< pieces with a smaller number are kept
    uint64_t Blocks; ///< the checkpoint's key
  };
  /// After a failure: takes the file back to its last checkpoint, from where it
  /// can be finished. Fails if there is none.
  llvm::Expected<Recovery> recover();

  /// Writes the footer and closes the file. The piece is the directory's.
  llvm::Error close(uint64_t DirectoryNumber);

private:
  struct Job {
    PieceType Type;
    uint64_t Key;
    llvm::SmallVector<uint8_t, 0> Raw, Stored;
    Codec Used = Codec::None;
  };
  explicit TraceWriter(std::unique_ptr<FileAppender> File)
      : File(std::move(File)) {}
  void work(Compression How);
  /// Whether a worker should be woken.
  bool worthwhile() const {
    return Queued >= WakeBytes || (Hurry && !Queue.empty());
  }
  void writeReady(std::unique_lock<std::mutex> &Lock);
  llvm::Error write(const Job &J);

  std::unique_ptr<FileAppender> File;
  std::vector<Thread> Threads;
  mutable std::mutex Mutex;
  std::condition_variable JobReady, Progress;
  std::deque<std::pair<uint64_t, Job>> Queue;
  std::map<uint64_t, Job> Done; ///< compressed, not yet written
  uint64_t NextNumber = 0, NextWrite = 0, RawBytes = 0;
  uint64_t Waiting = 0; ///< raw bytes that are not written
  uint64_t Queued = 0;  ///< raw bytes that no worker has
  bool Writing = false, Stopping = false, Hurry = false;
  std::vector<uint64_t> Offsets;
  std::string Failure;
  std::error_code FailureCode;
  std::atomic<bool> Failed{false};
  std::atomic<uint64_t> Written{0}, Reserve{1 << 20};
  /// The last checkpoint: pieces up to it, its key, and where it ends.
  uint64_t CheckpointPieces = 0, CheckpointKey = 0, CheckpointEnd = 0;
};

} // namespace chronicle::file

#endif
