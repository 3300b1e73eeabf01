// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The part of the query engine that follows values: writes to registers, and
/// where a value came from.

#ifndef CHRONICLE_QUERY_ORIGINS_VALUEENGINE_H
#define CHRONICLE_QUERY_ORIGINS_VALUEENGINE_H

#include "query/origins/ConditionSearch.h"
#include "query/origins/OriginSearch.h"
#include "query/origins/SliceSearch.h"

namespace chronicle::origins {

/// Has a cache of its own beside that of query::Trace, which makes it right for
/// several questions after each other: making one costs a few milliseconds for
/// a large trace. The functions may be called from several threads at once.
class ValueEngine {
public:
  explicit ValueEngine(const file::TraceReader &Reader,
                       uint64_t CacheBytes = 64ull << 20)
      : States(Reader, CacheBytes), Code(Reader), Registers(States, Code) {}

  /// The thread's writes to bytes of the guest state, in order (newest first if
  /// Backward); Visit returns false to end. Replays nothing. Cost: a walk over
  /// the thread's blocks up to the answer.
  llvm::Error
  registerWrites(uint32_t Thread, llvm::ArrayRef<answers::StateRange> Bytes,
                 answers::TimeRange When, bool Backward,
                 llvm::function_ref<bool(const answers::RegisterWrite &)> Visit,
                 const answers::Cancellation *Cancel = nullptr) {
    return Registers.find(Thread, Bytes, When, Backward, Visit, Cancel);
  }
  /// The registers before and after a write. One block.
  llvm::Expected<registers::Change>
  registerChange(const answers::RegisterWrite &W) {
    return Registers.change(W);
  }
  /// Follows what the place holds at T backward to where it was made, for no
  /// more than Limit steps.
  llvm::Expected<answers::OriginTrail>
  origin(const answers::ValuePlace &Place, Timestamp T, uint64_t Limit,
         const answers::Cancellation *Cancel = nullptr) {
    return OriginSearch(WriterSearch(States, Code, Registers, Cancel))
        .follow(Place, T, Limit);
  }
  /// The same, and follows what it was computed from.
  llvm::Expected<answers::Slice>
  slice(const answers::ValuePlace &Place, Timestamp T, SliceBounds Bounds,
        const answers::Cancellation *Cancel = nullptr) {
    return SliceSearch(WriterSearch(States, Code, Registers, Cancel), Bounds)
        .follow(Place, T);
  }
  /// What the branch, or the indirect jump, that ran at T decided by.
  llvm::Expected<answers::Condition>
  condition(Timestamp T, const answers::Cancellation *Cancel = nullptr) {
    return ConditionSearch(WriterSearch(States, Code, Registers, Cancel))
        .find(T);
  }

private:
  state::StateCache States;
  code::CodeTable Code;
  registers::RegisterSearch Registers;
};

} // namespace chronicle::origins

#endif
