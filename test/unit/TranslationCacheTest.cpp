// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The files of the translation cache, against what docs/format.md says of
/// them, and the directory they are in.

#include "recorder/cache/TranslationCache.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace chronicle;
using namespace chronicle::cache;

namespace {

constexpr uint64_t Megabyte = 1 << 20;

bool failed(Error E) {
  const bool Failed = bool(E);
  consumeError(std::move(E));
  return Failed;
}

/// A translation of the superblock at the address, as the tool makes it.
std::vector<uint8_t> translation(uint64_t Address, size_t CodeBytes = 100) {
  ch_translation T = {};
  T.guest_length = 3;
  T.subject.address = Address;
  T.subject.mode = CH_MODE_MARKS_STORES;
  T.key = ch_checksum(&T.subject, sizeof(T.subject));
  T.guest_bytes = 5;
  T.instructions = 1;
  T.run_words = 1;
  T.definition_bytes = 7;
  T.code_bytes = uint32_t(CodeBytes);
  T.size = uint32_t((ch_translation_bytes(&T) + 7) / 8 * 8);
  std::vector<uint8_t> Bytes(T.size);
  std::memcpy(Bytes.data(), &T, sizeof(T));
  for (size_t I = sizeof(T) + 4; I < ch_translation_bytes(&T); ++I)
    Bytes[I] = uint8_t(Address + I);
  uint64_t Sum = ch_checksum(Bytes.data() + CH_TRANSLATION_CHECKED_FROM,
                             T.size - CH_TRANSLATION_CHECKED_FROM);
  std::memcpy(Bytes.data() + offsetof(ch_translation, checksum), &Sum, 8);
  return Bytes;
}

class TranslationCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    SmallString<128> Created;
    ASSERT_FALSE(sys::fs::createUniqueDirectory("chronicle-cache", Created));
    Root = std::string(Created);
    Path = Root + "/new/translations";
    Tool = Root + "/tool";
    std::ofstream(Tool) << "a tool";
  }
  void TearDown() override { EXPECT_FALSE(sys::fs::remove_directories(Root)); }

  std::unique_ptr<TranslationCache> open(uint64_t Limit = 100 * Megabyte) {
    Expected<std::unique_ptr<TranslationCache>> Cache =
        TranslationCache::open(Path, Tool, Limit);
    EXPECT_TRUE(bool(Cache));
    return cantFail(std::move(Cache));
  }
  void record(ArrayRef<uint64_t> Addresses, uint64_t Limit = 100 * Megabyte,
              size_t CodeBytes = 100) {
    std::unique_ptr<TranslationCache> Cache = open(Limit);
    for (uint64_t A : Addresses)
      Cache->add(translation(A, CodeBytes));
    Cache->finish({});
  }
  CacheDirectory directory() {
    return cantFail(CacheDirectory::open(Path, false));
  }
  /// The addresses of all translations of all files.
  std::multiset<uint64_t> addresses() {
    std::multiset<uint64_t> Found;
    CacheDirectory D = directory();
    for (const CacheDirectory::File &F : D.files()) {
      TranslationFile File =
          cantFail(TranslationFile::open(D.descriptor(), F.Name));
      EXPECT_FALSE(
          failed(File.forEach([&](const ch_translation &T, ArrayRef<uint8_t>) {
            Found.insert(T.subject.address);
            return true;
          })));
    }
    return Found;
  }
  std::string onlyFile() {
    std::vector<CacheDirectory::File> Files = directory().files();
    EXPECT_EQ(Files.size(), 1u);
    return Path + "/" + Files[0].Name;
  }
  static std::string contents(const std::string &File) {
    std::ifstream In(File, std::ios::binary);
    return {std::istreambuf_iterator<char>(In), {}};
  }

  std::string Root, Path, Tool;
};

mode_t modeOf(const std::string &Path) {
  struct stat Status;
  return stat(Path.c_str(), &Status) == 0 ? Status.st_mode & 07777 : 0;
}

