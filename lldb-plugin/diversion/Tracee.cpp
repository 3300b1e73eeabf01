// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/diversion/Tracee.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Errno.h"
#include <cstddef>
#include <elf.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

// The program of Stub.c, as the linker made it.
asm(".section .rodata\n"
    ".hidden chronicle_stub, chronicle_stub_end\n"
    ".globl chronicle_stub, chronicle_stub_end\n"
    "chronicle_stub: .incbin \"" CHRONICLE_STUB "\"\n"
    "chronicle_stub_end:\n"
    ".previous\n");
extern "C" {
extern const char chronicle_stub[], chronicle_stub_end[];
}

namespace chronicle::diversion {

/// At least what the loop of Stub.c has.
static constexpr size_t LoopSize = 64;
/// The end of what a process can map.
static constexpr uint64_t AddressSpaceEnd = 0x7ffffffff000;

static Error failure(const Twine &What) {
  return createStringError(errnoAsErrorCode(), What + ": " + sys::StrError());
}

/// Starts the stub from memory, so that no file has to be found.
static Expected<pid_t> startStub() {
  const int Program = memfd_create("chronicle-call", MFD_CLOEXEC);
  if (Program < 0)
    return failure("cannot make a file in memory");
  scope_exit Close([&] { close(Program); });
  const size_t Size = chronicle_stub_end - chronicle_stub;
  if (::write(Program, chronicle_stub, Size) != ssize_t(Size))
    return failure("cannot write a file in memory");
  posix_spawnattr_t How;
  posix_spawnattr_init(&How);
  scope_exit Destroy([&] { posix_spawnattr_destroy(&How); });
  sigset_t All, None;
  sigfillset(&All);
  sigemptyset(&None);
  posix_spawnattr_setsigdefault(&How, &All);
  posix_spawnattr_setsigmask(&How, &None);
  // A Ctrl-C in the terminal is for the debugger only.
  posix_spawnattr_setpgroup(&How, 0);
  posix_spawnattr_setflags(&How, POSIX_SPAWN_SETSIGDEF |
                                     POSIX_SPAWN_SETSIGMASK |
                                     POSIX_SPAWN_SETPGROUP);
  const std::string Path = "/proc/self/fd/" + std::to_string(Program);
  char Name[] = "chronicle-call";
  char *Arguments[] = {Name, nullptr}, *Environment[] = {nullptr};
  pid_t Process;
  if (int Failed = posix_spawn(&Process, Path.c_str(), nullptr, &How, Arguments,
                               Environment)) {
    errno = Failed;
    return failure("cannot start a process for the call");
  }
  return Process;
}

Expected<std::unique_ptr<Tracee>> Tracee::create() {
  Expected<pid_t> Process = startStub();
  if (!Process)
    return Process.takeError();
  const std::string Path = "/proc/" + std::to_string(*Process) + "/mem";
  const int Memory = open(Path.c_str(), O_RDWR | O_CLOEXEC);
  std::unique_ptr<Tracee> Result(new Tracee(*Process, Memory));
  if (Memory < 0)
    return failure("cannot open " + Path);
  if (Error E = Result->start())
    return E;
  return Result;
}

Error Tracee::start() {
  Expected<int> Status = wait();
  if (!Status)
    return Status.takeError();
  if (!WIFSTOPPED(*Status))
    return createStringError(
        "a call needs ptrace, which this system does not permit");
  if (ptrace(PTRACE_SETOPTIONS, Process, nullptr,
             PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD))
    return failure("ptrace");
  if (ptrace(PTRACE_GETREGS, Process, nullptr, &General))
    return failure("ptrace");
  Loop = General.rip;
  // There is nothing on the stub's stack that it needs.
  TableSize = PageSize;
  Table = (General.rsp - TableSize) & ~uint64_t(63);
  return Error::success();
}

Tracee::~Tracee() {
  kill(Process, SIGKILL);
  sys::RetryAfterSignal(-1, [&] { return waitpid(Process, nullptr, __WALL); });
  if (Memory >= 0)
    close(Memory);
}

Expected<int> Tracee::wait() const {
  int Status = 0;
  if (sys::RetryAfterSignal(
          -1, [&] { return waitpid(Process, &Status, __WALL); }) < 0)
    return failure("cannot wait for the process of the call");
  return Status;
}

/// Kills the process at any system call that does something besides changing
/// its own memory. No call of the program gets this far; this is for mistakes
/// of ours.
static std::vector<sock_filter> onlyMemoryCalls() {
  std::vector<sock_filter> Filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (unsigned Allowed : {SYS_mmap, SYS_mprotect, SYS_munmap, SYS_madvise}) {
    Filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, Allowed, 0, 1));
    Filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  Filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  return Filter;
}

