// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where an index that was made from a trace is kept.

#ifndef CHRONICLE_QUERY_READS_INDEXHOME_H
#define CHRONICLE_QUERY_READS_INDEXHOME_H

#include "query/answers/Cancellation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace chronicle::reads {

/// The files that an index may be in: beside the trace, or in the user's cache
/// directory under the trace's identity.
std::vector<std::string> indexPlaces(llvm::StringRef TracePath,
                                     llvm::StringRef Suffix, uint64_t Identity);

/// A file that this process writes an index to. Nobody else can read it, and no
/// other process writes it as long as this object lives.
class IndexHome {
public:
  /// Opens or creates the file. Waits while another process makes the same
  /// index; null if Cancel ended that. A file that does not begin as Magic
  /// does, and is not empty, belongs to somebody else: that is an error.
  static llvm::Expected<std::unique_ptr<IndexHome>>
  open(llvm::StringRef Path, llvm::StringRef Magic,
       const answers::Cancellation *Cancel);
  ~IndexHome();

  llvm::StringRef path() const { return Path; }
  /// Cuts the file to Size bytes; append() goes on there.
  llvm::Error cut(uint64_t Size);
  /// The bytes are in the file when it returns, although not on the disk.
  llvm::Error append(llvm::ArrayRef<uint8_t> Bytes);

private:
  IndexHome(std::string Path, int Descriptor)
      : Path(std::move(Path)), Descriptor(Descriptor) {}
  std::string Path;
  int Descriptor;
  uint64_t Size = 0;
};

} // namespace chronicle::reads

#endif
