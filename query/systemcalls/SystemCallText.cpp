// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/systemcalls/SystemCallText.h"
#include "query/systemcalls/ConstantNames.h"
#include "query/systemcalls/PointedText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <termios.h>

using namespace llvm;

namespace chronicle::systemcalls {

using answers::ArgumentKind;

static std::string hexText(uint64_t N) {
  return N ? formatv("{0:x}", N).str() : "0";
}

// ---- arguments whose meaning depends on another one ----

static MaybeText fcntlArgument(CallView &Call) {
  const uint64_t Value = Call.argument(2);
  switch (Call.argument(1)) {
  case F_GETFD:
  case F_GETFL:
  case F_GETOWN:
  case F_GETSIG:
  case F_GETLEASE:
  case F_GETPIPE_SZ:
  case F_GET_SEALS:
    return std::nullopt;
  case F_SETFD:
    return descriptorFlagText(uint32_t(Value));
  case F_SETFL:
    return openFlagsText(uint32_t(Value));
  case F_SETSIG:
    return signalText(uint32_t(Value));
  case F_DUPFD:
  case F_DUPFD_CLOEXEC:
  case F_SETOWN:
  case F_SETPIPE_SZ:
    return std::to_string(int32_t(Value));
  default:
    return hexText(Value);
  }
}

static std::string ioctlArgument(CallView &Call) {
  const uint64_t Address = Call.argument(2);
  MaybeText Text;
  switch (uint32_t(Call.argument(1))) {
  case FIONREAD:
  case TIOCGPGRP:
  case TIOCOUTQ:
  case TIOCGPTN:
    if (Call.succeeded())
      Text = numberText(Call, Address, Side::Out);
    break;
  case FIONBIO:
  case FIOASYNC:
  case TIOCSPGRP:
  case TIOCSPTLCK:
    Text = numberText(Call, Address, Side::In);
    break;
  case TIOCGWINSZ:
    if (std::optional<winsize> W = Call.succeeded()
                                       ? Call.value<winsize>(Address, Side::Out)
                                       : std::nullopt)
      Text = formatv("{{ws_row={0}, ws_col={1}, ws_xpixel={2}, ws_ypixel={3}}",
                     W->ws_row, W->ws_col, W->ws_xpixel, W->ws_ypixel);
    break;
  }
  return Text ? *Text : hexText(Address);
}

/// Which of the arguments from the third on a futex operation has.
static MaybeText futexArgument(CallView &Call, ArgumentKind Kind, unsigned I) {
  const uint64_t Value = Call.argument(I);
  const unsigned Operation = Call.argument(1) & FUTEX_CMD_MASK;
  const bool Waits = Operation == FUTEX_WAIT || Operation == FUTEX_LOCK_PI ||
                     Operation == FUTEX_WAIT_BITSET ||
                     Operation == FUTEX_WAIT_REQUEUE_PI;
  const bool HasSecond =
      Operation == FUTEX_REQUEUE || Operation == FUTEX_CMP_REQUEUE ||
      Operation == FUTEX_WAKE_OP || Operation == FUTEX_WAIT_REQUEUE_PI ||
      Operation == FUTEX_CMP_REQUEUE_PI;
  const bool HasBits =
      Operation == FUTEX_WAIT_BITSET || Operation == FUTEX_WAKE_BITSET;
  switch (Kind) {
  case ArgumentKind::FutexValue:
    if (Operation == FUTEX_LOCK_PI || Operation == FUTEX_UNLOCK_PI ||
        Operation == FUTEX_TRYLOCK_PI)
      return std::nullopt;
    return std::to_string(uint32_t(Value));
  case ArgumentKind::FutexTimeout:
    if (Waits) {
      MaybeText Time =
          Value ? timeText(Call, Value, Side::In, false) : std::nullopt;
      return Time ? *Time : pointerText(Value);
    }
    // Of the others it is a number, or not used.
    return HasSecond ? MaybeText(std::to_string(uint32_t(Value)))
                     : std::nullopt;
  case ArgumentKind::FutexSecond:
    if (HasSecond)
      return pointerText(Value);
    return std::nullopt;
  default:
    if (HasBits)
      return uint32_t(Value) == ~0u ? "FUTEX_BITSET_MATCH_ANY"
                                    : hexText(uint32_t(Value));
    return HasSecond && Operation != FUTEX_REQUEUE
               ? MaybeText(hexText(uint32_t(Value)))
               : std::nullopt;
  }
}

static MaybeText prctlArgument(CallView &Call) {
  const uint64_t Value = Call.argument(1);
  switch (Call.argument(0)) {
  case PR_SET_NAME:
  case PR_GET_NAME: {
    Side S = Call.argument(0) == PR_SET_NAME ? Side::In : Side::Out;
    MaybeText Name = Call.string(Value, S);
    return Name ? quoted(StringRef(*Name).take_front(15)) : pointerText(Value);
  }
  case PR_SET_PDEATHSIG:
    return signalText(uint32_t(Value));
  case PR_GET_DUMPABLE:
  case PR_GET_KEEPCAPS:
  case PR_GET_SECCOMP:
  case PR_GET_TIMERSLACK:
    return std::nullopt;
  default:
    return hexText(Value);
  }
}

static MaybeText cloneArgument(CallView &Call, ArgumentKind Kind) {
  // The kernel has the flags first; strace prints the stack first.
  const uint64_t Flags = Call.argument(0);
  switch (Kind) {
  case ArgumentKind::CloneStack:
    return "child_stack=" + pointerText(Call.argument(1));
  case ArgumentKind::CloneFlags:
    return "flags=" + cloneFlagsText(Flags);
  case ArgumentKind::CloneParent: {
    if (!(Flags & CLONE_PARENT_SETTID))
      return std::nullopt;
    MaybeText Id = Call.succeeded()
                       ? numberText(Call, Call.argument(2), Side::Out)
                       : std::nullopt;
    return "parent_tid=" + (Id ? *Id : pointerText(Call.argument(2)));
  }
  case ArgumentKind::CloneTls:
    if (Flags & CLONE_SETTLS)
      return "tls=" + pointerText(Call.argument(4));
    return std::nullopt;
  default:
    if (Flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID))
      return "child_tidptr=" + pointerText(Call.argument(3));
    return std::nullopt;
  }
}

