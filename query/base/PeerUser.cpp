// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/base/PeerUser.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include <arpa/inet.h>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::base {

/// As the kernel's tables spell addresses: 32-bit words of the machine's byte
/// order in hexadecimal, a colon, the port.
static std::string spelled(const void *Address, size_t Bytes, in_port_t Port) {
  std::string Text;
  for (size_t At = 0; At < Bytes; At += 4) {
    uint32_t Word;
    std::memcpy(&Word, static_cast<const char *>(Address) + At, 4);
    Text += utohexstr(Word, /*LowerCase=*/false, /*Width=*/8);
  }
  return Text + ":" + utohexstr(ntohs(Port), /*LowerCase=*/false, 4);
}

static std::string spelled(const sockaddr_storage &Address) {
  if (Address.ss_family == AF_INET) {
    const auto &A = reinterpret_cast<const sockaddr_in &>(Address);
    return spelled(&A.sin_addr, sizeof(A.sin_addr), A.sin_port);
  }
  const auto &A = reinterpret_cast<const sockaddr_in6 &>(Address);
  return spelled(&A.sin6_addr, sizeof(A.sin6_addr), A.sin6_port);
}

static bool isLoopback(const sockaddr_storage &Address) {
  if (Address.ss_family == AF_INET) {
    const auto &A = reinterpret_cast<const sockaddr_in &>(Address);
    return ntohl(A.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  if (Address.ss_family != AF_INET6)
    return false;
  const auto &A = reinterpret_cast<const sockaddr_in6 &>(Address);
  return IN6_IS_ADDR_LOOPBACK(&A.sin6_addr);
}

/// The user of the socket with these two ends. None if there is no such socket,
/// or its program has closed it: then it belongs to nobody any more.
static std::optional<unsigned> userOf(const char *Table, StringRef Local,
                                      StringRef Remote) {
  constexpr unsigned LocalField = 1, RemoteField = 2, StateField = 3,
                     UserField = 7;
  constexpr StringLiteral Established = "01";
  std::ifstream File(Table);
  for (std::string Line; std::getline(File, Line);) {
    SmallVector<StringRef, 16> Fields;
    StringRef(Line).trim().split(Fields, ' ', -1, /*KeepEmpty=*/false);
    unsigned User;
    if (Fields.size() > UserField && Fields[LocalField] == Local &&
        Fields[RemoteField] == Remote && Fields[StateField] == Established &&
        !Fields[UserField].getAsInteger(10, User))
      return User;
  }
  return std::nullopt;
}

Error checkPeerUser(int Connection) {
  sockaddr_storage Here = {}, There = {};
  socklen_t HereSize = sizeof(Here), ThereSize = sizeof(There);
  if (getsockname(Connection, reinterpret_cast<sockaddr *>(&Here), &HereSize) ||
      getpeername(Connection, reinterpret_cast<sockaddr *>(&There), &ThereSize))
    return createStringError("a connection was closed at once");
  if (!isLoopback(There))
    return Error::success();
  std::optional<unsigned> User =
      userOf(There.ss_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6",
             spelled(There), spelled(Here));
  if (User == geteuid())
    return Error::success();
  if (User)
    return createStringError(
        formatv("refused a connection of user {0}: only user {1} may connect",
                *User, geteuid()));
  return createStringError("refused a connection: the kernel does not say "
                           "which user it comes from");
}

} // namespace chronicle::base
