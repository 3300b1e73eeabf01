// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/systemcalls/ConstantNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <asm/ioctls.h>
#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <linux/prctl.h>
#include <linux/stat.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

using namespace llvm;

namespace chronicle::systemcalls {

using answers::ArgumentKind;

std::string flagsText(uint64_t Value, ArrayRef<Constant> Names,
                      StringRef What) {
  std::string Text;
  uint64_t Rest = Value;
  for (const Constant &C : Names) {
    if (C.Value ? (Rest & C.Value) != C.Value : Value != 0)
      continue;
    Text += (Text.empty() ? "" : "|") + std::string(C.Name);
    Rest &= ~C.Value;
  }
  if (Text.empty())
    return Value ? formatv("{0:x} /* {1} */", Value, What).str() : "0";
  return Rest ? Text + formatv("|{0:x}", Rest).str() : Text;
}

std::string constantText(uint64_t Value, ArrayRef<Constant> Names,
                         StringRef What) {
  for (const Constant &C : Names)
    if (C.Value == Value)
      return C.Name;
  return formatv("{0:x} /* {1} */", Value, What);
}

// The tables, in the order in which strace prints flags.
// clang-format off
#define NAMED(NAME) {static_cast<uint64_t>(NAME), #NAME}

// The C library's O_LARGEFILE is 0, because its programs need no flag.
static constexpr uint64_t LargeFile = 0100000, SyncOnly = O_SYNC & ~O_DSYNC,
                          TmpFileOnly = O_TMPFILE & ~O_DIRECTORY;
static constexpr Constant OpenFlags[] = {
    NAMED(O_CREAT), NAMED(O_EXCL), NAMED(O_NOCTTY), NAMED(O_TRUNC),
    NAMED(O_APPEND), NAMED(O_NONBLOCK), NAMED(O_SYNC), {SyncOnly, "__O_SYNC"},
    NAMED(O_DSYNC), NAMED(O_DIRECT), {LargeFile, "O_LARGEFILE"},
    NAMED(O_NOFOLLOW), NAMED(O_NOATIME), NAMED(O_CLOEXEC), NAMED(O_PATH),
    NAMED(O_TMPFILE), {TmpFileOnly, "__O_TMPFILE"}, NAMED(O_DIRECTORY),
    {O_ASYNC, "FASYNC"}};
static constexpr Constant DescriptorFlags[] = {NAMED(O_NONBLOCK), NAMED(O_DIRECT), NAMED(O_CLOEXEC)};
static constexpr Constant AccessModes[] = {NAMED(F_OK), NAMED(R_OK), NAMED(W_OK), NAMED(X_OK)};
static constexpr Constant AccessFlags[] = {NAMED(AT_SYMLINK_NOFOLLOW), NAMED(AT_EACCESS), NAMED(AT_EMPTY_PATH)};
static constexpr Constant AtFlags[] = {
    NAMED(AT_SYMLINK_NOFOLLOW), NAMED(AT_REMOVEDIR), NAMED(AT_SYMLINK_FOLLOW),
    NAMED(AT_NO_AUTOMOUNT), NAMED(AT_EMPTY_PATH)};
static constexpr Constant StatxFlags[] = {
    NAMED(AT_STATX_FORCE_SYNC), NAMED(AT_STATX_DONT_SYNC), NAMED(AT_SYMLINK_NOFOLLOW),
    NAMED(AT_NO_AUTOMOUNT), NAMED(AT_EMPTY_PATH)};
static constexpr Constant StatxMask[] = {
    NAMED(STATX_ALL), NAMED(STATX_BASIC_STATS), NAMED(STATX_TYPE), NAMED(STATX_MODE),
    NAMED(STATX_NLINK), NAMED(STATX_UID), NAMED(STATX_GID), NAMED(STATX_ATIME),
    NAMED(STATX_MTIME), NAMED(STATX_CTIME), NAMED(STATX_INO), NAMED(STATX_SIZE),
    NAMED(STATX_BLOCKS), NAMED(STATX_BTIME), NAMED(STATX_MNT_ID)};
static constexpr Constant RenameFlags[] = {NAMED(RENAME_NOREPLACE), NAMED(RENAME_EXCHANGE), NAMED(RENAME_WHITEOUT)};
static constexpr Constant Whence[] = {
    NAMED(SEEK_SET), NAMED(SEEK_CUR), NAMED(SEEK_END), NAMED(SEEK_DATA), NAMED(SEEK_HOLE)};
static constexpr Constant LockOperations[] = {NAMED(LOCK_SH), NAMED(LOCK_EX), NAMED(LOCK_UN), NAMED(LOCK_NB)};
static constexpr Constant FallocateFlags[] = {
    NAMED(FALLOC_FL_KEEP_SIZE), NAMED(FALLOC_FL_PUNCH_HOLE), NAMED(FALLOC_FL_NO_HIDE_STALE),
    NAMED(FALLOC_FL_COLLAPSE_RANGE), NAMED(FALLOC_FL_ZERO_RANGE),
    NAMED(FALLOC_FL_INSERT_RANGE), NAMED(FALLOC_FL_UNSHARE_RANGE)};
static constexpr Constant FileAdvice[] = {
    NAMED(POSIX_FADV_NORMAL), NAMED(POSIX_FADV_RANDOM), NAMED(POSIX_FADV_SEQUENTIAL),
    NAMED(POSIX_FADV_WILLNEED), NAMED(POSIX_FADV_DONTNEED), NAMED(POSIX_FADV_NOREUSE)};
static constexpr Constant FcntlCommands[] = {
    NAMED(F_DUPFD), NAMED(F_GETFD), NAMED(F_SETFD), NAMED(F_GETFL), NAMED(F_SETFL),
    {5, "F_GETLK"}, {6, "F_SETLK"}, {7, "F_SETLKW"}, NAMED(F_SETOWN), NAMED(F_GETOWN),
    NAMED(F_SETSIG), NAMED(F_GETSIG), NAMED(F_SETOWN_EX), NAMED(F_GETOWN_EX),
    NAMED(F_OFD_GETLK), NAMED(F_OFD_SETLK), NAMED(F_OFD_SETLKW), NAMED(F_SETLEASE),
    NAMED(F_GETLEASE), NAMED(F_NOTIFY), NAMED(F_DUPFD_CLOEXEC), NAMED(F_SETPIPE_SZ),
    NAMED(F_GETPIPE_SZ), NAMED(F_ADD_SEALS), NAMED(F_GET_SEALS)};
static constexpr Constant IoctlCommands[] = {
    NAMED(TCGETS), NAMED(TCSETS), NAMED(TCSETSW), NAMED(TCSETSF), NAMED(TCSBRK),
    NAMED(TCXONC), NAMED(TCFLSH), NAMED(TIOCEXCL), NAMED(TIOCNXCL), NAMED(TIOCSCTTY),
    NAMED(TIOCGPGRP), NAMED(TIOCSPGRP), NAMED(TIOCOUTQ), NAMED(TIOCSTI), NAMED(TIOCGWINSZ),
    NAMED(TIOCSWINSZ), NAMED(FIONREAD), NAMED(FIONBIO), NAMED(FIONCLEX), NAMED(FIOCLEX),
    NAMED(FIOASYNC), NAMED(TIOCNOTTY), NAMED(TIOCGSID), NAMED(TIOCGPTN), NAMED(TIOCSPTLCK),
    NAMED(FIGETBSZ), NAMED(FICLONE), NAMED(FS_IOC_GETFLAGS), NAMED(FS_IOC_SETFLAGS)};
static constexpr Constant SpliceFlags[] = {
    NAMED(SPLICE_F_MOVE), NAMED(SPLICE_F_NONBLOCK), NAMED(SPLICE_F_MORE), NAMED(SPLICE_F_GIFT)};
static constexpr Constant CloseRangeFlags[] = {NAMED(CLOSE_RANGE_UNSHARE), NAMED(CLOSE_RANGE_CLOEXEC)};
static constexpr Constant MemFdFlags[] = {
    {1, "MFD_CLOEXEC"}, {2, "MFD_ALLOW_SEALING"}, {4, "MFD_HUGETLB"}};
static constexpr Constant InotifyFlags[] = {NAMED(IN_CLOEXEC), NAMED(IN_NONBLOCK)};
static constexpr Constant EventFdFlags[] = {NAMED(EFD_SEMAPHORE), NAMED(EFD_CLOEXEC), NAMED(EFD_NONBLOCK)};
static constexpr Constant Protections[] = {
    NAMED(PROT_NONE), NAMED(PROT_READ), NAMED(PROT_WRITE), NAMED(PROT_EXEC),
    NAMED(PROT_GROWSDOWN), NAMED(PROT_GROWSUP)};
static constexpr Constant MapFlags[] = {
    NAMED(MAP_SHARED_VALIDATE), NAMED(MAP_SHARED), NAMED(MAP_PRIVATE), NAMED(MAP_FIXED),
    NAMED(MAP_ANONYMOUS), NAMED(MAP_32BIT), NAMED(MAP_NORESERVE), NAMED(MAP_POPULATE),
    NAMED(MAP_NONBLOCK), NAMED(MAP_GROWSDOWN), NAMED(MAP_DENYWRITE), NAMED(MAP_EXECUTABLE),
    NAMED(MAP_LOCKED), NAMED(MAP_STACK), NAMED(MAP_HUGETLB), NAMED(MAP_SYNC),
    NAMED(MAP_FIXED_NOREPLACE)};
static constexpr Constant RemapFlags[] = {
    NAMED(MREMAP_MAYMOVE), NAMED(MREMAP_FIXED), NAMED(MREMAP_DONTUNMAP)};
static constexpr Constant SyncFlags[] = {NAMED(MS_SYNC), NAMED(MS_ASYNC), NAMED(MS_INVALIDATE)};
static constexpr Constant Advice[] = {
    NAMED(MADV_NORMAL), NAMED(MADV_RANDOM), NAMED(MADV_SEQUENTIAL), NAMED(MADV_WILLNEED),
    NAMED(MADV_DONTNEED), NAMED(MADV_FREE), NAMED(MADV_REMOVE), NAMED(MADV_DONTFORK),
    NAMED(MADV_DOFORK), NAMED(MADV_MERGEABLE), NAMED(MADV_UNMERGEABLE), NAMED(MADV_HUGEPAGE),
    NAMED(MADV_NOHUGEPAGE), NAMED(MADV_DONTDUMP), NAMED(MADV_DODUMP), NAMED(MADV_WIPEONFORK),
    NAMED(MADV_KEEPONFORK), NAMED(MADV_COLD), NAMED(MADV_PAGEOUT), NAMED(MADV_POPULATE_READ),
    NAMED(MADV_POPULATE_WRITE), NAMED(MADV_DONTNEED_LOCKED)};
static constexpr Constant LockAllFlags[] = {NAMED(MCL_CURRENT), NAMED(MCL_FUTURE), NAMED(MCL_ONFAULT)};
static constexpr Constant IpcFlags[] = {NAMED(IPC_CREAT), NAMED(IPC_EXCL), NAMED(IPC_NOWAIT)};
static constexpr Constant ShmFlags[] = {
    NAMED(SHM_RDONLY), NAMED(SHM_RND), NAMED(SHM_REMAP), NAMED(SHM_EXEC)};
static constexpr Constant IpcCommands[] = {NAMED(IPC_RMID), NAMED(IPC_SET), NAMED(IPC_STAT), {3, "IPC_INFO"}};
static constexpr Constant RandomFlags[] = {NAMED(GRND_NONBLOCK), NAMED(GRND_RANDOM), NAMED(GRND_INSECURE)};
static constexpr Constant TimerKinds[] = {
    {0, "ITIMER_REAL"}, {1, "ITIMER_VIRTUAL"}, {2, "ITIMER_PROF"}};
static constexpr Constant TimerFlags[] = {NAMED(TIMER_ABSTIME)};
static constexpr Constant TimerFdFlags[] = {NAMED(TFD_CLOEXEC), NAMED(TFD_NONBLOCK)};
static constexpr Constant TimerFdTimeFlags[] = {NAMED(TFD_TIMER_ABSTIME), NAMED(TFD_TIMER_CANCEL_ON_SET)};
static constexpr Constant Clocks[] = {
    NAMED(CLOCK_REALTIME), NAMED(CLOCK_MONOTONIC), NAMED(CLOCK_PROCESS_CPUTIME_ID),
    NAMED(CLOCK_THREAD_CPUTIME_ID), NAMED(CLOCK_MONOTONIC_RAW), NAMED(CLOCK_REALTIME_COARSE),
    NAMED(CLOCK_MONOTONIC_COARSE), NAMED(CLOCK_BOOTTIME), NAMED(CLOCK_REALTIME_ALARM),
    NAMED(CLOCK_BOOTTIME_ALARM), NAMED(CLOCK_TAI)};
static constexpr Constant PollEvents[] = {
    NAMED(POLLIN), NAMED(POLLPRI), NAMED(POLLOUT), NAMED(POLLRDNORM), NAMED(POLLWRNORM),
    NAMED(POLLRDBAND), NAMED(POLLWRBAND), NAMED(POLLERR), NAMED(POLLHUP), NAMED(POLLNVAL),
    NAMED(POLLRDHUP)};
static constexpr Constant EpollEvents[] = {
    NAMED(EPOLLIN), NAMED(EPOLLPRI), NAMED(EPOLLOUT), NAMED(EPOLLERR), NAMED(EPOLLHUP),
    NAMED(EPOLLRDNORM), NAMED(EPOLLRDBAND), NAMED(EPOLLWRNORM), NAMED(EPOLLWRBAND),
    NAMED(EPOLLMSG), NAMED(EPOLLRDHUP), NAMED(EPOLLEXCLUSIVE), NAMED(EPOLLWAKEUP),
    NAMED(EPOLLONESHOT), NAMED(EPOLLET)};
static constexpr Constant EpollOperations[] = {NAMED(EPOLL_CTL_ADD), NAMED(EPOLL_CTL_DEL), NAMED(EPOLL_CTL_MOD)};
static constexpr Constant EpollFlags[] = {NAMED(EPOLL_CLOEXEC)};
static constexpr Constant FutexOperations[] = {
    NAMED(FUTEX_WAIT), NAMED(FUTEX_WAKE), NAMED(FUTEX_FD), NAMED(FUTEX_REQUEUE),
    NAMED(FUTEX_CMP_REQUEUE), NAMED(FUTEX_WAKE_OP), NAMED(FUTEX_LOCK_PI),
    NAMED(FUTEX_UNLOCK_PI), NAMED(FUTEX_TRYLOCK_PI), NAMED(FUTEX_WAIT_BITSET),
    NAMED(FUTEX_WAKE_BITSET), NAMED(FUTEX_WAIT_REQUEUE_PI), NAMED(FUTEX_CMP_REQUEUE_PI),
    {13, "FUTEX_LOCK_PI2"}};
static constexpr Constant SignalHows[] = {NAMED(SIG_BLOCK), NAMED(SIG_UNBLOCK), NAMED(SIG_SETMASK)};
static constexpr Constant SignalActionFlags[] = {
    {0x04000000, "SA_RESTORER"}, NAMED(SA_ONSTACK), NAMED(SA_RESTART), NAMED(SA_INTERRUPT),
    NAMED(SA_NODEFER), NAMED(SA_RESETHAND), NAMED(SA_SIGINFO), NAMED(SA_NOCLDSTOP),
    NAMED(SA_NOCLDWAIT)};
static constexpr Constant SignalFdFlags[] = {NAMED(SFD_CLOEXEC), NAMED(SFD_NONBLOCK)};
static constexpr Constant CloneFlags[] = {
    NAMED(CLONE_VM), NAMED(CLONE_FS), NAMED(CLONE_FILES), NAMED(CLONE_SIGHAND),
    {0x1000, "CLONE_PIDFD"}, NAMED(CLONE_PTRACE), NAMED(CLONE_VFORK), NAMED(CLONE_PARENT),
    NAMED(CLONE_THREAD), NAMED(CLONE_NEWNS), NAMED(CLONE_SYSVSEM), NAMED(CLONE_SETTLS),
    NAMED(CLONE_PARENT_SETTID), NAMED(CLONE_CHILD_CLEARTID), NAMED(CLONE_UNTRACED),
    NAMED(CLONE_CHILD_SETTID), NAMED(CLONE_NEWCGROUP), NAMED(CLONE_NEWUTS),
    NAMED(CLONE_NEWIPC), NAMED(CLONE_NEWUSER), NAMED(CLONE_NEWPID), NAMED(CLONE_NEWNET),
    NAMED(CLONE_IO)};
static constexpr Constant WaitOptions[] = {
    NAMED(WNOHANG), NAMED(WSTOPPED), NAMED(WEXITED), NAMED(WCONTINUED), NAMED(WNOWAIT),
    NAMED(__WCLONE), NAMED(__WALL), NAMED(__WNOTHREAD)};
static constexpr Constant WaitKinds[] = {{0, "P_ALL"}, {1, "P_PID"}, {2, "P_PGID"}, {3, "P_PIDFD"}};
static constexpr Constant UsageWhos[] = {
    {0, "RUSAGE_SELF"}, {uint64_t(-1), "RUSAGE_CHILDREN"}, {1, "RUSAGE_THREAD"}};
static constexpr Constant Resources[] = {
    {0, "RLIMIT_CPU"}, {1, "RLIMIT_FSIZE"}, {2, "RLIMIT_DATA"}, {3, "RLIMIT_STACK"},
    {4, "RLIMIT_CORE"}, {5, "RLIMIT_RSS"}, {6, "RLIMIT_NPROC"}, {7, "RLIMIT_NOFILE"},
    {8, "RLIMIT_MEMLOCK"}, {9, "RLIMIT_AS"}, {10, "RLIMIT_LOCKS"}, {11, "RLIMIT_SIGPENDING"},
    {12, "RLIMIT_MSGQUEUE"}, {13, "RLIMIT_NICE"}, {14, "RLIMIT_RTPRIO"}, {15, "RLIMIT_RTTIME"}};
static constexpr Constant PriorityWhich[] = {{0, "PRIO_PROCESS"}, {1, "PRIO_PGRP"}, {2, "PRIO_USER"}};
static constexpr Constant PrctlOptions[] = {
    NAMED(PR_SET_PDEATHSIG), NAMED(PR_GET_PDEATHSIG), NAMED(PR_GET_DUMPABLE),
    NAMED(PR_SET_DUMPABLE), NAMED(PR_GET_KEEPCAPS), NAMED(PR_SET_KEEPCAPS), NAMED(PR_SET_NAME),
    NAMED(PR_GET_NAME), NAMED(PR_GET_SECCOMP), NAMED(PR_SET_SECCOMP), NAMED(PR_CAPBSET_READ),
    NAMED(PR_CAPBSET_DROP), NAMED(PR_GET_TSC), NAMED(PR_SET_TSC), NAMED(PR_SET_TIMERSLACK),
    NAMED(PR_GET_TIMERSLACK), NAMED(PR_SET_MM), NAMED(PR_SET_PTRACER),
    NAMED(PR_SET_CHILD_SUBREAPER), NAMED(PR_GET_CHILD_SUBREAPER), NAMED(PR_SET_NO_NEW_PRIVS),
    NAMED(PR_GET_NO_NEW_PRIVS), NAMED(PR_SET_THP_DISABLE), NAMED(PR_GET_THP_DISABLE),
    NAMED(PR_CAP_AMBIENT), NAMED(PR_SET_VMA)};
static constexpr Constant ArchPrctls[] = {
    NAMED(ARCH_SET_GS), NAMED(ARCH_SET_FS), NAMED(ARCH_GET_FS), NAMED(ARCH_GET_GS),
    NAMED(ARCH_GET_CPUID), NAMED(ARCH_SET_CPUID)};
static constexpr Constant Families[] = {
    NAMED(AF_UNSPEC), NAMED(AF_UNIX), NAMED(AF_INET), NAMED(AF_INET6), NAMED(AF_NETLINK),
    NAMED(AF_PACKET), NAMED(AF_ALG), NAMED(AF_VSOCK), NAMED(AF_BLUETOOTH), NAMED(AF_KEY)};
static constexpr Constant SocketTypes[] = {
    {1, "SOCK_STREAM"}, {2, "SOCK_DGRAM"}, {3, "SOCK_RAW"}, {4, "SOCK_RDM"},
    {5, "SOCK_SEQPACKET"}, {6, "SOCK_DCCP"}, {10, "SOCK_PACKET"}};
static constexpr Constant SocketFlags[] = {
    {SOCK_CLOEXEC, "SOCK_CLOEXEC"}, {SOCK_NONBLOCK, "SOCK_NONBLOCK"}};
static constexpr Constant Protocols[] = {
    NAMED(IPPROTO_IP), NAMED(IPPROTO_ICMP), NAMED(IPPROTO_IGMP), NAMED(IPPROTO_TCP),
    NAMED(IPPROTO_UDP), NAMED(IPPROTO_IPV6), NAMED(IPPROTO_ICMPV6), NAMED(IPPROTO_SCTP),
    NAMED(IPPROTO_RAW)};
static constexpr Constant MessageFlags[] = {
    {MSG_OOB, "MSG_OOB"}, {MSG_PEEK, "MSG_PEEK"}, {MSG_DONTROUTE, "MSG_DONTROUTE"},
    {MSG_CTRUNC, "MSG_CTRUNC"}, {0x10, "MSG_PROBE"}, {MSG_TRUNC, "MSG_TRUNC"},
    {MSG_DONTWAIT, "MSG_DONTWAIT"}, {MSG_EOR, "MSG_EOR"}, {MSG_WAITALL, "MSG_WAITALL"},
    {MSG_CONFIRM, "MSG_CONFIRM"}, {MSG_ERRQUEUE, "MSG_ERRQUEUE"},
    {MSG_NOSIGNAL, "MSG_NOSIGNAL"}, {MSG_MORE, "MSG_MORE"},
    {MSG_WAITFORONE, "MSG_WAITFORONE"}, {MSG_ZEROCOPY, "MSG_ZEROCOPY"},
    {MSG_FASTOPEN, "MSG_FASTOPEN"}, {MSG_CMSG_CLOEXEC, "MSG_CMSG_CLOEXEC"}};
static constexpr Constant ShutdownHows[] = {{0, "SHUT_RD"}, {1, "SHUT_WR"}, {2, "SHUT_RDWR"}};
static constexpr Constant SocketLevels[] = {
    {0, "SOL_IP"}, {1, "SOL_SOCKET"}, {6, "SOL_TCP"}, {17, "SOL_UDP"}, {41, "SOL_IPV6"},
    {58, "SOL_ICMPV6"}, {255, "SOL_RAW"}, {263, "SOL_PACKET"}, {270, "SOL_NETLINK"}};
static constexpr Constant SocketOptions[] = {
    NAMED(SO_DEBUG), NAMED(SO_REUSEADDR), NAMED(SO_TYPE), NAMED(SO_ERROR), NAMED(SO_DONTROUTE),
    NAMED(SO_BROADCAST), NAMED(SO_SNDBUF), NAMED(SO_RCVBUF), NAMED(SO_KEEPALIVE),
    NAMED(SO_OOBINLINE), NAMED(SO_LINGER), NAMED(SO_REUSEPORT), NAMED(SO_PASSCRED),
    NAMED(SO_PEERCRED), NAMED(SO_RCVLOWAT), NAMED(SO_SNDLOWAT), {20, "SO_RCVTIMEO_OLD"},
    {21, "SO_SNDTIMEO_OLD"}, NAMED(SO_BINDTODEVICE), NAMED(SO_ACCEPTCONN),
    NAMED(SO_SNDBUFFORCE), NAMED(SO_RCVBUFFORCE), NAMED(SO_PROTOCOL), NAMED(SO_DOMAIN)};
static constexpr Constant TcpOptions[] = {
    NAMED(TCP_NODELAY), NAMED(TCP_MAXSEG), NAMED(TCP_CORK), NAMED(TCP_KEEPIDLE),
    NAMED(TCP_KEEPINTVL), NAMED(TCP_KEEPCNT), NAMED(TCP_SYNCNT), NAMED(TCP_LINGER2),
    NAMED(TCP_DEFER_ACCEPT), NAMED(TCP_WINDOW_CLAMP), NAMED(TCP_INFO), NAMED(TCP_QUICKACK),
    NAMED(TCP_CONGESTION), NAMED(TCP_USER_TIMEOUT), NAMED(TCP_FASTOPEN)};
static constexpr Constant FileTypes[] = {
    NAMED(S_IFREG), NAMED(S_IFSOCK), NAMED(S_IFIFO), NAMED(S_IFLNK), NAMED(S_IFBLK),
    NAMED(S_IFDIR), NAMED(S_IFCHR)};
#undef NAMED
// clang-format on

namespace {
/// How an argument of a kind is named.
struct NameTable {
  ArgumentKind Kind;
  ArrayRef<Constant> Names;
  const char *What;
  bool IsFlags = false;
  bool Is64 = false; ///< otherwise the kernel sees 32 bits
};
} // namespace

static const NameTable *tableOf(ArgumentKind Kind) {
  constexpr bool IsFlags = true, Is64 = true;
  // clang-format off
  static const NameTable Tables[] = {
    {ArgumentKind::DescriptorFlags, DescriptorFlags, "O_???", IsFlags},
    {ArgumentKind::AccessMode, AccessModes, "?_OK", IsFlags},
    {ArgumentKind::AccessFlags, AccessFlags, "AT_???", IsFlags},
    {ArgumentKind::AtFlags, AtFlags, "AT_???", IsFlags},
    {ArgumentKind::UnlinkFlags, AtFlags, "AT_???", IsFlags},
    {ArgumentKind::StatxMask, StatxMask, "STATX_???", IsFlags},
    {ArgumentKind::RenameFlags, RenameFlags, "RENAME_???", IsFlags},
    {ArgumentKind::Whence, Whence, "SEEK_???"},
    {ArgumentKind::LockOperation, LockOperations, "LOCK_???", IsFlags},
    {ArgumentKind::FallocateFlags, FallocateFlags, "FALLOC_FL_???", IsFlags},
    {ArgumentKind::FileAdvice, FileAdvice, "POSIX_FADV_???"},
    {ArgumentKind::FcntlCommand, FcntlCommands, "F_???"},
    {ArgumentKind::SpliceFlags, SpliceFlags, "SPLICE_F_???", IsFlags},
    {ArgumentKind::CloseRangeFlags, CloseRangeFlags, "CLOSE_RANGE_???", IsFlags},
    {ArgumentKind::MemFdFlags, MemFdFlags, "MFD_???", IsFlags},
    {ArgumentKind::InotifyFlags, InotifyFlags, "IN_???", IsFlags},
    {ArgumentKind::EventFdFlags, EventFdFlags, "EFD_???", IsFlags},
    {ArgumentKind::Protection, Protections, "PROT_???", IsFlags, Is64},
    {ArgumentKind::MapFlags, MapFlags, "MAP_???", IsFlags, Is64},
    {ArgumentKind::RemapFlags, RemapFlags, "MREMAP_???", IsFlags, Is64},
    {ArgumentKind::SyncFlags, SyncFlags, "MS_???", IsFlags},
    {ArgumentKind::Advice, Advice, "MADV_???"},
    {ArgumentKind::LockAllFlags, LockAllFlags, "MCL_???", IsFlags},
    {ArgumentKind::ShmFlags, ShmFlags, "SHM_???", IsFlags},
    {ArgumentKind::IpcCommand, IpcCommands, "SHM_???"},
    {ArgumentKind::RandomFlags, RandomFlags, "GRND_???", IsFlags},
    {ArgumentKind::TimerKind, TimerKinds, "ITIMER_???"},
    {ArgumentKind::TimerFlags, TimerFlags, "TIMER_???", IsFlags},
    {ArgumentKind::TimerFdFlags, TimerFdFlags, "TFD_???", IsFlags},
    {ArgumentKind::TimerFdTimeFlags, TimerFdTimeFlags, "TFD_???", IsFlags},
    {ArgumentKind::Clock, Clocks, "CLOCK_???"},
    {ArgumentKind::EpollOperation, EpollOperations, "EPOLL_CTL_???"},
    {ArgumentKind::EpollFlags, EpollFlags, "EPOLL_???", IsFlags},
    {ArgumentKind::SignalHow, SignalHows, "SIG_???"},
    {ArgumentKind::SignalFdFlags, SignalFdFlags, "SFD_???", IsFlags},
    {ArgumentKind::WaitOptions, WaitOptions, "W???", IsFlags},
    {ArgumentKind::WaitKind, WaitKinds, "P_???"},
    {ArgumentKind::Resource, Resources, "RLIMIT_???"},
    {ArgumentKind::PriorityWhich, PriorityWhich, "PRIO_???"},
    {ArgumentKind::PrctlOption, PrctlOptions, "PR_???"},
    {ArgumentKind::ArchPrctl, ArchPrctls, "ARCH_???"},
    {ArgumentKind::AddressFamily, Families, "AF_???"},
    {ArgumentKind::SocketFlags, SocketFlags, "SOCK_???", IsFlags},
    {ArgumentKind::MessageFlags, MessageFlags, "MSG_???", IsFlags},
    {ArgumentKind::ShutdownHow, ShutdownHows, "SHUT_???"},
    {ArgumentKind::SocketLevel, SocketLevels, "SOL_???"},
  };
  // clang-format on
  const NameTable *Found =
      find_if(Tables, [&](const NameTable &T) { return T.Kind == Kind; });
  return Found == std::end(Tables) ? nullptr : Found;
}

/// A base constant, joined with flags: "SOCK_STREAM|SOCK_CLOEXEC".
static std::string baseAndFlags(const std::string &Base, uint64_t Flags,
                                ArrayRef<Constant> Names) {
  return Flags ? Base + "|" + flagsText(Flags, Names, "???") : Base;
}

std::optional<std::string> constantArgument(ArgumentKind Kind, uint64_t Value) {
  switch (Kind) {
  case ArgumentKind::OpenFlags:
    return openFlagsText(uint32_t(Value));
  case ArgumentKind::IoctlCommand:
    return ioctlText(uint32_t(Value));
  case ArgumentKind::Mode:
    return permissionText(uint32_t(Value));
  case ArgumentKind::ModeType:
    return modeText(uint32_t(Value));
  case ArgumentKind::Signal:
    return signalText(uint32_t(Value));
  case ArgumentKind::UsageWho:
    return constantText(uint64_t(int64_t(int32_t(Value))), UsageWhos,
                        "RUSAGE_???");
  case ArgumentKind::IpcKey:
    return uint32_t(Value) ? formatv("{0:x}", uint32_t(Value)).str()
                           : "IPC_PRIVATE";
  case ArgumentKind::IpcFlags: {
    std::string Permissions = permissionText(Value & 0777);
    return Value & ~0777u
               ? flagsText(uint32_t(Value) & ~0777u, IpcFlags, "IPC_???") +
                     "|" + Permissions
               : Permissions;
  }
  case ArgumentKind::SocketType:
    return baseAndFlags(constantText(Value & 0xf, SocketTypes, "SOCK_???"),
                        uint32_t(Value) & ~0xfu, SocketFlags);
  case ArgumentKind::StatxFlags: {
    // No flag about synchronisation is a choice of its own.
    std::string Text = flagsText(uint32_t(Value), StatxFlags, "AT_???");
    if (Value & AT_STATX_SYNC_TYPE)
      return Text;
    return Value ? "AT_STATX_SYNC_AS_STAT|" + Text : "AT_STATX_SYNC_AS_STAT";
  }
  case ArgumentKind::FutexOperation: {
    constexpr uint64_t Modifiers = FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME;
    std::string Text = constantText(uint32_t(Value) & ~Modifiers,
                                    FutexOperations, "FUTEX_???");
    return Text + (Value & FUTEX_PRIVATE_FLAG ? "_PRIVATE" : "") +
           (Value & FUTEX_CLOCK_REALTIME ? "|FUTEX_CLOCK_REALTIME" : "");
  }
  default:
    break;
  }
  const NameTable *Table = tableOf(Kind);
  if (!Table)
    return std::nullopt;
  uint64_t Seen = Table->Is64 ? Value : uint32_t(Value);
  return Table->IsFlags ? flagsText(Seen, Table->Names, Table->What)
                        : constantText(Seen, Table->Names, Table->What);
}

std::string permissionText(uint32_t Mode) {
  std::string Digits;
  for (uint32_t Rest = Mode; Rest; Rest >>= 3)
    Digits.insert(Digits.begin(), char('0' + (Rest & 7)));
  return "0" + std::string(Digits.size() < 2 ? 2 - Digits.size() : 0, '0') +
         Digits;
}

std::string modeText(uint32_t Mode) {
  std::string Text;
  if (Mode & S_IFMT)
    Text = constantText(Mode & S_IFMT, FileTypes, "S_IF???") + "|";
  static constexpr Constant Special[] = {
      {S_ISUID, "S_ISUID"}, {S_ISGID, "S_ISGID"}, {S_ISVTX, "S_ISVTX"}};
  for (const Constant &C : Special)
    if (Mode & C.Value)
      Text += std::string(C.Name) + "|";
  return Text + permissionText(Mode & 0777);
}

std::string openFlagsText(uint32_t Flags) {
  static constexpr Constant Modes[] = {{O_RDONLY, "O_RDONLY"},
                                       {O_WRONLY, "O_WRONLY"},
                                       {O_RDWR, "O_RDWR"},
                                       {O_ACCMODE, "O_ACCMODE"}};
  return baseAndFlags(constantText(Flags & O_ACCMODE, Modes, ""),
                      Flags & ~uint32_t(O_ACCMODE), OpenFlags);
}

std::string signalText(uint32_t Number) {
  constexpr uint32_t First = 32, Last = 64; // the kernel's real-time signals
  if (Number == First)
    return "SIGRTMIN";
  if (Number > First && Number <= Last)
    return "SIGRT_" + std::to_string(Number - First);
  return answers::signalName(Number);
}

std::string pollEventsText(uint32_t Events) {
  return flagsText(Events, PollEvents, "POLL???");
}
std::string epollEventsText(uint32_t Events) {
  return flagsText(Events, EpollEvents, "EPOLL???");
}
std::string signalActionFlagsText(uint64_t Flags) {
  return flagsText(Flags, SignalActionFlags, "SA_???");
}
std::string cloneFlagsText(uint64_t Flags) {
  std::string Text;
  if (Flags & ~uint64_t(0xff))
    Text = flagsText(Flags & ~uint64_t(0xff), CloneFlags, "CLONE_???");
  if (Flags & 0xff)
    Text += (Text.empty() ? "" : "|") + signalText(Flags & 0xff);
  return Text.empty() ? "0" : Text;
}
std::string descriptorFlagText(uint64_t Flags) {
  static constexpr Constant Names[] = {{FD_CLOEXEC, "FD_CLOEXEC"}};
  return flagsText(Flags, Names, "FD_???");
}
std::string messageFlagsText(uint64_t Flags) {
  return flagsText(Flags, MessageFlags, "MSG_???");
}
std::string socketOptionText(uint64_t Level, uint64_t Option) {
  if (Level == SOL_SOCKET)
    return constantText(Option, SocketOptions, "SO_???");
  if (Level == IPPROTO_TCP)
    return constantText(Option, TcpOptions, "TCP_???");
  return formatv("{0:x}", Option);
}
std::optional<std::string> protocolText(uint64_t Family, uint64_t Protocol) {
  if (Family != AF_INET && Family != AF_INET6)
    return std::nullopt;
  return constantText(Protocol, Protocols, "IPPROTO_???");
}
std::string ioctlText(uint64_t Command) {
  for (const Constant &C : IoctlCommands)
    if (C.Value == Command)
      return C.Name;
  static constexpr Constant Directions[] = {{0, "_IOC_NONE"},
                                            {1, "_IOC_WRITE"},
                                            {2, "_IOC_READ"},
                                            {3, "_IOC_READ|_IOC_WRITE"}};
  auto Hex = [](uint64_t N) { return N ? formatv("{0:x}", N).str() : "0"; };
  return "_IOC(" + constantText(Command >> 30, Directions, "") + ", " +
         Hex((Command >> 8) & 0xff) + ", " + Hex(Command & 0xff) + ", " +
         Hex((Command >> 16) & 0x3fff) + ")";
}

} // namespace chronicle::systemcalls
