// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// ELF files on disk, and the links from one to another.

#ifndef CHRONICLE_QUERY_FILES_ELFFILE_H
#define CHRONICLE_QUERY_FILES_ELFFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace chronicle::files {

using ElfFile = llvm::object::OwningBinary<llvm::object::ObjectFile>;

/// Fails if it is not a 64-bit ELF file.
llvm::Expected<ElfFile> openElf(llvm::StringRef Path);
/// In hexadecimal; empty: it has none.
std::string buildIdOf(const llvm::object::ObjectFile &File);
bool hasDebugInfo(const llvm::object::ObjectFile &File);

/// What .gnu_debuglink says: the name of a file with this file's debug info.
struct DebugLink {
  std::string Name;
  uint32_t Checksum = 0; ///< CRC-32 of that file
};
std::optional<DebugLink> debugLinkOf(const llvm::object::ObjectFile &File);
/// Whether the file exists and has the checksum.
bool hasChecksum(llvm::StringRef Path, uint32_t Checksum);

/// What .gnu_debugaltlink says: the file that dwz moved common debug info to.
struct SupplementaryLink {
  std::string Path;    ///< absolute, or relative to the file that has the link
  std::string BuildId; ///< hexadecimal
};
std::optional<SupplementaryLink>
supplementaryLinkOf(const llvm::object::ObjectFile &File);

/// ".build-id/xx/yyyy.debug": where a debug directory has the file of a build.
/// Empty if there is no build id.
std::string debugFileName(llvm::StringRef BuildId);

} // namespace chronicle::files

#endif
