// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The traces of a run of several processes, which one path names: a directory
/// with one trace per program that a process ran (docs/format.md, "A run of
/// several processes"). A run of one process is its trace.

#ifndef CHRONICLE_QUERY_PROCESSES_RUNDIRECTORY_H
#define CHRONICLE_QUERY_PROCESSES_RUNDIRECTORY_H

#include "query/answers/RunEnd.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace chronicle::processes {

/// One trace of a run.
struct RunProcess {
  std::string Trace;                             ///< its file
  uint32_t Number = 1;                           ///< in the run
  std::optional<int64_t> Process, ParentProcess; ///< pids
  uint32_t Parent = 0;   ///< the number of the trace it came from; 0: none
  bool Replaced = false; ///< it is the same process as that one, after an exec
  /// It was forked by that one, and begins with what that one was at this time.
  std::optional<uint64_t> ForkedAt;
  std::string Program; ///< path
  std::vector<std::string> Arguments;
  std::optional<double> Started, Seconds; ///< since the epoch; how long it ran
  uint64_t Instructions = 0, Bytes = 0;
  answers::RunEnd End;
  std::string Unreadable; ///< why the trace cannot be read, or empty

  llvm::StringRef name() const; ///< of the program's file
  bool crashed() const; ///< died of a signal that a fault or abort gives
  bool failed() const;  ///< exit status other than 0, or died of a signal
};

/// "3-cc1.db": the file of a trace in the directory. What is not a letter, a
/// digit or one of "._+-" becomes '_'.
std::string traceFileName(uint32_t Number, llvm::StringRef Program);

/// Whether the path is a directory that holds the traces of a run, what is kept
/// beside them, and nothing else.
bool isRunDirectory(llvm::StringRef Path);
/// Removes such a directory with its traces.
llvm::Error removeRun(llvm::StringRef Path);
/// Removes the bookmarks and indexes of a trace that is replaced or removed.
/// They are not about the next one.
void removeBesideTrace(llvm::StringRef Trace);

/// The processes of the run, by number. Opens every trace, which takes about a
/// millisecond each. Damaged traces are included.
llvm::Expected<std::vector<RunProcess>> readRun(llvm::StringRef Path);

/// Where a forked process comes from: at its time 0 it is what that thread of
/// its parent was at that time.
struct ForkOrigin {
  uint32_t Parent = 0; ///< the number of the parent's trace
  int64_t Process = 0; ///< the parent's pid
  uint64_t Time = 0;   ///< in the parent's trace
  uint32_t Thread = 0;
  uint64_t AuxiliaryVector = 0; ///< its address
};
/// Nothing: the run piece is not that of a forked process.
std::optional<ForkOrigin> forkOrigin(const llvm::json::Object &Run);
/// The trace with that number beside another one of the same run.
llvm::Expected<std::string> traceBeside(llvm::StringRef Other, uint32_t Number);

struct ChosenTrace {
  std::string Path;
  /// Which one was chosen and why, as a sentence; empty if there was no choice.
  std::string Note;
};

/// The trace that a command works on. Wanted is "#N" (number in the run), a
/// process number, or the name or path of a program; if it is empty, the choice
/// is the only trace, or else the first process that crashed, or else the first
/// that failed, or else the program that the command became in the end. A path
/// that does not name a run directory is returned as it is, unless a process is
/// wanted that it is not.
llvm::Expected<ChosenTrace> chooseTrace(llvm::StringRef Path,
                                        llvm::StringRef Wanted);

} // namespace chronicle::processes

#endif
