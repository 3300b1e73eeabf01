// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/systemcalls/StructureText.h"
#include "query/systemcalls/ConstantNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>
#include <linux/stat.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>

using namespace llvm;

namespace chronicle::systemcalls {

static std::string deviceText(uint64_t Major, uint64_t Minor) {
  auto Hex = [](uint64_t N) { return N ? formatv("{0:x}", N).str() : "0"; };
  return "makedev(" + Hex(Major) + ", " + Hex(Minor) + ")";
}

MaybeText statText(CallView &Call, uint64_t Address) {
  std::optional<struct stat> S = Call.value<struct stat>(Address, Side::Out);
  if (!S)
    return std::nullopt;
  std::string Size =
      S_ISCHR(S->st_mode) || S_ISBLK(S->st_mode)
          ? "st_rdev=" + deviceText(major(S->st_rdev), minor(S->st_rdev))
          : "st_size=" + std::to_string(S->st_size);
  return "{st_mode=" + modeText(S->st_mode) + ", " + Size + ", ...}";
}

MaybeText statxText(CallView &Call, uint64_t Address) {
  std::optional<struct statx> S = Call.value<struct statx>(Address, Side::Out);
  if (!S)
    return std::nullopt;
  std::string Mask =
      *constantArgument(answers::ArgumentKind::StatxMask, S->stx_mask);
  std::string Attributes =
      S->stx_attributes ? formatv("{0:x}", S->stx_attributes).str() : "0";
  return formatv("{{stx_mask={0}, stx_attributes={1}, stx_mode={2}, "
                 "stx_size={3}, ...}",
                 Mask, Attributes, modeText(S->stx_mode), S->stx_size)
      .str();
}

// ---- times ----

static std::string timeText(int64_t Seconds, uint64_t Part, bool Micro) {
  return formatv("{{tv_sec={0}, {1}={2}}", Seconds,
                 Micro ? "tv_usec" : "tv_nsec", Part);
}

MaybeText timeText(CallView &Call, uint64_t Address, Side S, bool Micro) {
  // timespec and timeval have the same layout.
  std::optional<timespec> Time = Call.value<timespec>(Address, S);
  if (!Time)
    return std::nullopt;
  return timeText(Time->tv_sec, uint64_t(Time->tv_nsec), Micro);
}

MaybeText intervalText(CallView &Call, uint64_t Address, Side S, bool Micro) {
  std::optional<itimerspec> Timer = Call.value<itimerspec>(Address, S);
  if (!Timer)
    return std::nullopt;
  auto Text = [&](const timespec &T) {
    return timeText(T.tv_sec, uint64_t(T.tv_nsec), Micro);
  };
  return "{it_interval=" + Text(Timer->it_interval) +
         ", it_value=" + Text(Timer->it_value) + "}";
}

MaybeText timePairText(CallView &Call, uint64_t Address) {
  auto Text = [&](uint64_t I) -> MaybeText {
    std::optional<timespec> T =
        Call.value<timespec>(Address + I * sizeof(timespec), Side::In);
    if (!T)
      return std::nullopt;
    if (T->tv_nsec == UTIME_NOW)
      return "UTIME_NOW";
    if (T->tv_nsec == UTIME_OMIT)
      return "UTIME_OMIT";
    return timeText(T->tv_sec, uint64_t(T->tv_nsec), /*Micro=*/false);
  };
  MaybeText First = Text(0), Second = Text(1);
  if (!First || !Second)
    return std::nullopt;
  return "[" + *First + ", " + *Second + "]";
}

// ---- signals ----

static std::string signalSetText(uint64_t Set) {
  // strace shows what is missing if most signals are in the set.
  constexpr int Signals = 64;
  bool Most = llvm::popcount(Set) >= Signals * 2 / 3;
  if (Most)
    Set = ~Set;
  std::string Text = Most ? "~[" : "[";
  bool First = true;
  for (unsigned N = 1; N <= Signals; ++N)
    if (Set >> (N - 1) & 1) {
      Text += (First ? "" : " ") + signalText(N).substr(3);
      First = false;
    }
  return Text + "]";
}

MaybeText signalSetText(CallView &Call, uint64_t Address, Side S) {
  std::optional<uint64_t> Set = Call.value<uint64_t>(Address, S);
  if (!Set)
    return std::nullopt;
  return signalSetText(*Set);
}

MaybeText signalActionText(CallView &Call, uint64_t Address, Side S) {
  struct KernelAction {
    uint64_t Handler, Flags, Restorer, Mask;
  };
  std::optional<KernelAction> A = Call.value<KernelAction>(Address, S);
  if (!A)
    return std::nullopt;
  std::string Handler = A->Handler == 0   ? "SIG_DFL"
                        : A->Handler == 1 ? "SIG_IGN"
                                          : pointerText(A->Handler);
  std::string Text = (A->Flags & SA_SIGINFO) && A->Handler > 1
                         ? "{sa_sigaction="
                         : "{sa_handler=";
  constexpr uint64_t HasRestorer = 0x04000000;
  Text += Handler + ", sa_mask=" + signalSetText(A->Mask) +
          ", sa_flags=" + signalActionFlagsText(A->Flags);
  if (A->Flags & HasRestorer)
    Text += ", sa_restorer=" + pointerText(A->Restorer);
  return Text + "}";
}

MaybeText alternateStackText(CallView &Call, uint64_t Address, Side S) {
  std::optional<stack_t> Stack = Call.value<stack_t>(Address, S);
  if (!Stack)
    return std::nullopt;
  static constexpr Constant Names[] = {{SS_ONSTACK, "SS_ONSTACK"},
                                       {SS_DISABLE, "SS_DISABLE"}};
  return formatv("{{ss_sp={0}, ss_flags={1}, ss_size={2}}",
                 pointerText(reinterpret_cast<uint64_t>(Stack->ss_sp)),
                 flagsText(uint32_t(Stack->ss_flags), Names, "SS_???"),
                 Stack->ss_size)
      .str();
}

// ---- processes ----

static std::string limitText(uint64_t Limit) {
  if (Limit == RLIM_INFINITY)
    return "RLIM64_INFINITY";
  if (Limit > 1024 && Limit % 1024 == 0)
    return std::to_string(Limit / 1024) + "*1024";
  return std::to_string(Limit);
}

MaybeText limitText(CallView &Call, uint64_t Address, Side S) {
  std::optional<rlimit> L = Call.value<rlimit>(Address, S);
  if (!L)
    return std::nullopt;
  return "{rlim_cur=" + limitText(L->rlim_cur) +
         ", rlim_max=" + limitText(L->rlim_max) + "}";
}

MaybeText usageText(CallView &Call, uint64_t Address) {
  std::optional<rusage> U = Call.value<rusage>(Address, Side::Out);
  if (!U)
    return std::nullopt;
  return "{ru_utime=" +
         timeText(U->ru_utime.tv_sec, uint64_t(U->ru_utime.tv_usec), true) +
         ", ru_stime=" +
         timeText(U->ru_stime.tv_sec, uint64_t(U->ru_stime.tv_usec), true) +
         ", ...}";
}

MaybeText waitStatusText(CallView &Call, uint64_t Address) {
  std::optional<int> Status = Call.value<int>(Address, Side::Out);
  if (!Status)
    return std::nullopt;
  int S = *Status;
  if (WIFEXITED(S))
    return formatv("[{{WIFEXITED(s) && WEXITSTATUS(s) == {0}}]", WEXITSTATUS(S))
        .str();
  if (WIFSIGNALED(S))
    return formatv("[{{WIFSIGNALED(s) && WTERMSIG(s) == {0}{1}}]",
                   signalText(unsigned(WTERMSIG(S))),
                   WCOREDUMP(S) ? " && WCOREDUMP(s)" : "")
        .str();
  if (WIFSTOPPED(S))
    return formatv("[{{WIFSTOPPED(s) && WSTOPSIG(s) == {0}}]",
                   signalText(unsigned(WSTOPSIG(S))))
        .str();
  return "[{WIFCONTINUED(s)}]";
}

MaybeText namesText(CallView &Call, uint64_t Address) {
  std::optional<utsname> Names = Call.value<utsname>(Address, Side::Out);
  if (!Names)
    return std::nullopt;
  return "{sysname=" + quoted(Names->sysname) +
         ", nodename=" + quoted(Names->nodename) + ", ...}";
}

MaybeText cpuSetText(CallView &Call, uint64_t Address, uint64_t Length,
                     Side S) {
  std::optional<std::vector<uint8_t>> Set =
      Call.bytes(Address, std::min<uint64_t>(Length, 1024), S);
  if (!Set)
    return std::nullopt;
  std::string Text;
  for (size_t N = 0; N < Set->size() * 8; ++N)
    if ((*Set)[N / 8] >> (N % 8) & 1)
      Text += (Text.empty() ? "" : " ") + std::to_string(N);
  return "[" + Text + "]";
}

// ---- text ----

MaybeText directoryText(CallView &Call, uint64_t Address) {
  std::optional<std::vector<uint8_t>> Bytes =
      Call.bytes(Address, uint64_t(Call.result()), Side::Out);
  if (!Bytes)
    return std::nullopt;
  // Inode and offset of 8 bytes each, then the length of the entry.
  size_t Entries = 0, At = 0;
  while (At + 18 <= Bytes->size()) {
    uint16_t Length;
    std::memcpy(&Length, Bytes->data() + At + 16, sizeof(Length));
    if (!Length)
      break;
    At += Length;
    ++Entries;
  }
  return pointerText(Address) + formatv(" /* {0} entries */", Entries).str();
}

/// The addresses of a list that a zero ends.
static std::optional<std::vector<uint64_t>> addressList(CallView &Call,
                                                        uint64_t Address) {
  constexpr size_t Most = 100000;
  std::vector<uint64_t> Result;
  while (Result.size() < Most) {
    std::optional<uint64_t> Each =
        Call.value<uint64_t>(Address + Result.size() * 8, Side::In);
    if (!Each)
      return std::nullopt;
    if (!*Each)
      break;
    Result.push_back(*Each);
  }
  return Result;
}

MaybeText textVectorText(CallView &Call, uint64_t Address) {
  std::optional<std::vector<uint64_t>> List = addressList(Call, Address);
  if (!List)
    return std::nullopt;
  return listText(List->size(), [&](uint64_t I) -> MaybeText {
    MaybeText Text = Call.string((*List)[I], Side::In);
    return Text ? quoted(*Text) : pointerText((*List)[I]);
  });
}

MaybeText environmentText(CallView &Call, uint64_t Address) {
  std::optional<std::vector<uint64_t>> List = addressList(Call, Address);
  if (!List)
    return std::nullopt;
  return pointerText(Address) + formatv(" /* {0} var{1} */", List->size(),
                                        List->size() == 1 ? "" : "s")
                                    .str();
}

} // namespace chronicle::systemcalls