Error Tracee::occupy(uint64_t Control) {
  SystemCall Map{SYS_mmap,
                 {Control, ControlSize, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                  ~uint64_t(0), 0}};
  SystemCall Protect{SYS_mprotect, {Control, PageSize, PROT_READ | PROT_EXEC}};
  SystemCall First[] = {Map, Protect};
  if (Error E = call(First))
    return E;
  if (First[0].Result != int64_t(Control) || First[1].Result)
    return createStringError("the process of the call cannot have memory at "
                             "the address that was chosen");
  uint8_t Code[LoopSize];
  if (Error E = read(Loop, Code))
    return E;
  if (Error E = write(Control, Code))
    return E;
  Loop = Control;
  // The filter is in the second page, the table in the others.
  const std::vector<sock_filter> Filter = onlyMemoryCalls();
  const uint64_t At = Control + PageSize, Program = At + sizeof(sock_fprog);
  const sock_fprog Header = {static_cast<unsigned short>(Filter.size()),
                             reinterpret_cast<sock_filter *>(Program)};
  auto BytesOf = [](const void *Data, size_t Size) {
    return ArrayRef(static_cast<const uint8_t *>(Data), Size);
  };
  if (Error E = write(At, BytesOf(&Header, sizeof(Header))))
    return E;
  if (Error E = write(
          Program, BytesOf(Filter.data(), Filter.size() * sizeof(Filter[0]))))
    return E;
  Table = Control + 2 * PageSize;
  TableSize = ControlSize - 2 * PageSize;
  const uint64_t After = Control + ControlSize;
  SystemCall Second[] = {{SYS_munmap, {0, Control}},
                         {SYS_munmap, {After, AddressSpaceEnd - After}},
                         {SYS_prctl, {PR_SET_NO_NEW_PRIVS, 1}},
                         {SYS_seccomp, {SECCOMP_SET_MODE_FILTER, 0, At}}};
  if (Error E = call(Second))
    return E;
  for (const SystemCall &Each : Second)
    if (Each.Result) {
      errno = int(-Each.Result);
      return failure(Each.Number == SYS_seccomp
                         ? "a call needs seccomp, which does not work here"
                         : "cannot prepare the process of the call");
    }
  return Error::success();
}

Error Tracee::call(MutableArrayRef<SystemCall> Calls) {
  static_assert(sizeof(SystemCall) == 64, "Stub.c knows the layout");
  const size_t Most = TableSize / sizeof(SystemCall);
  while (!Calls.empty()) {
    MutableArrayRef<SystemCall> Now =
        Calls.take_front(std::min(Most, Calls.size()));
    Calls = Calls.drop_front(Now.size());
    MutableArrayRef<uint8_t> Bytes(reinterpret_cast<uint8_t *>(Now.data()),
                                   Now.size() * sizeof(SystemCall));
    if (Error E = write(Table, Bytes))
      return E;
    user_regs_struct Registers = General;
    Registers.rip = Loop;
    Registers.rbx = Table;
    Registers.r12 = Now.size();
    Registers.orig_rax = ~uint64_t(0);
    Registers.eflags &= ~uint64_t(0x100); // no single step
    if (ptrace(PTRACE_SETREGS, Process, nullptr, &Registers))
      return failure("ptrace");
    int Status;
    do {
      if (ptrace(PTRACE_CONT, Process, nullptr, nullptr))
        return failure("ptrace");
      if (Error E = wait().moveInto(Status))
        return E;
      // An interrupt is found by resume().
    } while (WIFSTOPPED(Status) && WSTOPSIG(Status) == SIGSTOP);
    if (!WIFSTOPPED(Status) || WSTOPSIG(Status) != SIGTRAP)
      return createStringError("the process of the call ended unexpectedly");
    if (Error E = read(Table, Bytes))
      return E;
  }
  return Error::success();
}

Error Tracee::read(uint64_t Address, MutableArrayRef<uint8_t> Into) const {
  if (pread(Memory, Into.data(), Into.size(), off_t(Address)) ==
      ssize_t(Into.size()))
    return Error::success();
  return failure("cannot read the memory of the call");
}

Error Tracee::write(uint64_t Address, ArrayRef<uint8_t> Bytes) {
  if (pwrite(Memory, Bytes.data(), Bytes.size(), off_t(Address)) ==
      ssize_t(Bytes.size()))
    return Error::success();
  return failure("cannot write the memory of the call");
}

Expected<std::vector<uint8_t>> Tracee::extended() const {
  std::vector<uint8_t> Area(PageSize * 4);
  iovec Where = {Area.data(), Area.size()};
  if (ptrace(PTRACE_GETREGSET, Process, NT_X86_XSTATE, &Where))
    return failure("ptrace");
  Area.resize(Where.iov_len);
  return Area;
}

Error Tracee::setExtended(ArrayRef<uint8_t> Area) {
  iovec Where = {const_cast<uint8_t *>(Area.data()), Area.size()};
  if (ptrace(PTRACE_SETREGSET, Process, NT_X86_XSTATE, &Where))
    return failure("ptrace");
  return Error::success();
}

void Tracee::interrupt() {
  WantsStop = true;
  kill(Process, SIGSTOP);
}

Expected<Tracee::Event> Tracee::resume(bool Step) {
  General.orig_rax = ~uint64_t(0); // nothing to start again
  if (ptrace(PTRACE_SETREGS, Process, nullptr, &General))
    return failure("ptrace");
  for (;;) {
    if (WantsStop.exchange(false))
      return Event{Event::Interrupted};
    if (ptrace(Step ? PTRACE_SYSEMU_SINGLESTEP : PTRACE_SYSEMU, Process,
               nullptr, nullptr))
      return failure("ptrace");
    Expected<int> Status = wait();
    if (!Status)
      return Status.takeError();
    if (!WIFSTOPPED(*Status))
      return Event{Event::Gone};
    if (ptrace(PTRACE_GETREGS, Process, nullptr, &General))
      return failure("ptrace");
    if (WSTOPSIG(*Status) == (SIGTRAP | 0x80))
      return Event{Event::SystemCall};
    // Only interrupt() sends this one.
    if (WSTOPSIG(*Status) == SIGSTOP)
      continue;
    Event Result{Event::Signal};
    if (ptrace(PTRACE_GETSIGINFO, Process, nullptr, &Result.Info))
      return failure("ptrace");
    return Result;
  }
}

} // namespace chronicle::diversion
