// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Applies the event records of the stream: to the memory image, to the table
/// of superblocks, to the call stacks and to the open block.

#ifndef CHRONICLE_INDEXER_EVENTDECODER_H
#define CHRONICLE_INDEXER_EVENTDECODER_H

#include "indexer/DatabaseBuilder.h"
#include "indexer/Limits.h"
#include "indexer/MemoryImage.h"
#include "indexer/ModuleList.h"
#include "indexer/OpenBlock.h"
#include "indexer/SuperblockTable.h"
#include "indexer/family/ExitNumbers.h"
#include "indexer/model/CallFollower.h"
#include "trace-format/events/Events.h"
#include <functional>
#include <string>
#include <vector>

namespace chronicle::indexer {

/// An event record of a chunk. Its payload is sound (events::isSound), but the
/// ring is in the recorded program's memory and may change under our eyes.
struct EventRecord {
  uint32_t Kind;
  llvm::ArrayRef<uint8_t> Payload;

  /// Takes the first record off a chunk's event area.
  static llvm::Expected<EventRecord> take(llvm::ArrayRef<uint8_t> &Area);
};

/// Gets the payload of each CH_EV_TRANSLATION, which concerns the translation
/// cache and not the trace.
using TranslationSink = std::function<void(llvm::ArrayRef<uint8_t>)>;

/// Events are rare compared to executions, so that nothing here is tuned.
class EventDecoder {
public:
  EventDecoder(MemoryImage &Image, DatabaseBuilder &Database,
               SuperblockTable &Superblocks, model::CallFollower &Calls,
               OpenBlock &Block, StreamCounts &Counts,
               TranslationSink Translations, family::Kinship Kin)
      : Image(Image), Database(Database), Superblocks(Superblocks),
        Calls(Calls), Block(Block), Counts(Counts),
        Translations(std::move(Translations)), Exits(std::move(Kin.Inherited)),
        InheritedStacks(std::move(Kin.Stacks)),
        Archive(std::move(Kin.Archive)) {}

  /// Applies a record and adds it to the block, if the file keeps its kind. An
  /// error means that the stream cannot be trusted from here on.
  llvm::Error decode(const EventRecord &Record);
  /// Turns run words of the stream into those of the trace, up to the first
  /// that is not an execution.
  void translate(llvm::MutableArrayRef<uint32_t> Words);
  /// Whether the two are not the same.
  bool translates() const { return Exits.differ(); }
  /// Adds an event to the block, its payload in two parts.
  void add(uint32_t Kind, llvm::ArrayRef<uint8_t> Payload,
           llvm::ArrayRef<uint8_t> More = {});
  /// Adds and applies a write that no event reported.
  void outsideWrite(uint64_t Address, llvm::ArrayRef<uint8_t> Bytes,
                    ch_outside_finder FoundBy, uint32_t Instruction,
                    uint32_t Flags = 0);
  /// Adds and applies the write that a load of watched memory found, in a given
  /// execution of the block and of a superblock.
  llvm::Error loaded(const EventRecord &Record, uint64_t Execution,
                     uint32_t Superblock);
  /// Call before the block ends: completes what its events began.
  void endBlock();

  const ModuleList &modules() const { return Modules; }
  const Limits &limits() const { return LimitsMet; }
  /// The name of an opaque reason, or empty.
  llvm::StringRef reasonName(uint32_t Reason) const;
  /// CH_REQUEST_* bits to be sent to the recorder.
  uint32_t requests() const { return Requests; }

private:
  llvm::Error define(const events::DefineEvent &E);
  llvm::Error define(uint32_t Id, uint32_t FirstExit, uint32_t RecordersExit,
                     llvm::ArrayRef<uint8_t> Definition);
  llvm::Error nameReason(const events::OpNameEvent &E);
  llvm::Error memory(const EventRecord &Record, const events::MemoryEvent &E);
  llvm::Error stored(const events::StoredEvent &E);
  llvm::Error audit(const events::AuditEvent &E);
  void map(const events::MapEvent &E);
  void noteFork(uint32_t Thread, uint32_t Number);
  void inheritStacks(uint32_t Thread);
  void signal(const events::SignalEvent &E);
  void addAt(uint64_t Execution, uint32_t Kind, llvm::ArrayRef<uint8_t> Payload,
             llvm::ArrayRef<uint8_t> More);

  MemoryImage &Image;
  DatabaseBuilder &Database;
  SuperblockTable &Superblocks;
  model::CallFollower &Calls;
  OpenBlock &Block;
  StreamCounts &Counts;
  TranslationSink Translations;
  family::ExitNumbers Exits;
  std::vector<model::CallStackRecord> InheritedStacks;
  std::shared_ptr<family::DefinitionArchive> Archive;
  ModuleList Modules;
  Limits LimitsMet;
  std::vector<std::string> ReasonNames;
  uint32_t Requests = 0;
};

} // namespace chronicle::indexer

#endif
