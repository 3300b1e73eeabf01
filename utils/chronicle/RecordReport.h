// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What `chronicle record` tells about a recording: while it runs and after.

#ifndef CHRONICLE_UTILS_CHRONICLE_RECORDREPORT_H
#define CHRONICLE_UTILS_CHRONICLE_RECORDREPORT_H

#include "indexer/Indexer.h"
#include "recorder/launch/Supervisor.h"
#include "utils/chronicle/Terminal.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace chronicle {

/// Everything the final summary needs.
struct RecordResult {
  std::string Program; ///< as the user typed it
  std::string Trace;
  IndexSummary Index;
  ProcessEnd End;
  double Seconds = 0;
  uint64_t PeakIndexerKb = 0;
  std::vector<std::string> Messages; ///< what Valgrind had to say
};

/// "exit status 3", "signal 11 (Segmentation fault)".
std::string describeEnd(const ProcessEnd &End);

/// The summary for people, several lines.
std::string summaryText(const RecordResult &Result);
/// The same and more for programs; docs/record.md lists the fields.
llvm::json::Object summaryJson(const RecordResult &Result);

/// The live line: instructions, rate, file size, bytes per instruction. Keeps
/// away while the program itself writes to the terminal.
class RecordDisplay {
public:
  RecordDisplay();
  bool enabled() const { return Line.enabled(); }
  void update(const IndexerProgress &Progress, llvm::StringRef Hint);
  void clear() { Line.clear(); }

private:
  using Clock = std::chrono::steady_clock;
  LiveLine Line;
  bool SharesTerminal;
  Clock::time_point Start, LastTick, LastOutput;
  uint64_t LastInstructions = 0, LastOutputs = 0;
  double Rate = 0;
};

} // namespace chronicle

#endif
