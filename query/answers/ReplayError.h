// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A moment that cannot be reached.

#ifndef CHRONICLE_QUERY_ANSWERS_REPLAYERROR_H
#define CHRONICLE_QUERY_ANSWERS_REPLAYERROR_H

#include "trace-format/TraceData.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace chronicle::answers {

/// Replay of a block left the recorded run, so the rest of that block cannot be
/// reached. All other blocks can.
class ReplayError : public llvm::ErrorInfo<ReplayError> {
public:
  static char ID;

  ReplayError(Timestamp LastReached, std::string Text)
      : LastReached(LastReached), Text(std::move(Text)) {}

  /// The last moment of the block that can be reached.
  Timestamp lastReached() const { return LastReached; }
  void log(llvm::raw_ostream &Out) const override;
  std::error_code convertToErrorCode() const override;

private:
  Timestamp LastReached;
  std::string Text;
};

/// What to do about a trace that replay does not follow, as part of a sentence.
/// Run is the run piece, which says how loads were logged.
llvm::StringRef mismatchAdvice(const llvm::json::Object &Run);

} // namespace chronicle::answers

#endif
