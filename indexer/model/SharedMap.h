// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which pages of the address space show shared objects.

#ifndef CHRONICLE_INDEXER_MODEL_SHAREDMAP_H
#define CHRONICLE_INDEXER_MODEL_SHAREDMAP_H

#include "trace-format/TraceData.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Compiler.h"
#include <vector>

namespace chronicle::model {

/// Translates pages to frames. A lookup is a binary search over the shared
/// mappings, or a single test if there are none; a change costs time in
/// proportion to their number.
class SharedMap {
public:
  /// Pages First to Last show consecutive frames of one shared object.
  struct Range {
    uint64_t First, Last;
    FrameNumber Frame; ///< of page First
  };

  bool empty() const { return Ranges.empty(); }
  /// Sorted; they do not overlap.
  llvm::ArrayRef<Range> ranges() const { return Ranges; }
  /// Replaces all ranges by others that are sorted and do not overlap.
  void reset(llvm::ArrayRef<Range> New) { Ranges = New.vec(); }

  FrameNumber frameOf(uint64_t Page) const {
    return LLVM_LIKELY(Ranges.empty()) ? Page : find(Page);
  }
  /// Pages First to Last no longer show shared objects.
  void unmap(uint64_t First, uint64_t Last);
  /// The range replaces what its pages showed before.
  void map(const Range &R);

private:
  FrameNumber find(uint64_t Page) const;

  std::vector<Range> Ranges;
};

} // namespace chronicle::model

#endif
