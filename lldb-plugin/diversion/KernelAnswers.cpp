// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/diversion/KernelAnswers.h"
#include "query/answers/SystemCalls.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>

using namespace llvm;

namespace chronicle::diversion {
namespace {

using Answer = Expected<KernelAnswer>;

class Kernel {
public:
  Kernel(KernelContext C, const user_regs_struct &R)
      : C(C), Number(R.orig_rax), A{R.rdi, R.rsi, R.rdx, R.r10, R.r8, R.r9} {}

  Answer answer();

private:
  static Answer result(int64_t Value) { return KernelAnswer{Value}; }
  static Answer result(Expected<int64_t> Value) {
    if (!Value)
      return Value.takeError();
    return KernelAnswer{*Value};
  }
  static Answer stop(DivertedStop::Reason Why, std::string Text,
                     int Signal = 0) {
    return KernelAnswer{0, DivertedStop{Why, Signal, std::move(Text)}};
  }
  std::string name() const {
    StringRef Known = answers::systemCallName(Number);
    return Known.empty() ? formatv("number {0}", Number).str() : Known.str();
  }
  Answer refuse() const {
    return stop(DivertedStop::Refused,
                formatv("the called code makes the system call {0}, which a "
                        "call in a trace must not make",
                        name()));
  }

  /// Stores bytes where the program wants them; 0 wants none.
  Answer store(uint64_t Address, const void *Data, size_t Size,
               int64_t Result = 0);
  Answer memory();
  Answer time();
  Answer files();
  Answer write();
  Answer futex();
  Answer signal();

