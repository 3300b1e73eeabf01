// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/tree/TraceMaker.h"
#include "query/processes/RunDirectory.h"
#include "query/replay/program/ProgramBuilder.h"
#include "trace-format/file/TraceWriter.h"
#include "utils/chronicle/recording/ProgramFiles.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <unistd.h>

using namespace llvm;

namespace chronicle::tree {

Expected<std::unique_ptr<indexer::Indexer>>
TraceMaker::make(const launch::ProgramFile &Program,
                 const recording::OutputFile &Trace,
                 ArrayRef<const char *> Arguments, launch::SharedRing &Ring,
                 const std::optional<launch::FollowedProcess> &Followed,
                 family::Kinship Kin) {
  // Removed rather than truncated, so that processes that have the old trace
  // open keep it. If it cannot be removed, it may still be writable.
  SmallString<128> Old;
  if (Error E = file::checkNotBeingWritten(Trace.Path))
    return E;
  if (Trace.Replace && processes::isRunDirectory(Trace.Path)) {
    if (Error E = processes::removeRun(Trace.Path))
      return E;
  } else if (Trace.Replace && !sys::fs::real_path(Trace.Path, Old)) {
    (void)sys::fs::remove(Old);
    processes::removeBesideTrace(Trace.Path);
  }
  indexer::IndexerOptions Options;
  Options.Path = Trace.Path;
  Options.Overwrite = Trace.Replace;
  Options.Compression = Settings.Compression;
  Options.Programs = program::programMaker();
  if (!Followed) {
    First.File = Program;
    First.Arguments.assign(Arguments.begin(), Arguments.end());
    for (char **Entry = environ; *Entry; ++Entry)
      First.Environment.emplace_back(*Entry);
    if (Settings.Forks)
      Kin.Archive = First.Archive =
          std::make_shared<family::DefinitionArchive>();
  }
  Options.Kin = std::move(Kin);
  // Other processes use the other cores.
  if (Followed)
    Options.Workers = 1;
  if (Cache)
    Options.Translations = [this](ArrayRef<uint8_t> Translation) {
      std::lock_guard Lock(CacheLock);
      Cache->add(Translation);
    };
  Options.Run = launch::runFacts(Program, Arguments,
                                 json::Object(Settings.Options), Followed);
  if (Settings.KeepFiles) {
    Keeper.keep(Program.Interpreter.empty() ? Program.Path
                                            : Program.Interpreter);
    Options.ExecutableMapped = recording::keepMapped(Keeper, Settings.Tool);
  }
  return indexer::Indexer::create(Options, Ring.memory(), Ring.size());
}

TreeOptions TraceMaker::treeOptions() {
  TreeOptions Options;
  Options.BlockInstructions = Settings.BlockInstructions;
  Options.Forks = Settings.Forks;
  Options.First = First;
  if (Cache)
    Options.Translations = Cache->descriptors();
  Options.MakeIndexer = [this](const NewProcess &New,
                               launch::SharedRing &Ring) {
    launch::FollowedProcess Facts;
    Facts.Number = New.Number;
    Facts.Process = New.Request.Process;
    Facts.ParentProcess = New.Request.Parent;
    Facts.Parent = New.Request.Asker;
    Facts.Replaced = New.Replaced;
    Facts.ForkedAt = New.ForkedAt;
    Facts.ForkedBy = New.ForkedBy;
    Facts.Auxiliary = New.Request.Auxiliary;
    Facts.Directory = New.Request.Directory;
    Facts.Environment = New.Program.Environment;
    std::vector<const char *> Arguments;
    Arguments.reserve(New.Program.Arguments.size());
    for (const std::string &Argument : New.Program.Arguments)
      Arguments.push_back(Argument.c_str());
    return make(New.Program.File, {New.Trace, /*Replace=*/false}, Arguments,
                Ring, Facts, New.Kin);
  };
  return Options;
}

ch_translation_report allTranslations(ch_translation_report First,
                                      ArrayRef<ProcessResult> Others) {
  for (const ProcessResult &P : Others) {
    First.needed += P.Translations.needed;
    First.stored += P.Translations.stored;
    First.used_files |= P.Translations.used_files;
    First.damaged_files |= P.Translations.damaged_files;
  }
  return First;
}

} // namespace chronicle::tree