TEST_F(TranslationCacheTest, FilesAreAsDocumented) {
  record({0x1000, 0x2000, 0x3000});
  EXPECT_EQ(modeOf(Path), 0700u);
  EXPECT_EQ(modeOf(onlyFile()), 0600u);
  const std::string Bytes = contents(onlyFile());
  EXPECT_EQ(Bytes.substr(0, 8), "CHRNTRAN");
  ch_translations_header H;
  std::memcpy(&H, Bytes.data(), sizeof(H));
  EXPECT_EQ(H.version, 1u);
  EXPECT_EQ(H.translations, 3u);
  EXPECT_EQ(H.size, Bytes.size());
  EXPECT_EQ(H.slots, 8u);
  EXPECT_EQ(H.table + H.slots * 8, H.size);
  // Each is found by its key, as the tool looks for it.
  for (uint64_t Address : {0x1000, 0x2000, 0x3000}) {
    std::vector<uint8_t> Wanted = translation(Address);
    uint64_t Key;
    std::memcpy(&Key, &Wanted[offsetof(ch_translation, key)], 8);
    bool Found = false;
    for (uint64_t N = Key & (H.slots - 1);; N = (N + 1) & (H.slots - 1)) {
      ch_translation_slot Slot;
      std::memcpy(&Slot, &Bytes[H.table + N * 8], 8);
      if (!Slot.at)
        break;
      Found |= Slot.tag == Key >> 32 &&
               Bytes.compare(8 * Slot.at, Wanted.size(),
                             reinterpret_cast<const char *>(Wanted.data()),
                             Wanted.size()) == 0;
    }
    EXPECT_TRUE(Found) << Address;
  }
}

TEST_F(TranslationCacheTest, WithoutTranslationsThereIsNoFile) {
  record({});
  EXPECT_TRUE(directory().files().empty());
  EXPECT_EQ(directory().statistics().Recordings, 1u);
}

TEST_F(TranslationCacheTest, FilesOfAnotherToolAreNotPassedOn) {
  record({0x1000});
  EXPECT_EQ(open()->descriptors().size(), 1u);
  std::ofstream(Tool) << "another tool";
  std::unique_ptr<TranslationCache> Cache = open();
  EXPECT_TRUE(Cache->descriptors().empty());
  EXPECT_EQ(Cache->damaged(), 0u);
  EXPECT_EQ(directory().files().size(), 1u);
}

/// Every damaged byte of a header is found when the file is opened, and every
/// other one when the translation is looked at. Slots are not protected: what
/// they lead to is.
TEST_F(TranslationCacheTest, EachDamagedByteIsFound) {
  record({0x1000, 0x2000});
  const std::string File = onlyFile(), Good = contents(File);
  CacheDirectory D = directory();
  const std::string Name = D.files()[0].Name;
  ch_translations_header H;
  std::memcpy(&H, Good.data(), sizeof(H));
  for (size_t At = 0; At < H.table; ++At) {
    std::string Bad = Good;
    Bad[At] ^= 0x10;
    std::ofstream(File, std::ios::binary) << Bad;
    Expected<TranslationFile> F = TranslationFile::open(D.descriptor(), Name);
    if (At < sizeof(H)) {
      EXPECT_TRUE(failed(F.takeError())) << At;
      continue;
    }
    ASSERT_TRUE(bool(F)) << At;
    unsigned Seen = 0;
    Error E = F->forEach([&](const ch_translation &, ArrayRef<uint8_t>) {
      ++Seen;
      return true;
    });
    EXPECT_TRUE(failed(std::move(E))) << At;
    EXPECT_LT(Seen, 2u);
  }
}

TEST_F(TranslationCacheTest, ForeignFilesAreRemoved) {
  record({0x1000});
  const std::string File = onlyFile(), Good = contents(File);
  auto Damaged = [&] {
    std::unique_ptr<TranslationCache> Cache = open();
    EXPECT_TRUE(Cache->descriptors().empty());
    EXPECT_FALSE(sys::fs::exists(File));
    return Cache->damaged();
  };
  std::ofstream(File, std::ios::binary) << Good.substr(0, Good.size() - 1);
  EXPECT_EQ(Damaged(), 1u);
  std::ofstream(File, std::ios::binary) << Good;
  ASSERT_EQ(chmod(File.c_str(), 0640), 0);
  EXPECT_EQ(Damaged(), 1u);
  ASSERT_EQ(mkfifo(File.c_str(), 0600), 0);
  EXPECT_EQ(Damaged(), 1u);
}

TEST_F(TranslationCacheTest, LinksAreNotFollowed) {
  record({0x1000});
  const std::string File = onlyFile(), Elsewhere = Root + "/elsewhere";
  ASSERT_EQ(rename(File.c_str(), Elsewhere.c_str()), 0);
  ASSERT_EQ(symlink(Elsewhere.c_str(), File.c_str()), 0);
  EXPECT_TRUE(open()->descriptors().empty());
  EXPECT_TRUE(sys::fs::exists(Elsewhere));
}

TEST_F(TranslationCacheTest, DirectoriesOpenToOthersAreRefused) {
  ASSERT_FALSE(sys::fs::create_directories(Path));
  ASSERT_EQ(chmod(Path.c_str(), 0755), 0);
  EXPECT_TRUE(failed(TranslationCache::open(Path, Tool, Megabyte).takeError()));
  ASSERT_EQ(chmod(Path.c_str(), 0700), 0);
  EXPECT_FALSE(
      failed(TranslationCache::open(Path, Tool, Megabyte).takeError()));
}

