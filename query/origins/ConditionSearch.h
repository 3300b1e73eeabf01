// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds what a branch decided by.

#ifndef CHRONICLE_QUERY_ORIGINS_CONDITIONSEARCH_H
#define CHRONICLE_QUERY_ORIGINS_CONDITIONSEARCH_H

#include "query/answers/Condition.h"
#include "query/origins/SuperblockFlow.h"
#include "query/origins/WriterSearch.h"

namespace chronicle::origins {

/// Goes from a branch to the registers and the memory that its condition was
/// computed from: through the flags to the instruction that set them. Costs one
/// execution of a superblock, and another one if the flags are older.
class ConditionSearch {
public:
  explicit ConditionSearch(WriterSearch Writers)
      : Writers(std::move(Writers)) {}

  /// Of the branch or the indirect jump that ran at T. Without operands if it
  /// has no condition, or if that is not known.
  llvm::Expected<answers::Condition> find(Timestamp T);

private:
  using Run = std::shared_ptr<const SuperblockRun>;
  void add(const Run &In, const FlowSources &From);
  void setCompared(const Run &In, uint32_t Before);
  void addPiece(const Run &In, const FlowPiece &P);

  WriterSearch Writers;
  std::vector<Strand> Flags; ///< whose writers are still to be found
  std::vector<std::pair<Timestamp, uint32_t>> Seen; ///< statements
  answers::Condition Result;
};

} // namespace chronicle::origins

#endif
