// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The directory that the translation cache lives in.

#ifndef CHRONICLE_RECORDER_CACHE_CACHEDIRECTORY_H
#define CHRONICLE_RECORDER_CACHE_CACHEDIRECTORY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace chronicle::cache {

constexpr uint64_t DefaultLimitMb = 1024;

/// How often the cache was used, since it was created or cleared.
struct CacheStatistics {
  uint64_t Recordings = 0;
  uint64_t Translations = 0; ///< that these recordings needed
  uint64_t Stored = 0;       ///< how many of them the cache had
};

/// The directory of the cache: $XDG_CACHE_HOME/chronicle/translations, or
/// ~/.cache/chronicle/translations. Empty if there is no home directory.
std::string defaultCacheDirectory();

/// Whether and where the user wants a cache: "off", "on" or a directory. That
/// is \p Asked unless it is empty, then $CHRONICLE_CACHE, and else "on".
std::string cacheSetting(llvm::StringRef Asked);

/// Holds a lock until it is destroyed.
class CacheLock {
public:
  explicit CacheLock(int Descriptor) : Descriptor(Descriptor) {}
  CacheLock(const CacheLock &) = delete;
  CacheLock &operator=(const CacheLock &) = delete;
  ~CacheLock();

private:
  int Descriptor;
};

/// Only the user may read or write the directory.
class CacheDirectory {
public:
  struct File {
    std::string Name;
    uint64_t Bytes;
    timespec Used; ///< when it was last of use
  };

  /// Opens the directory, and creates it if \p Create is set.
  static llvm::Expected<CacheDirectory> open(llvm::StringRef Path, bool Create);
  CacheDirectory(CacheDirectory &&Other);
  CacheDirectory &operator=(CacheDirectory &&) = delete;
  ~CacheDirectory();

  int descriptor() const { return Descriptor; }
  /// The complete files, those last used first.
  std::vector<File> files() const;
  void remove(llvm::StringRef Name) const;
  /// Notes that the file was of use.
  void touch(llvm::StringRef Name) const;
  /// Removes what writers left that were killed.
  void removeLeftovers() const;
  /// Removes the files that were not used for the longest time until the rest
  /// has at most \p MostBytes.
  void evict(uint64_t MostBytes) const;
  /// Removes everything that belongs to the cache. Recordings under way keep
  /// what they have open. Returns how many bytes that were.
  uint64_t clear() const;

  /// Takes the lock that keeps others from rearranging the files meanwhile.
  /// Null: another process has it.
  std::unique_ptr<CacheLock> tryLock() const;

  CacheStatistics statistics() const;
  /// Adds to the statistics. Gives up if that takes long.
  void count(const CacheStatistics &More) const;

private:
  CacheDirectory() = default;
  std::vector<std::string> names() const;
  int Descriptor = -1;
};

} // namespace chronicle::cache

#endif
