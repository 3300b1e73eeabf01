// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where a replay's memory comes from.

#ifndef CHRONICLE_QUERY_REPLAY_MACHINE_PAGESOURCE_H
#define CHRONICLE_QUERY_REPLAY_MACHINE_PAGESOURCE_H

#include "trace-format/TraceData.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace chronicle::machine {

/// Where the bytes of frames come from. A memory asks once per frame, unless it
/// is reset.
class PageSource {
public:
  virtual ~PageSource();
  /// Copies the frame at the start of block N to Page. False: it was never
  /// written, and Page is left alone.
  virtual llvm::Expected<bool> readFrame(FrameNumber Frame, BlockNumber N,
                                         uint8_t *Page) = 0;
  /// The source's own copy of the frame, which stays unchanged until the memory
  /// that asks is reset. Null: the source has none, and readFrame() must be
  /// asked.
  virtual llvm::Expected<const uint8_t *> lendFrame(FrameNumber Frame,
                                                    BlockNumber N) {
    return nullptr;
  }
  /// Calls Visit for each frame from First to Last that was ever written.
  virtual void visitFrames(FrameNumber First, FrameNumber Last,
                           llvm::function_ref<void(FrameNumber)> Visit) = 0;
};

} // namespace chronicle::machine

#endif
