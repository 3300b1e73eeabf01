// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A session in JSON lines: requests come in, answers go out, several at a
/// time.

#ifndef CHRONICLE_QUERY_SERVER_QUERYSESSION_H
#define CHRONICLE_QUERY_SERVER_QUERYSESSION_H

#include "query/Trace.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ThreadPool.h"
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace chronicle::server {

/// Takes requests from one thread and answers them on a pool that may serve
/// other sessions too. Every request gets one final answer, an object with
/// "done" or "error". A search sends "partial" answers before it, as it finds
/// results. Answers are sent as soon as they are ready.
class Session {
public:
  /// Writes one line, with its newline. Returns false if the client has gone.
  /// Called from any thread, one at a time.
  using Output = std::function<bool(llvm::StringRef)>;

  Session(const query::Trace &T, llvm::ThreadPoolInterface &Pool, Output Out);
  /// Waits for the requests in progress.
  ~Session();

  /// One request, without its newline. Does not wait for the answer.
  void request(llvm::StringRef Line);
  /// Answers input that is not a request at all.
  void refuse(llvm::StringRef Code, const llvm::Twine &Message);
  /// Whether everything is answered.
  bool idle() const { return UnderWay == 0; }
  uint64_t underWay() const { return UnderWay; }
  /// Waits until everything is answered.
  void finish();
  /// Cancels all requests in progress, because the client has gone.
  void cancelAll();

  /// Whether any answer was an error.
  bool hadErrors() const { return Errors; }

private:
  struct Job;
  class Partials;

  void answer(llvm::json::Value Id, llvm::json::Object Body);
  void answerError(llvm::json::Value Id, llvm::StringRef Code,
                   llvm::StringRef Message);
  void answerError(llvm::json::Value Id, llvm::Error E);
  void cancel(const llvm::json::Object &Request, llvm::json::Value Id);
  void run(Job &J);
  void watchPartials();

  const query::Trace &T;
  llvm::ThreadPoolTaskGroup Group;

  std::mutex OutputLock;
  Output Out;
  bool Gone = false; ///< the client has gone

  std::mutex JobsLock;
  llvm::StringMap<std::shared_ptr<Job>> Jobs; ///< in progress, by id
  std::vector<std::weak_ptr<Job>> Anonymous;  ///< those without an id

  /// Sends partial results after a short time, so that a result found early
  /// does not wait for the next one.
  std::mutex PartialsLock;
  std::condition_variable PartialsChanged;
  std::vector<Partials *> Open;
  bool Ending = false;
  std::thread Watcher;

  std::atomic<uint64_t> UnderWay{0};
  std::atomic<bool> Errors{false};
};

} // namespace chronicle::server

#endif