TEST_F(TranslationCacheTest, FilesThatWereUsedLastStay) {
  // Three files of a megabyte each; the first is used again.
  for (uint64_t A : {0x1000, 0x2000, 0x3000})
    record({A}, 100 * Megabyte, Megabyte);
  CacheDirectory D = directory();
  std::vector<CacheDirectory::File> Files = D.files();
  ASSERT_EQ(Files.size(), 3u);
  for (auto [I, F] : enumerate(Files)) {
    timespec Times[2] = {{1000 - long(I), 0}, {1000 - long(I), 0}};
    utimensat(D.descriptor(), F.Name.c_str(), Times, 0);
  }
  std::unique_ptr<TranslationCache> Cache = open(5 * Megabyte / 2);
  // The files are in the order of their last use.
  Cache->finish({10, 5, /*UsedFiles=*/1 << 2, 0});
  std::multiset<uint64_t> Left = addresses();
  EXPECT_EQ(Left.size(), 2u);
  EXPECT_EQ(D.files()[0].Name, Files[2].Name);
  EXPECT_EQ(D.files()[1].Name, Files[0].Name);
  CacheStatistics S = D.statistics();
  EXPECT_EQ(S.Recordings, 4u);
  EXPECT_EQ(S.Translations, 10u);
  EXPECT_EQ(S.Stored, 5u);
}

TEST_F(TranslationCacheTest, DamagedFilesThatTheToolReportsAreRemoved) {
  record({0x1000});
  std::unique_ptr<TranslationCache> Cache = open();
  ASSERT_EQ(Cache->descriptors().size(), 1u);
  Cache->finish({1, 0, 0, /*DamagedFiles=*/1});
  EXPECT_EQ(Cache->damaged(), 1u);
  EXPECT_TRUE(directory().files().empty());
}

TEST_F(TranslationCacheTest, SmallFilesAreMerged) {
  std::set<uint64_t> Added;
  for (uint64_t I = 0; I < 30; ++I) {
    record({0x1000 + I, 0x2000 + I / 2});
    Added.insert({0x1000 + I, 0x2000 + I / 2});
    EXPECT_LE(directory().files().size(), 8u);
  }
  std::multiset<uint64_t> Found = addresses();
  EXPECT_EQ(std::set<uint64_t>(Found.begin(), Found.end()), Added);
  // Those that several files had were copied once.
  EXPECT_LT(Found.size(), 60u);
}

TEST_F(TranslationCacheTest, LeftoversAreRemovedUnlessTheirWriterLives) {
  std::unique_ptr<TranslationCache> Living = open();
  Living->add(translation(0x1000, Megabyte));
  std::ofstream(Path + "/0123456789abcdef-0.new") << "left by a killed writer";
  record({0x2000});
  unsigned Temporary = 0;
  std::error_code E;
  for (sys::fs::directory_iterator I(Path, E), End; I != End; I.increment(E))
    Temporary += StringRef(I->path()).ends_with(".new");
  EXPECT_EQ(Temporary, 1u);
  Living->finish({});
  EXPECT_EQ(addresses(), (std::multiset<uint64_t>{0x1000, 0x2000}));
}

/// Eight processes add at once, and merge and drop files meanwhile.
TEST_F(TranslationCacheTest, NothingIsLostWhenManyAdd) {
  constexpr uint64_t Writers = 8, Rounds = 12;
  open();
  std::vector<pid_t> Children;
  for (uint64_t W = 0; W < Writers; ++W) {
    pid_t Child = fork();
    if (Child == 0) {
      for (uint64_t R = 0; R < Rounds; ++R)
        record({W << 16 | R});
      _exit(HasFailure() ? 1 : 0);
    }
    Children.push_back(Child);
  }
  for (pid_t Child : Children) {
    int Status;
    ASSERT_EQ(waitpid(Child, &Status, 0), Child);
    EXPECT_EQ(Status, 0);
  }
  std::multiset<uint64_t> Found = addresses();
  for (uint64_t W = 0; W < Writers; ++W)
    for (uint64_t R = 0; R < Rounds; ++R)
      EXPECT_GE(Found.count(W << 16 | R), 1u) << W << " " << R;
  EXPECT_LE(directory().statistics().Recordings, Writers * Rounds);
  EXPECT_GT(directory().statistics().Recordings, Writers);
}

TEST_F(TranslationCacheTest, ClearLeavesNothing) {
  record({0x1000});
  CacheDirectory D = directory();
  EXPECT_GT(D.clear(), 100u);
  EXPECT_TRUE(D.files().empty());
  EXPECT_EQ(D.statistics().Recordings, 0u);
}

} // namespace
