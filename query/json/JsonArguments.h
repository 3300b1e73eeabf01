// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The arguments of a request. Their types and ranges are checked, and that
/// there are no others.

#ifndef CHRONICLE_QUERY_JSON_JSONARGUMENTS_H
#define CHRONICLE_QUERY_JSON_JSONARGUMENTS_H

#include "query/Trace.h"
#include "query/questions/QueryError.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"

namespace chronicle::jsonapi {

using questions::queryError;

/// Reads a request's members. The first mistake is kept until finish(), so that
/// a command can read all arguments and check once; after a mistake the values
/// are placeholders. Numbers may be JSON numbers or strings, decimal or 0x....
class JsonArguments {
public:
  JsonArguments(const llvm::json::Object &Request, const query::Trace &T)
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
  /// A string, or a list of strings.
  std::vector<std::string> texts(llvm::StringRef Key);

  /// A moment of the run: a timestamp, "start", "end" or "crash".
  Timestamp time(llvm::StringRef Key);
  Timestamp time(llvm::StringRef Key, Timestamp Default);
  /// "from" and "to".
  answers::TimeRange times();

  void fail(llvm::Error E);
  void fail(llvm::StringRef Code, const llvm::Twine &Message) {
    fail(queryError(Code, Message));
  }
  bool failed() const { return Mistake.has_value(); }

  /// The first mistake. An argument that the command did not read is one.
  llvm::Error finish();

private:
  const llvm::json::Value *get(llvm::StringRef Key);
  const llvm::json::Value *require(llvm::StringRef Key);
  uint64_t toNumber(llvm::StringRef Key, const llvm::json::Value &V);
  Timestamp toTime(llvm::StringRef Key, const llvm::json::Value &V);

  const llvm::json::Object &Request;
  const query::Trace &T;
  llvm::SmallVector<llvm::StringRef, 8> Known = {"id", "cmd"};
  std::optional<llvm::Error> Mistake;
};

} // namespace chronicle::jsonapi

#endif
