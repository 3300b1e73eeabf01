// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Writes a file of the translation cache. The file has a temporary name until
/// it is complete, so that readers never see half of one, and is locked, so
/// that what a killed writer left can be recognised.

#ifndef CHRONICLE_RECORDER_CACHE_TRANSLATIONWRITER_H
#define CHRONICLE_RECORDER_CACHE_TRANSLATIONWRITER_H

#include "recorder/cache/TranslationFile.h"
#include <vector>

namespace chronicle::cache {

/// Translations go to the file as they come; 16 bytes per translation stay in
/// memory. If something cannot be written (no space left, a read-only file
/// system), the file is removed and nothing more happens.
class TranslationWriter {
public:
  /// Creates the file when the first translation is added. It will have at most
  /// \p MostBytes. The directory must stay open.
  TranslationWriter(int Directory, const ToolId &Tool, uint64_t MostBytes)
      : Directory(Directory), Tool(Tool), MostBytes(MostBytes) {}
  TranslationWriter(const TranslationWriter &) = delete;
  TranslationWriter &operator=(const TranslationWriter &) = delete;
  /// Removes the file unless it was completed.
  ~TranslationWriter() { discard(); }

  void add(uint64_t Key, llvm::ArrayRef<uint8_t> Translation);
  size_t count() const { return Items.size(); }
  /// Completes the file and gives it its name, which is returned. Empty: there
  /// were no translations, or they could not be written (problem()).
  std::string finish();
  /// Why the translations could not be written. Empty: nothing went wrong.
  const std::string &problem() const { return Problem; }
  void discard();

private:
  struct Item {
    uint64_t Key, At;
  };
  bool create();
  void write(llvm::ArrayRef<uint8_t> Bytes);
  void flush();
  bool hasSpace();
  bool failed() const { return !Problem.empty(); }
  void fail(std::string Why);

  int Directory;
  ToolId Tool;
  uint64_t MostBytes;
  int Descriptor = -1;
  std::string Problem;
  std::string TemporaryName;
  std::vector<uint8_t> Buffer;
  uint64_t Written = 0; ///< with the buffer
  std::vector<Item> Items;
};

/// The beginning and the end of the name of each file of a tool.
std::string filePrefix(const ToolId &Tool);
inline constexpr llvm::StringLiteral FileSuffix = ".translations";
inline constexpr llvm::StringLiteral TemporarySuffix = ".new";

} // namespace chronicle::cache

#endif
