// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The run piece of a trace: what was recorded, where and how (docs/format.md,
/// "JSON pieces").

#ifndef CHRONICLE_RECORDER_LAUNCH_RUNFACTS_H
#define CHRONICLE_RECORDER_LAUNCH_RUNFACTS_H

#include "recorder/launch/ProgramFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace chronicle::launch {

/// A process that the recorded program started, or another program that it
/// became.
struct FollowedProcess {
  uint32_t Number = 0; ///< in the run
  pid_t Process = 0, ParentProcess = 0;
  uint32_t Parent = 0;   ///< the number of the trace that it came from
  bool Replaced = false; ///< it is the same process as that one
  /// It was forked by that one, at this time of its trace and by this thread.
  std::optional<uint64_t> ForkedAt;
  uint32_t ForkedBy = 0;
  uint64_t Auxiliary = 0; ///< then: the address of the auxiliary vector
  std::string Directory;
  std::vector<std::string> Environment;
};

/// Collects the facts about this run from the process and the machine. Texts
/// are as shownText() shows them. The exact bytes of arguments and variables
/// are in the recorded memory; those of the program's path are in
/// "program-bytes", if it is not UTF-8. Options is included unchanged. If the
/// process is not the one that this process starts, its facts are given.
llvm::json::Object
runFacts(const ProgramFile &Program, llvm::ArrayRef<const char *> Arguments,
         llvm::json::Object Options,
         const std::optional<FollowedProcess> &Followed = std::nullopt);

/// The version of Valgrind that the recorder is linked with: "3.19.0".
llvm::StringRef valgrindVersion();

} // namespace chronicle::launch

#endif
