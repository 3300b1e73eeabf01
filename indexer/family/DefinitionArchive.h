// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the recorders of forked processes expect the indexer to know from the
/// process that forked them.

#ifndef CHRONICLE_INDEXER_FAMILY_DEFINITIONARCHIVE_H
#define CHRONICLE_INDEXER_FAMILY_DEFINITIONARCHIVE_H

#include "indexer/model/CallTracker.h"
#include "trace-format/TraceData.h"
#include "llvm/ADT/ArrayRef.h"
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace chronicle::family {

class DefinitionArchive;

/// Where in its parent's recording a forked process begins.
struct ForkPoint {
  Timestamp Time = 0;  ///< in the parent's trace
  uint32_t Thread = 0; ///< of the parent, which forked
  /// The exits that the parent had defined have the numbers up to this.
  uint32_t Exits = 0;
  /// The thread's call stacks. What they have for superblocks are exits, by
  /// their numbers in the stream.
  std::vector<model::CallStackRecord> Stacks;
};

/// The definitions that a forked process has from its parent.
struct InheritedDefinitions {
  std::shared_ptr<const DefinitionArchive> From;
  uint32_t Exits = 0; ///< those of exits up to this number
};

/// A forked process keeps the translations of its parent, and so the numbers of
/// their exits, but its trace needs definitions of its own. The indexer of each
/// process puts its definitions here, and that of a forked child takes those
/// that it meets. Costs the bytes of the definitions, about 200 per superblock,
/// for as long as the process or a descendant is recorded. Any thread may call.
class DefinitionArchive {
public:
  explicit DefinitionArchive(InheritedDefinitions Inherited = {})
      : Inherited(std::move(Inherited)) {}

  /// Definitions come in the order of their exits.
  void add(uint32_t FirstExit, uint32_t Exits,
           llvm::ArrayRef<uint8_t> Definition);
  /// The process is about to fork. The exits of the point are filled in.
  void addFork(uint32_t Number, ForkPoint Point);
  /// Nothing more will be added.
  void close();

  /// Waits until the fork with that number is known, and forgets it. Nothing:
  /// the recording ended before it.
  std::optional<ForkPoint> takeFork(uint32_t Number);

  struct Found {
    uint32_t FirstExit = 0;
    std::vector<uint8_t> Definition;
  };
  /// The definition that has the exit.
  std::optional<Found> find(uint32_t Exit) const;

private:
  struct Entry {
    uint32_t FirstExit, Exits;
    size_t Offset;
  };
  const InheritedDefinitions Inherited;
  mutable std::mutex Mutex; ///< of all that follows
  std::condition_variable Changed;
  std::vector<Entry> Entries;
  std::vector<uint8_t> Bytes;
  std::map<uint32_t, ForkPoint> Forks;
  bool Closed = false;
};

/// What connects the indexers of a process and of those that it forks. Both are
/// empty if forked processes are not recorded.
struct Kinship {
  InheritedDefinitions Inherited;
  std::vector<model::CallStackRecord> Stacks; ///< of its first thread
  std::shared_ptr<DefinitionArchive> Archive; ///< for its own children
};

} // namespace chronicle::family

#endif