  KernelContext C;
  const uint64_t Number;
  const uint64_t A[6];
};

Answer Kernel::store(uint64_t Address, const void *Data, size_t Size,
                     int64_t Result) {
  if (!Address)
    return result(Result);
  if (Error E = C.Memory.write(
          Address, ArrayRef(static_cast<const uint8_t *>(Data), Size))) {
    consumeError(std::move(E)); // the program gave a bad address
    return result(-EFAULT);
  }
  return result(Result);
}

Answer Kernel::memory() {
  switch (Number) {
  case SYS_mmap:
    if (!(A[3] & MAP_ANONYMOUS))
      return refuse();
    return result(C.Memory.map(A));
  case SYS_munmap:
    return result(C.Memory.unmap(A[0], A[1]));
  case SYS_mprotect:
    return result(C.Memory.protect(A[0], A[1], A[2]));
  case SYS_madvise:
    return result(C.Memory.advise(A[0], A[1], A[2]));
  case SYS_brk:
    return result(C.Memory.setBreak(A[0]));
  default:
    return result(-ENOMEM); // mremap: programs copy then
  }
}

Answer Kernel::time() {
  timespec Now;
  switch (Number) {
  case SYS_clock_gettime:
  case SYS_clock_getres:
    if (Number == SYS_clock_gettime ? clock_gettime(clockid_t(A[0]), &Now)
                                    : clock_getres(clockid_t(A[0]), &Now))
      return result(-errno);
    return store(A[1], &Now, sizeof(Now));
  case SYS_gettimeofday: {
    timeval Value;
    gettimeofday(&Value, nullptr);
    return store(A[0], &Value, sizeof(Value));
  }
  case SYS_time: {
    const time_t Value = ::time(nullptr);
    return store(A[0], &Value, sizeof(Value), Value);
  }
  default:
    return result(0); // sleeps: nobody waits for them
  }
}

/// Standard output and error look like a terminal, so that lines are written
/// when they end.
Answer Kernel::files() {
  const uint64_t File = A[0];
  if (File > 2)
    return refuse();
  struct stat Terminal = {};
  Terminal.st_mode = S_IFCHR | 0620;
  Terminal.st_rdev = 0x8800;
  Terminal.st_blksize = 1024;
  switch (Number) {
  case SYS_fstat:
    return store(A[1], &Terminal, sizeof(Terminal));
  case SYS_newfstatat:
    return A[3] & AT_EMPTY_PATH ? store(A[2], &Terminal, sizeof(Terminal))
                                : refuse();
  case SYS_ioctl: {
    const uint8_t Settings[36] = {};
    return A[1] == TCGETS ? store(A[2], Settings, sizeof(Settings)) : refuse();
  }
  case SYS_lseek:
    return result(-ESPIPE);
  default:
    return write();
  }
}

Answer Kernel::write() {
  if (A[0] == 0)
    return refuse();
  std::vector<std::pair<uint64_t, uint64_t>> Parts;
  if (Number == SYS_write) {
    Parts.emplace_back(A[1], A[2]);
  } else {
    if (A[2] > IOV_MAX)
      return result(-EINVAL);
    Expected<std::vector<uint8_t>> List =
        C.Memory.read(A[1], A[2] * sizeof(iovec));
    if (!List)
      return List.takeError();
    for (size_t I = 0; I + sizeof(iovec) <= List->size(); I += sizeof(iovec))
      Parts.emplace_back(support::endian::read64le(&(*List)[I]),
                         support::endian::read64le(&(*List)[I + 8]));
  }
  int64_t Written = 0;
  static constexpr uint64_t MostText = 1 << 20;
  for (auto [Address, Length] : Parts) {
    Expected<std::vector<uint8_t>> Bytes =
        C.Memory.read(Address, std::min(Length, MostText));
    if (!Bytes)
      return Bytes.takeError();
    if (Bytes->empty() && Length)
      return result(Written ? Written : -EFAULT);
    C.Print(toStringRef(*Bytes));
    Written += int64_t(Bytes->size());
  }
  return result(Written);
}

Answer Kernel::futex() {
  switch (A[1] & FUTEX_CMD_MASK) {
  case FUTEX_WAKE:
  case FUTEX_WAKE_BITSET:
  case FUTEX_WAKE_OP:
    return result(0); // no other thread is there to be woken
  case FUTEX_WAIT:
  case FUTEX_WAIT_BITSET: {
    Expected<std::vector<uint8_t>> Value = C.Memory.read(A[0], 4);
    if (!Value)
      return Value.takeError();
    if (Value->size() < 4)
      return result(-EFAULT);
    if (support::endian::read32le(Value->data()) != uint32_t(A[2]))
      return result(-EAGAIN);
    if (A[3])
      return result(-ETIMEDOUT);
    return stop(DivertedStop::Refused,
                "the called code waits for a lock or for another thread, and "
                "other threads do not run in a call");
  }
  default:
    return refuse();
  }
}

Answer Kernel::signal() {
  const uint64_t To = Number == SYS_tgkill ? A[1] : A[0];
  const int Signal = int(Number == SYS_tgkill ? A[2] : A[1]);
  const bool Itself = Number == SYS_kill ? To == C.Process : To == C.Thread;
  if (!Itself || Signal < 1 || Signal > 64)
    return refuse();
  return stop(DivertedStop::Signal, "signal " + answers::signalName(Signal),
              Signal);
}

Answer Kernel::answer() {
  switch (Number) {
  case SYS_mmap:
  case SYS_munmap:
  case SYS_mprotect:
  case SYS_madvise:
  case SYS_brk:
  case SYS_mremap:
    return memory();
  case SYS_clock_gettime:
  case SYS_clock_getres:
  case SYS_gettimeofday:
  case SYS_time:
  case SYS_nanosleep:
  case SYS_clock_nanosleep:
    return time();
  case SYS_fstat:
  case SYS_newfstatat:
  case SYS_ioctl:
  case SYS_lseek:
  case SYS_write:
  case SYS_writev:
    return files();
  case SYS_futex:
    return futex();
  case SYS_kill:
  case SYS_tkill:
  case SYS_tgkill:
    return signal();
  case SYS_getpid:
    return result(int64_t(C.Process));
  case SYS_gettid:
    return result(int64_t(C.Thread));
  case SYS_sched_yield:
    return result(0);
  case SYS_rt_sigprocmask: {
    // No signal comes from outside, so a mask has no effect.
    const uint64_t Empty = 0;
    return store(A[2], &Empty, sizeof(Empty));
  }
  case SYS_getrandom: {
    std::vector<uint8_t> Bytes(std::min<uint64_t>(A[1], 4096));
    const ssize_t Size = getrandom(Bytes.data(), Bytes.size(), GRND_NONBLOCK);
    return Size < 0 ? result(-errno)
                    : store(A[0], Bytes.data(), size_t(Size), Size);
  }
  case SYS_exit:
  case SYS_exit_group:
    return stop(DivertedStop::Refused,
                formatv("the called code ends the {0} with status {1}",
                        Number == SYS_exit ? "thread" : "program", int(A[0])));
  default:
    return refuse();
  }
}

} // namespace

Expected<KernelAnswer> answerSystemCall(KernelContext Context,
                                        const user_regs_struct &R) {
  return Kernel(Context, R).answer();
}

} // namespace chronicle::diversion