/// Nothing: strace does not show the argument.
static MaybeText argumentText(CallView &Call, ArgumentKind Kind, unsigned I) {
  const uint64_t Value = Call.argument(I);
  switch (Kind) {
  case ArgumentKind::Raw:
    return hexText(Value);
  case ArgumentKind::Int:
  case ArgumentKind::Fd:
    return std::to_string(int32_t(Value));
  case ArgumentKind::UInt:
    return std::to_string(uint32_t(Value));
  case ArgumentKind::Long:
    return std::to_string(int64_t(Value));
  case ArgumentKind::Size:
    return std::to_string(Value);
  case ArgumentKind::HexOffset:
    return hexText(Value);
  case ArgumentKind::DirFd:
    return int32_t(Value) == AT_FDCWD ? "AT_FDCWD"
                                      : std::to_string(int32_t(Value));
  case ArgumentKind::OpenMode: {
    uint64_t Flags = Call.argument(I - 1);
    if (!(Flags & O_CREAT) && (Flags & O_TMPFILE) != O_TMPFILE)
      return std::nullopt;
    return permissionText(uint32_t(Value));
  }
  case ArgumentKind::RemapAddress:
    if (Call.argument(3) & (MREMAP_FIXED | MREMAP_DONTUNMAP))
      return pointerText(Value);
    return std::nullopt;
  case ArgumentKind::FcntlArgument:
    return fcntlArgument(Call);
  case ArgumentKind::IoctlArgument:
    return ioctlArgument(Call);
  case ArgumentKind::FutexValue:
  case ArgumentKind::FutexTimeout:
  case ArgumentKind::FutexSecond:
  case ArgumentKind::FutexThird:
    return futexArgument(Call, Kind, I);
  case ArgumentKind::PrctlArgument:
    return prctlArgument(Call);
  case ArgumentKind::PrctlMore:
    return std::nullopt;
  case ArgumentKind::CloneStack:
  case ArgumentKind::CloneFlags:
  case ArgumentKind::CloneParent:
  case ArgumentKind::CloneTls:
  case ArgumentKind::CloneChild:
    return cloneArgument(Call, Kind);
  case ArgumentKind::SocketProtocol: {
    MaybeText Name = protocolText(Call.argument(0), Value);
    return Name ? *Name : std::to_string(int32_t(Value));
  }
  case ArgumentKind::SocketOption:
    return socketOptionText(Call.argument(1), Value);
  default:
    break;
  }
  if (MaybeText Name = constantArgument(Kind, Value))
    return Name;
  MaybeText Text = Value ? pointedText(Call, Kind, I) : std::nullopt;
  return Text ? *Text : pointerText(Value);
}

