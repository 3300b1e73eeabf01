// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which writes to a file or the terminal printed a text.

#ifndef CHRONICLE_QUERY_QUESTIONS_OUTPUTQUESTIONS_H
#define CHRONICLE_QUERY_QUESTIONS_OUTPUTQUESTIONS_H

#include "query/Trace.h"
#include "query/questions/Search.h"

namespace chronicle::questions {

/// The bytes of one write.
struct OutputPiece {
  Timestamp Time = 0;
  uint32_t Thread = 0;
  std::string Bytes;
};

/// One occurrence of a text. Several writes may have printed it together.
struct OutputMatch {
  Timestamp Time = 0; ///< of the first write
  uint32_t Descriptor = 0;
  uint64_t Offset = 0; ///< in everything written to the descriptor
  std::vector<OutputPiece> Writes;
};

/// Descriptor: only this one; nothing: any. A text is found in order of time,
/// so that a search with Backward finds all matches before it reports the
/// newest. Options.Thread is not used.
llvm::Expected<SearchEnd>
searchOutput(const query::Trace &T, llvm::StringRef Text,
             std::optional<uint32_t> Descriptor, const SearchOptions &Options,
             Visitor<OutputMatch> Visit, const answers::Cancellation &Cancel);

} // namespace chronicle::questions

#endif
