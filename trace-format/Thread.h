// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A thread that may fail to start.

#ifndef CHRONICLE_TRACE_FORMAT_THREAD_H
#define CHRONICLE_TRACE_FORMAT_THREAD_H

#include "llvm/ADT/FunctionExtras.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <pthread.h>

namespace chronicle {

/// Where the user's limit of threads must not end this process, as it does with
/// std::thread, which throws then. Must be joined before it is destroyed.
class Thread {
public:
  Thread() = default;
  Thread(Thread &&Other) noexcept
      : Handle(std::exchange(Other.Handle, std::nullopt)) {}
  Thread &operator=(Thread &&Other) noexcept;
  ~Thread();

  static llvm::Expected<Thread> start(llvm::unique_function<void()> Run);

  bool joinable() const { return Handle.has_value(); }
  void join();

private:
  std::optional<pthread_t> Handle;
};

} // namespace chronicle

#endif