// ---- results ----

/// What strace adds to a result: "(Timeout)", "([{fd=3, revents=POLLIN}])".
static std::string resultNote(CallView &Call) {
  switch (Call.number()) {
  case SYS_poll:
  case SYS_ppoll: {
    if (!Call.result())
      return " (Timeout)";
    MaybeText Came =
        pollText(Call, Call.argument(0), Call.argument(1), Side::Out);
    if (!Came)
      return "";
    MaybeText Left = Call.number() == SYS_ppoll && Call.argument(2)
                         ? timeText(Call, Call.argument(2), Side::Out, false)
                         : std::nullopt;
    return " (" + *Came + (Left ? ", left " + *Left : "") + ")";
  }
  case SYS_select:
  case SYS_pselect6: {
    std::string Text;
    if (!Call.result())
      return " (Timeout)";
    static constexpr const char *Names[] = {"in ", "out ", "except "};
    for (unsigned I = 0; I < 3; ++I) {
      MaybeText Set = Call.argument(I + 1)
                          ? fdSetText(Call, Call.argument(I + 1),
                                      Call.argument(0), Side::Out)
                          : std::nullopt;
      if (Set && *Set != "[]")
        Text += (Text.empty() ? "" : ", ") + (Names[I] + *Set);
    }
    MaybeText Left = Call.argument(4)
                         ? timeText(Call, Call.argument(4), Side::Out,
                                    Call.number() == SYS_select)
                         : std::nullopt;
    if (Left)
      Text += ", left " + *Left;
    return " (" + Text + ")";
  }
  case SYS_prctl: {
    static constexpr const char *Dumpable[] = {
        "SUID_DUMP_DISABLE", "SUID_DUMP_USER", "SUID_DUMP_ROOT"};
    if (Call.argument(0) == PR_GET_DUMPABLE && uint64_t(Call.result()) < 3)
      return std::string(" (") + Dumpable[Call.result()] + ")";
    return "";
  }
  case SYS_fcntl:
    if (Call.argument(1) == F_GETFL)
      return " (flags " + openFlagsText(uint32_t(Call.result())) + ")";
    if (Call.argument(1) == F_GETFD && Call.result())
      return " (flags " + descriptorFlagText(uint32_t(Call.result())) + ")";
    return "";
  }
  return "";
}

static std::string resultText(CallView &Call) {
  // The thread or the program ends in these, whatever was recorded.
  if (!Call.returned() || Call.number() == SYS_exit ||
      Call.number() == SYS_exit_group)
    return "?";
  const int64_t Result = Call.result();
  if (CallView::failed(Result)) {
    StringRef Name = answers::systemCallError(Result);
    return formatv("-1 {0} ({1})", Name.empty() ? "errno" : Name,
                   std::strerror(int(-Result)));
  }
  switch (Call.number()) {
  case SYS_mmap:
  case SYS_mremap:
  case SYS_brk:
  case SYS_shmat:
    return hexText(uint64_t(Result));
  case SYS_umask:
    return permissionText(uint32_t(Result));
  case SYS_fcntl:
    if (Call.argument(1) == F_GETFL || Call.argument(1) == F_GETFD)
      return hexText(uint64_t(Result)) + resultNote(Call);
    break;
  }
  return std::to_string(Result) + resultNote(Call);
}

Expected<std::string> systemCallText(const query::Trace &T,
                                     const answers::SystemCall &Call) {
  CallView View(T, Call);
  StringRef Name = answers::systemCallName(Call.Number);
  std::string Text =
      (Name.empty() ? "syscall_" + hexText(Call.Number) : Name.str()) + "(";
  if (Call.Arguments) {
    bool First = true;
    for (const auto &[I, Kind] :
         enumerate(answers::systemCallArguments(Call.Number)))
      if (MaybeText Argument = argumentText(View, Kind, unsigned(I))) {
        Text += (First ? "" : ", ") + *Argument;
        First = false;
      }
  } else {
    Text += "...";
  }
  Text += ")";
  if (Call.Arguments)
    Text += " = " + resultText(View);
  if (Error E = View.takeError())
    return E;
  return Text;
}

} // namespace chronicle::systemcalls
