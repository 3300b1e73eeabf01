// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The translation cache as one recording uses it: the files that the tool may
/// read, and a new file with what the tool had to translate.
///
/// Files are never changed once they have their name, so that any number of
/// recordings may read and add at once. Small files are merged now and then,
/// and files that were not used for the longest time are dropped, by one
/// process at a time. What this does to a file does not concern those that have
/// it open.

#ifndef CHRONICLE_RECORDER_CACHE_TRANSLATIONCACHE_H
#define CHRONICLE_RECORDER_CACHE_TRANSLATIONCACHE_H

#include "recorder/cache/CacheDirectory.h"
#include "recorder/cache/TranslationWriter.h"

namespace chronicle::cache {

class TranslationCache {
public:
  /// Opens the files of the directory that were made by the tool at that path.
  /// Fails if the directory cannot be created or is not the user's own. Costs
  /// the time to hash the tool, about a millisecond.
  static llvm::Expected<std::unique_ptr<TranslationCache>>
  open(llvm::StringRef Path, llvm::StringRef Tool, uint64_t LimitBytes);

  /// Opens the cache that cacheSetting() names.
  /// \return null if it is off, or if it is not usable, and then why in
  /// \p Note. A recording is the same without it, only slower.
  static std::unique_ptr<TranslationCache>
  openIfUsable(const std::string &Where, llvm::StringRef Tool,
               uint64_t LimitBytes, std::string &Note);

  /// For the tool, which reports about them by their index.
  std::vector<int> descriptors() const;
  /// The tool has its copies of the descriptors.
  void closeFiles();

  /// Adds a translation, as the tool sent it. Called on one thread.
  void add(llvm::ArrayRef<uint8_t> Translation);

  /// Completes the new file and keeps the directory in order, given what the
  /// tool reported. To be called after the end of the program.
  /// \return a note for the user, or nothing.
  std::string finish(const ch_translation_report &Report);
  /// How many files were damaged, and therefore removed.
  unsigned damaged() const { return Damaged; }

private:
  TranslationCache(CacheDirectory Directory, const ToolId &Tool,
                   uint64_t LimitBytes);
  void openFiles();
  void mergeSmallFiles();

  CacheDirectory Directory;
  ToolId Tool;
  uint64_t LimitBytes;
  std::vector<TranslationFile> Files;
  TranslationWriter Writer;
  unsigned Damaged = 0;
};

} // namespace chronicle::cache

#endif
