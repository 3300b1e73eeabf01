// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Makes the traces of a run, and has what they share.

#ifndef CHRONICLE_UTILS_CHRONICLE_TREE_TRACEMAKER_H
#define CHRONICLE_UTILS_CHRONICLE_TREE_TRACEMAKER_H

#include "query/files/FileKeeper.h"
#include "recorder/cache/TranslationCache.h"
#include "recorder/launch/RunFacts.h"
#include "utils/chronicle/recording/OutputFile.h"
#include "utils/chronicle/tree/ProcessTree.h"

namespace chronicle::tree {

/// What the user chose for all traces of a run.
struct TraceSettings {
  std::string Tool; ///< the recorder's path
  file::TraceWriter::Compression Compression;
  llvm::json::Object Options; ///< for the run piece
  uint32_t BlockInstructions = launch::DefaultBlockInstructions;
  bool KeepFiles = true; ///< copies of programs and libraries
  bool Forks = false;    ///< forked processes are recorded, too
};

/// Any thread may call make(), once the first call has returned.
class TraceMaker {
public:
  TraceMaker(TraceSettings Settings,
             std::unique_ptr<cache::TranslationCache> Cache)
      : Settings(std::move(Settings)), Cache(std::move(Cache)) {}

  /// Creates the trace file, and the indexer that fills it from the ring. The
  /// first call is for the first process.
  llvm::Expected<std::unique_ptr<indexer::Indexer>>
  make(const launch::ProgramFile &Program, const recording::OutputFile &Trace,
       llvm::ArrayRef<const char *> Arguments, launch::SharedRing &Ring,
       const std::optional<launch::FollowedProcess> &Followed = std::nullopt,
       family::Kinship Kin = {});

  /// How a tree makes traces. This object must outlive the tree.
  TreeOptions treeOptions();

  /// Null if no translations are kept.
  cache::TranslationCache *cache() const { return Cache.get(); }
  /// Waits for the copies of programs and libraries.
  /// \return sentences about those that could not be made.
  std::vector<std::string> finishKeeping() { return Keeper.finish(); }

private:
  const TraceSettings Settings;
  files::FileKeeper Keeper;
  std::unique_ptr<cache::TranslationCache> Cache;
  std::mutex CacheLock;
  RunningProgram First;
};

/// What came from the translation cache, for all processes together.
ch_translation_report allTranslations(ch_translation_report First,
                                      llvm::ArrayRef<ProcessResult> Others);

} // namespace chronicle::tree

#endif
