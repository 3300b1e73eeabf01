// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What all searches have in common: which results are wanted, how they are
/// handed on, and how a search ended.

#ifndef CHRONICLE_QUERY_QUESTIONS_SEARCH_H
#define CHRONICLE_QUERY_QUESTIONS_SEARCH_H

#include "query/answers/Cancellation.h"
#include "query/answers/Ranges.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>

namespace chronicle::questions {

struct SearchOptions {
  answers::TimeRange When;
  uint64_t Limit = UINT64_MAX; ///< maximum number of results
  bool Backward = false;       ///< newest first
  /// Results of this thread only; 0: of any thread. A search for writes does
  /// not use it.
  uint32_t Thread = 0;
};

struct SearchEnd {
  uint64_t Count = 0;
  bool More = false; ///< there are results beyond the limit
};

/// Takes the results of a search one by one. Returns false to end the search.
template <class Answer> using Visitor = llvm::function_ref<bool(Answer)>;

/// Hands the results of a search on to a visitor, up to the limit.
template <class Answer> class AnswerSink {
public:
  AnswerSink(uint64_t Limit, Visitor<Answer> Visit)
      : Limit(Limit), Visit(Visit) {}
  AnswerSink(const AnswerSink &) = delete;
  AnswerSink &operator=(const AnswerSink &) = delete;
  ~AnswerSink() {
    if (Failure)
      llvm::consumeError(std::move(*Failure));
  }

  /// Calls Make if another result is wanted; Make may return nothing, which
  /// does not count. False: the search must end.
  bool offer(llvm::function_ref<llvm::Expected<std::optional<Answer>>()> Make) {
    if (End.Count == Limit) {
      End.More = true;
      return false;
    }
    llvm::Expected<std::optional<Answer>> Made = Make();
    if (!Made) {
      Failure.emplace(Made.takeError());
      return false;
    }
    if (!*Made)
      return true;
    ++End.Count;
    return Visit(std::move(**Made));
  }
  /// Whether the limit is reached. The next offer only says that there is more.
  bool full() const { return End.Count == Limit; }
  bool add(Answer Found) {
    return offer([&]() -> llvm::Expected<std::optional<Answer>> {
      return std::move(Found);
    });
  }

  /// How the search ended, or what went wrong: in the search, whose result is
  /// Searched, or in a call of Make.
  llvm::Expected<SearchEnd> finish(llvm::Error Searched) {
    if (Failure) {
      llvm::Error Made = std::move(*Failure);
      Failure.reset();
      return llvm::joinErrors(std::move(Searched), std::move(Made));
    }
    if (Searched)
      return Searched;
    return End;
  }

private:
  uint64_t Limit;
  Visitor<Answer> Visit;
  SearchEnd End;
  std::optional<llvm::Error> Failure;
};

} // namespace chronicle::questions

#endif
