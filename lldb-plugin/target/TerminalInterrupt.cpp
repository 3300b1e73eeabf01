// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/TerminalInterrupt.h"
#include "llvm/Support/Errno.h"
#include <cerrno>
#include <csignal>
#include <mutex>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace chronicle::target {

static int Pressed = -1; ///< an eventfd that counts presses of Ctrl-C
static void (*LldbHandler)(int) = nullptr;

/// A signal handler may do little more than this.
static void notePress(int) {
  const int Before = errno;
  const uint64_t One = 1;
  [[maybe_unused]] ssize_t Written = write(Pressed, &One, sizeof(One));
  errno = Before;
}

static void handlePresses(bool (*Interrupt)()) {
  for (;;) {
    uint64_t Count;
    if (llvm::sys::RetryAfterSignal(
            -1, [&] { return read(Pressed, &Count, sizeof(Count)); }) < 0)
      return;
    // LLDB's handler may take as long as the process takes to halt. It knows
    // by itself what a second Ctrl-C means until then.
    if (!Interrupt())
      std::thread([] { LldbHandler(SIGINT); }).detach();
  }
}

void onTerminalInterrupt(bool (*Interrupt)()) {
  static std::once_flag Once;
  std::call_once(Once, [Interrupt] {
    struct sigaction Lldb = {};
    if (sigaction(SIGINT, nullptr, &Lldb) || (Lldb.sa_flags & SA_SIGINFO) ||
        Lldb.sa_handler == SIG_DFL || Lldb.sa_handler == SIG_IGN)
      return;
    Pressed = eventfd(0, EFD_CLOEXEC);
    if (Pressed < 0)
      return;
    LldbHandler = Lldb.sa_handler;
    std::thread(handlePresses, Interrupt).detach();
    struct sigaction Ours = Lldb;
    Ours.sa_handler = notePress;
    sigaction(SIGINT, &Ours, nullptr);
  });
}

} // namespace chronicle::target
