// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What `chronicle record` reports about a recording, during it and after it.

#ifndef CHRONICLE_UTILS_CHRONICLE_RECORDREPORT_H
#define CHRONICLE_UTILS_CHRONICLE_RECORDREPORT_H

#include "indexer/Indexer.h"
#include "query/answers/RunEnd.h"
#include "recorder/launch/Supervisor.h"
#include "trace-format/Translations.h"
#include "utils/chronicle/Terminal.h"
#include "utils/chronicle/tree/ProcessTree.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace chronicle::cli {

/// The result of a recording, from which the summary is made.
struct RecordResult {
  std::string Program;    ///< as the user typed it
  std::string Trace;      ///< names the run: a file or a directory
  std::string FirstTrace; ///< the trace of the program itself
  pid_t Process = 0;
  indexer::IndexSummary Index;
  launch::ProcessEnd End;
  double Seconds = 0;
  std::optional<uint64_t> Chaos; ///< the seed, if there was chaos
  double TimeLimit = 0;          ///< in seconds, if there was one
  double FirstSeconds = 0;       ///< until the program became another one
  uint64_t PeakIndexerKb = 0;
  std::vector<std::string> Messages; ///< what Valgrind printed
  std::vector<std::string> Notes;    ///< about the program's files
  std::string Place;                 ///< recording::crashPlace()
  bool Removed = false; ///< the trace was not kept (--only-failing, --tries)
  bool Met = false;     ///< of several runs it is the one that is looked for
  /// What came from the translation cache, if there was one.
  std::optional<ch_translation_report> Translations;
  /// The other processes and programs of the run, and where they crashed.
  std::vector<tree::ProcessResult> Others;
  std::vector<std::string> OtherPlaces;
  std::vector<tree::UnrecordedProgram> Unrecorded;
  std::string CacheNote; ///< why there is no cache, or what was wrong with it
};

/// How the process ended. After an exec it is no longer the recorded program.
answers::RunEnd runEnd(const launch::ProcessEnd &End);
/// How the recorded run ended, as it is in the trace.
answers::RunEnd runEnd(const RecordResult &Result);

/// Removes Valgrind's report of the signal that ended the program: a stack
/// without names, which the trace shows better.
void dropFatalSignalReport(std::vector<std::string> &Messages);
/// Why the recorder ended by itself, by what Valgrind printed.
std::string whyItEnded(const launch::ProcessEnd &End,
                       llvm::ArrayRef<std::string> Messages);

/// Why the recorder ended before the program's first instruction.
llvm::Error startFailure(const RecordResult &Result);
/// The reason why the trace of a run is not complete, if that matters.
llvm::Error incompleteTrace(const RecordResult &Result);
/// What the end piece says about the end, where the recorder could not.
indexer::EndInfo endInfo(const RecordResult &Result);
/// The summary as several lines of text, the last of which says what to do
/// next.
void printSummary(llvm::raw_ostream &Out, const RecordResult &Result);
/// The summary as JSON, with more detail. docs/record.md lists the fields.
llvm::json::Object summaryJson(const RecordResult &Result);

/// The live line: instructions, rate, file size, bytes per instruction. It is
/// hidden while the program itself writes to the terminal.
class RecordDisplay {
public:
  RecordDisplay();
  bool enabled() const { return Line.enabled(); }
  void update(const indexer::IndexerProgress &Progress, llvm::StringRef Hint);
  void clear() { Line.clear(); }

private:
  using Clock = std::chrono::steady_clock;
  LiveLine Line;
  bool SharesTerminal;
  Clock::time_point Start, LastTick, LastOutput;
  uint64_t LastInstructions = 0, LastOutputs = 0;
  double Rate = 0;
};

} // namespace chronicle::cli

#endif
