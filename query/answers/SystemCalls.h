// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Names of the kernel's numbers (system calls, errors, signals) and what the
/// arguments of system calls are.

#ifndef CHRONICLE_QUERY_ANSWERS_SYSTEMCALLS_H
#define CHRONICLE_QUERY_ANSWERS_SYSTEMCALLS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace chronicle::answers {

/// What an argument of a system call is, which says how to show it. "In" is
/// read by the kernel, "Out" written. A buffer or a list has its length in the
/// next argument. The names of constants are in
/// query/systemcalls/ConstantNames.cpp.
enum class ArgumentKind : uint8_t {
  // clang-format off
  Raw, Int, UInt, Long, Size, HexOffset, Pointer, Fd, DirFd, Signal, IpcKey,
  // Text and bytes.
  Path, Text, TextVector, Environment, InBuffer, OutBuffer, HexBuffer, OutPath,
  VectorIn, VectorOut, Entries, NamesOut,
  // Numbers in memory.
  IntOut, FdPair, OffsetInOut, LengthInOut,
  // Files.
  OpenFlags, OpenMode, Mode, ModeType, AccessMode, AccessFlags, AtFlags,
  UnlinkFlags, RenameFlags, Whence, StatOut, StatxFlags, StatxMask, StatxOut,
  LockOperation, FallocateFlags, FileAdvice, FcntlCommand, FcntlArgument,
  IoctlCommand, IoctlArgument, SpliceFlags, DescriptorFlags, CloseRangeFlags,
  MemFdFlags, InotifyFlags, EventFdFlags,
  // Memory.
  Protection, MapFlags, RemapFlags, RemapAddress, SyncFlags, Advice,
  LockAllFlags, IpcFlags, ShmFlags, IpcCommand, RandomFlags,
  // Time.
  TimeIn, TimeOut, TimeLeft, TimePair, TimeValIn, TimeValOut, IntervalIn,
  IntervalOut, TimerIn, TimerOut, TimerKind, TimerFlags, TimerFdFlags,
  TimerFdTimeFlags, Clock,
  // Waiting.
  PollList, FdSet, EpollIn, EpollOut, EpollOperation, EpollFlags,
  FutexOperation, FutexValue, FutexTimeout, FutexSecond, FutexThird,
  // Signals.
  SignalHow, SignalSetIn, SignalSetOut, SigActionIn, SigActionOut, AltStackIn,
  AltStackOut, SignalFdFlags,
  // Processes.
  CloneStack, CloneFlags, CloneParent, CloneTls, CloneChild, WaitStatus,
  WaitOptions, WaitKind, UsageWho, UsageOut, Resource, LimitIn, LimitOut,
  PriorityWhich, PrctlOption, PrctlArgument, PrctlMore,
  ArchPrctl, CpuSetIn, CpuSetOut,
  // Sockets.
  AddressFamily, SocketType, SocketProtocol, SocketFlags, AddressIn, AddressOut,
  MessageFlags, MessageIn, MessageOut, ShutdownHow, SocketLevel, SocketOption,
  OptionIn, OptionOut,
  // clang-format on
};

/// "write"; empty: a number that this version does not know.
llvm::StringRef systemCallName(uint32_t Number);
/// What each argument is. Of a system call that this version does not know: six
/// plain numbers.
llvm::ArrayRef<ArgumentKind> systemCallArguments(uint32_t Number);
std::optional<uint32_t> systemCallNumber(llvm::StringRef Name);

/// "ENOENT" for a result of -2; empty: no error.
llvm::StringRef systemCallError(int64_t Result);

/// "SIGSEGV", "SIGRTMIN+3".
std::string signalName(uint32_t Number);

} // namespace chronicle::answers

#endif
