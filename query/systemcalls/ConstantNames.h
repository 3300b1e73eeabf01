// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The names of the constants that arguments of system calls are made of.

#ifndef CHRONICLE_QUERY_SYSTEMCALLS_CONSTANTNAMES_H
#define CHRONICLE_QUERY_SYSTEMCALLS_CONSTANTNAMES_H

#include "query/answers/SystemCalls.h"

namespace chronicle::systemcalls {

struct Constant {
  uint64_t Value;
  const char *Name;
};

/// "A|B|0x80": the names of the bits, and the bits without a name. What says
/// which constants are meant if none has a name: "0x80 /* MAP_??? */".
std::string flagsText(uint64_t Value, llvm::ArrayRef<Constant> Names,
                      llvm::StringRef What);
/// The name of one constant, or "0x80 /* SEEK_??? */".
std::string constantText(uint64_t Value, llvm::ArrayRef<Constant> Names,
                         llvm::StringRef What);

/// The argument's text, if its kind stands for named constants alone.
std::optional<std::string> constantArgument(answers::ArgumentKind Kind,
                                            uint64_t Value);

/// "S_IFREG|0644".
std::string modeText(uint32_t Mode);
/// "0644".
std::string permissionText(uint32_t Mode);
std::string openFlagsText(uint32_t Flags);
/// "SIGRT_3": strace counts real-time signals from the kernel's first one.
std::string signalText(uint32_t Number);
std::string pollEventsText(uint32_t Events);
std::string epollEventsText(uint32_t Events);
std::string signalActionFlagsText(uint64_t Flags);
std::string cloneFlagsText(uint64_t Flags);
std::string descriptorFlagText(uint64_t Flags); ///< of F_SETFD
std::string messageFlagsText(uint64_t Flags);
/// The name of a socket option, which depends on its level.
std::string socketOptionText(uint64_t Level, uint64_t Option);
/// The protocol's name in its address family; nothing: a plain number.
std::optional<std::string> protocolText(uint64_t Family, uint64_t Protocol);
/// Of ioctl: "TCGETS".
std::string ioctlText(uint64_t Command);

} // namespace chronicle::systemcalls

#endif
