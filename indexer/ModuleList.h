// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The executables and libraries of the run, from its mappings.

#ifndef CHRONICLE_INDEXER_MODULELIST_H
#define CHRONICLE_INDEXER_MODULELIST_H

#include "indexer/MemoryImage.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace chronicle::indexer {

/// A module is a file mapped from its start whose contents are an ELF image,
/// and of which something is mapped executable. Reads only the recorded memory:
/// the file on disk may have changed since.
class ModuleList {
public:
  void mapped(const ch_ev_map &Map, llvm::StringRef Path, Timestamp Time);
  /// Looks at the contents of what was mapped since the last call. Call at the
  /// end of a block: contents follow their mapping within the block.
  void look(const MemoryImage &Image);
  llvm::json::Array json() const;
  /// The files of which something was mapped executable so far, in that order.
  llvm::ArrayRef<std::string> executables() const { return Executables; }

private:
  struct Module {
    std::string Path;
    uint64_t Address, Size;
    uint64_t Device, Inode;
    Timestamp Time;
    bool Looked = false, Elf = false, Executable = false;
    std::string BuildId; ///< hexadecimal, or empty
  };
  std::vector<Module> Modules;
  std::vector<std::string> Executables;
};

} // namespace chronicle::indexer

#endif
