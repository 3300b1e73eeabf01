// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the programs in this folder share: opens the trace, counts checks, and
/// reports what is wrong, from any thread.

#ifndef CHRONICLE_TEST_CHECK_TALLY_H
#define CHRONICLE_TEST_CHECK_TALLY_H

#include "query/Trace.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <mutex>

namespace chronicle {

inline std::atomic<uint64_t> Failures, Checks;

inline void failed(const llvm::Twine &What) {
  static std::mutex Lock;
  std::lock_guard<std::mutex> Guard(Lock);
  if (++Failures <= 20)
    llvm::errs() << "FAILED: " << What << '\n';
}
inline void expect(bool Condition, llvm::function_ref<std::string()> What) {
  ++Checks;
  if (!Condition)
    failed(What());
}
inline void expect(bool Condition, const llvm::Twine &What) {
  ++Checks;
  if (!Condition)
    failed(What);
}
/// The answer of the query engine; an error counts as a failed check.
template <class T> T get(llvm::Expected<T> Value, const llvm::Twine &Where) {
  if (Value)
    return std::move(*Value);
  failed(Where + ": " + llvm::toString(Value.takeError()));
  return T();
}
inline void ok(llvm::Error E, const llvm::Twine &Where) {
  if (E)
    failed(Where + ": " + llvm::toString(std::move(E)));
}

/// Opens the trace that is the first argument. Prints a message and returns
/// null if that fails.
inline std::unique_ptr<query::Trace>
openTrace(int Argc, char **Argv, int Least, llvm::StringRef Usage,
          query::TraceOptions Options = {}) {
  if (Argc <= Least) {
    llvm::errs() << "usage: " << Usage << '\n';
    return nullptr;
  }
  llvm::Expected<std::unique_ptr<query::Trace>> T =
      query::Trace::open(Argv[1], std::move(Options));
  if (T)
    return std::move(*T);
  llvm::errs() << llvm::toString(T.takeError()) << '\n';
  return nullptr;
}
/// A number among the arguments.
inline uint64_t argument(int Argc, char **Argv, int Place, uint64_t Default) {
  return Argc > Place ? std::strtoull(Argv[Place], nullptr, 0) : Default;
}
/// Prints the result and returns the exit status.
inline int finish(const llvm::Twine &More) {
  llvm::outs() << Checks.load() << " checks, " << Failures.load()
               << " failures; " << More << '\n';
  return Failures || !Checks ? 1 : 0;
}

} // namespace chronicle

#endif
