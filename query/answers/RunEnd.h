// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How a recorded run ended.

#ifndef CHRONICLE_QUERY_ANSWERS_RUNEND_H
#define CHRONICLE_QUERY_ANSWERS_RUNEND_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <optional>
#include <string>

namespace chronicle::answers {

/// How a recorded run ended: how the program ended, or why the recording ended
/// before the program did.
struct RunEnd {
  enum class Kind {
    Unknown,        ///< the recording was cut off, so the trace does not say
    Exit,           ///< Code is the exit status
    Signal,         ///< Code is the signal
    Killed,         ///< without warning; Code is the signal, or 0 if not known
    Exec,           ///< the program replaced itself with another one
    Stopped,        ///< the user ended the recording
    Limit,          ///< the program had too many superblocks
    DiskFull,       ///< the trace filled the disk
    WriteError,     ///< the trace could not be written
    StreamError,    ///< the recorder sent invalid data
    OutOfMemory,    ///< the indexer had none left
    RecorderFailed, ///< the recorder failed, and the program ended with it;
                    ///< Code is its exit status
  };

  Kind How = Kind::Unknown;
  uint32_t Code = 0;

  /// Reads TraceReader::end(), which is null if the recording was cut off.
  static RunEnd of(const llvm::json::Object *EndPiece);
  /// Reason is the name that the end piece uses ("exit", "disk-full"). Names
  /// that this version does not know give Kind::Unknown.
  static RunEnd named(llvm::StringRef Reason, uint32_t Code);

  /// The signal that the program died of, if it did.
  std::optional<uint32_t> signal() const;
  /// Whether the recording ended while the program was still running.
  bool cutShort() const;

  /// The name that the end piece uses; "unknown" for Kind::Unknown.
  llvm::StringRef reason() const;
  /// What the program did: "exited with status 3", "died of SIGSEGV". Follows
  /// "the program" or "it" in a sentence.
  std::string text() const;
};

/// The members "reason" and "code", as the end piece has them.
llvm::json::Object toJSON(const RunEnd &End);

} // namespace chronicle::answers

#endif
