// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/Thread.h"
#include "llvm/Support/Errno.h"
#include <cassert>
#include <memory>

using namespace llvm;

namespace chronicle {

using Function = unique_function<void()>;

static void *runFunction(void *Argument) {
  const std::unique_ptr<Function> Run(static_cast<Function *>(Argument));
  (*Run)();
  return nullptr;
}

Expected<Thread> Thread::start(Function Run) {
  auto Kept = std::make_unique<Function>(std::move(Run));
  pthread_t Handle;
  if (int Code = pthread_create(&Handle, nullptr, runFunction, Kept.get()))
    return createStringError(
        std::error_code(Code, std::generic_category()),
        "cannot start a thread: " + sys::StrError(Code) +
            "; check how many processes and threads 'ulimit -u' allows");
  (void)Kept.release();
  Thread Result;
  Result.Handle = Handle;
  return Result;
}

Thread &Thread::operator=(Thread &&Other) noexcept {
  assert(!Handle && "a thread must be joined first");
  Handle = std::exchange(Other.Handle, std::nullopt);
  return *this;
}

Thread::~Thread() { assert(!Handle && "a thread must be joined first"); }

void Thread::join() {
  pthread_join(*Handle, nullptr);
  Handle.reset();
}

} // namespace chronicle
