// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A file of the translation cache, as trace-format/Translations.h describes
/// it.

#ifndef CHRONICLE_RECORDER_CACHE_TRANSLATIONFILE_H
#define CHRONICLE_RECORDER_CACHE_TRANSLATIONFILE_H

#include "trace-format/Translations.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <string>

namespace chronicle::cache {

/// The hash of the tool's file. Translations of one tool are of no use to
/// another.
using ToolId = std::array<uint64_t, 2>;
llvm::Expected<ToolId> toolId(llvm::StringRef Path);

/// An open file whose header is valid. Closes its descriptor.
class TranslationFile {
public:
  /// Opens a file of the directory for reading. Fails unless it is a regular
  /// file that only the user may read or write, of the size that its header
  /// has, and made by this version.
  static llvm::Expected<TranslationFile> open(int Directory,
                                              llvm::StringRef Name);
  TranslationFile(TranslationFile &&Other);
  TranslationFile &operator=(TranslationFile &&) = delete;
  ~TranslationFile() { close(); }

  const std::string &name() const { return Name; }
  const ch_translations_header &header() const { return Header; }
  ToolId tool() const { return {Header.tool[0], Header.tool[1]}; }
  int descriptor() const { return Descriptor; } ///< close-on-exec
  void close();

  /// Visits the translations in their order until Visit returns false. Fails
  /// at the first that is damaged.
  llvm::Error forEach(
      llvm::function_ref<bool(const ch_translation &, llvm::ArrayRef<uint8_t>)>
          Visit) const;

private:
  TranslationFile() = default;
  std::string Name;
  int Descriptor = -1;
  ch_translations_header Header = {};
};

} // namespace chronicle::cache

#endif
