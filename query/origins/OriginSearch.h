// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Follows a value backward to where it was made.

#ifndef CHRONICLE_QUERY_ORIGINS_ORIGINSEARCH_H
#define CHRONICLE_QUERY_ORIGINS_ORIGINSEARCH_H

#include "query/origins/WriterSearch.h"

namespace chronicle::origins {

/// Follows one value. Each step costs what WriterSearch::find() costs.
class OriginSearch {
public:
  explicit OriginSearch(WriterSearch Writers) : Writers(std::move(Writers)) {}

  /// Follows what the place holds at a moment, for no more than Limit steps. A
  /// step whose value is not what was read from its place ends the way with
  /// OriginKind::Unknown: something wrote there that the trace does not have.
  llvm::Expected<answers::OriginTrail> follow(const answers::ValuePlace &Place,
                                              Timestamp At, uint64_t Limit);

private:
  /// Bytes of the value, and the step that they lead to.
  struct Way {
    Strand Bytes;
    uint32_t PartOffset = 0;
    std::optional<size_t> Next;
  };

  llvm::Error step(Way S);
  void written(const Way &S, uint32_t Statement);
  /// The part [First, First + Size); the rest is kept for later.
  Way split(const Way &S, uint32_t First, uint32_t Size);
  llvm::Error end(const Way &S, const Writer &By);

  WriterSearch Writers;
  std::vector<Way> Ways; ///< the next one is last
  answers::OriginTrail Trail;
};

} // namespace chronicle::origins

#endif
