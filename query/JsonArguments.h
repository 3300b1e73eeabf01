// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The arguments of a request, checked: types, ranges, and that there are no
/// others.

#ifndef CHRONICLE_QUERY_JSONARGUMENTS_H
#define CHRONICLE_QUERY_JSONARGUMENTS_H

#include "query/Trace.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"

namespace chronicle {

/// Why a request has no answer: a code for programs and a sentence for people.
/// docs/query.md lists the codes.
class QueryError : public llvm::ErrorInfo<QueryError> {
public:
  static char ID;
  QueryError(llvm::StringRef Code, const llvm::Twine &Message)
      : Code(Code), Message(Message.str()) {}

  void log(llvm::raw_ostream &Out) const override { Out << Message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

  std::string Code, Message;
};

llvm::Error queryError(llvm::StringRef Code, const llvm::Twine &Message);

/// Reads a request's members. What is wrong with them is kept until finish(),
/// the first mistake only, so that a command can read all and check once; until
/// then the values are placeholders. Numbers are taken as JSON numbers and as
/// strings, decimal or 0x....
class JsonArguments {
public:
  JsonArguments(const llvm::json::Object &Request, const Trace &T)
      : Request(Request), T(T) {}
  ~JsonArguments() {
    if (Mistake)
      llvm::consumeError(std::move(*Mistake));
  }
  JsonArguments(const JsonArguments &) = delete;
  JsonArguments &operator=(const JsonArguments &) = delete;

  bool has(llvm::StringRef Key) const { return Request.get(Key) != nullptr; }

  uint64_t number(llvm::StringRef Key);
  uint64_t number(llvm::StringRef Key, uint64_t Default);
  /// Between Low and High, both included.
  uint64_t number(llvm::StringRef Key, uint64_t Default, uint64_t Low,
                  uint64_t High);
  bool flag(llvm::StringRef Key, bool Default);
  std::string text(llvm::StringRef Key);
  std::string text(llvm::StringRef Key, llvm::StringRef Default);
  /// One string, or several.
  std::vector<std::string> texts(llvm::StringRef Key);

  /// A moment of the run: a timestamp, "start" or "end".
  Timestamp time(llvm::StringRef Key);
  Timestamp time(llvm::StringRef Key, Timestamp Default);
  /// "from" and "to".
  TimeRange times();

  void fail(llvm::Error E);
  void fail(llvm::StringRef Code, const llvm::Twine &Message) {
    fail(queryError(Code, Message));
  }
  bool failed() const { return Mistake.has_value(); }

  /// The first mistake; arguments that nobody read are one.
  llvm::Error finish();

private:
  const llvm::json::Value *get(llvm::StringRef Key);
  const llvm::json::Value *require(llvm::StringRef Key);
  uint64_t toNumber(llvm::StringRef Key, const llvm::json::Value &V);
  Timestamp toTime(llvm::StringRef Key, const llvm::json::Value &V);

  const llvm::json::Object &Request;
  const Trace &T;
  llvm::SmallVector<llvm::StringRef, 8> Known = {"id", "cmd"};
  std::optional<llvm::Error> Mistake;
};

} // namespace chronicle

#endif
