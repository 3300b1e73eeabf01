// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/systemcalls/ConstantNames.h"
#include "query/systemcalls/StructureText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

using namespace llvm;

namespace chronicle::systemcalls {

// ---- addresses ----

static std::string internetText(const sockaddr_in &A) {
  char Text[INET_ADDRSTRLEN];
  return formatv("sin_port=htons({0}), sin_addr=inet_addr(\"{1}\")",
                 ntohs(A.sin_port),
                 inet_ntop(AF_INET, &A.sin_addr, Text, sizeof(Text)));
}

static std::string internet6Text(const sockaddr_in6 &A) {
  char Text[INET6_ADDRSTRLEN];
  return formatv("sin6_port=htons({0}), sin6_flowinfo=htonl({1}), "
                 "inet_pton(AF_INET6, \"{2}\", &sin6_addr), sin6_scope_id={3}",
                 ntohs(A.sin6_port), ntohl(A.sin6_flowinfo),
                 inet_ntop(AF_INET6, &A.sin6_addr, Text, sizeof(Text)),
                 A.sin6_scope_id);
}

static std::string unixText(StringRef Path) {
  // A name that is not a path begins with a zero byte.
  if (Path.starts_with(StringRef("\0", 1)))
    return "sun_path=@" + quoted(Path.drop_front(), /*Whole=*/true);
  return "sun_path=" +
         quoted(Path.take_until([](char C) { return !C; }), /*Whole=*/true);
}

MaybeText addressText(CallView &Call, uint64_t Address, uint64_t Length,
                      Side S) {
  constexpr uint64_t Most = 128, FamilySize = 2;
  if (Length < FamilySize || Length > Most)
    return std::nullopt;
  std::optional<std::vector<uint8_t>> Bytes = Call.bytes(Address, Length, S);
  if (!Bytes)
    return std::nullopt;
  uint16_t Family;
  std::memcpy(&Family, Bytes->data(), FamilySize);
  const std::string Rest = toStringRef(*Bytes).drop_front(FamilySize).str();
  Bytes->resize(Most);
  auto As = [&]<class Type>(Type Value) {
    std::memcpy(&Value, Bytes->data(), sizeof(Type));
    return Value;
  };
  std::string Text =
      "{sa_family=" +
      *constantArgument(answers::ArgumentKind::AddressFamily, Family);
  if (Family == AF_UNIX)
    return Rest.empty() ? Text + "}" : Text + ", " + unixText(Rest) + "}";
  if (Family == AF_INET && Length >= sizeof(sockaddr_in))
    return Text + ", " + internetText(As(sockaddr_in())) + "}";
  if (Family == AF_INET6 && Length >= sizeof(sockaddr_in6))
    return Text + ", " + internet6Text(As(sockaddr_in6())) + "}";
  if (Family == AF_NETLINK && Length >= sizeof(sockaddr_nl)) {
    auto A = As(sockaddr_nl());
    return Text +
           formatv(", nl_pid={0}, nl_groups={1:x-8}}", A.nl_pid, A.nl_groups)
               .str();
  }
  return Text + ", sa_data=" + quoted(Rest) + "}";
}

// ---- messages ----

MaybeText vectorText(CallView &Call, uint64_t Address, uint64_t Count, Side S,
                     uint64_t Filled) {
  if (Count > 1024 || (Count && !Call.value<iovec>(Address, Side::In)))
    return std::nullopt;
  return listText(Count, [&](uint64_t I) -> MaybeText {
    std::optional<iovec> V =
        Call.value<iovec>(Address + I * sizeof(iovec), Side::In);
    if (!V)
      return std::nullopt;
    uint64_t Base = reinterpret_cast<uint64_t>(V->iov_base);
    uint64_t Length = std::min<uint64_t>(V->iov_len, Filled);
    Filled -= Length;
    std::optional<std::vector<uint8_t>> Bytes = Call.bytes(Base, Length, S);
    return formatv("{{iov_base={0}, iov_len={1}}",
                   Bytes ? quoted(toStringRef(*Bytes)) : pointerText(Base),
                   V->iov_len)
        .str();
  });
}

/// The control messages of a message.
static MaybeText controlText(CallView &Call, uint64_t Address, uint64_t Length,
                             Side S) {
  std::optional<std::vector<uint8_t>> Bytes =
      Call.bytes(Address, std::min<uint64_t>(Length, 4096), S);
  if (!Bytes)
    return std::nullopt;
  std::string Text;
  for (size_t At = 0; At + sizeof(cmsghdr) <= Bytes->size();) {
    cmsghdr H;
    std::memcpy(&H, Bytes->data() + At, sizeof(H));
    if (H.cmsg_len < sizeof(H) || H.cmsg_len > Bytes->size() - At)
      break;
    ArrayRef<uint8_t> Data =
        ArrayRef(*Bytes).slice(At + sizeof(H), H.cmsg_len - sizeof(H));
    bool Rights = H.cmsg_level == SOL_SOCKET && H.cmsg_type == SCM_RIGHTS;
    std::string Shown = quoted(toStringRef(Data));
    if (Rights)
      Shown = listText(Data.size() / sizeof(int), [&](uint64_t I) -> MaybeText {
        int Fd;
        std::memcpy(&Fd, Data.data() + I * sizeof(int), sizeof(int));
        return std::to_string(Fd);
      });
    Text += formatv(
        "{0}{{cmsg_len={1}, cmsg_level={2}, cmsg_type={3}, cmsg_data={4}}",
        Text.empty() ? "" : ", ", H.cmsg_len,
        *constantArgument(answers::ArgumentKind::SocketLevel,
                          uint64_t(H.cmsg_level)),
        Rights ? "SCM_RIGHTS" : formatv("{0:x}", H.cmsg_type).str(), Shown);
    At += (H.cmsg_len + 7) & ~size_t(7);
  }
  return "[" + Text + "]";
}

MaybeText messageText(CallView &Call, uint64_t Address, Side S) {
  std::optional<msghdr> M = Call.value<msghdr>(Address, S);
  std::optional<msghdr> Before = Call.value<msghdr>(Address, Side::In);
  if (!M || !Before)
    return std::nullopt;
  uint64_t Name = reinterpret_cast<uint64_t>(M->msg_name);
  MaybeText NameText = addressText(Call, Name, M->msg_namelen, S);
  std::string Length = std::to_string(M->msg_namelen);
  if (M->msg_namelen != Before->msg_namelen)
    Length = std::to_string(Before->msg_namelen) + " => " + Length;
  uint64_t Filled = S == Side::Out ? uint64_t(Call.result()) : ~uint64_t(0);
  MaybeText Vectors = vectorText(Call, reinterpret_cast<uint64_t>(M->msg_iov),
                                 M->msg_iovlen, S, Filled);
  std::string Text =
      formatv("{{msg_name={0}, msg_namelen={1}, msg_iov={2}, msg_iovlen={3}",
              Name && NameText ? *NameText : pointerText(Name), Length,
              Vectors ? *Vectors : "NULL", M->msg_iovlen);
  if (M->msg_controllen) {
    uint64_t Control = reinterpret_cast<uint64_t>(M->msg_control);
    MaybeText Shown = controlText(Call, Control, M->msg_controllen, S);
    Text += ", msg_control=" + (Shown ? *Shown : pointerText(Control));
  }
  return Text + formatv(", msg_controllen={0}, msg_flags={1}}",
                        M->msg_controllen,
                        messageFlagsText(uint32_t(M->msg_flags)))
                    .str();
}

MaybeText optionText(CallView &Call, uint64_t Address, uint64_t Length,
                     Side S) {
  if (Length == sizeof(int)) {
    std::optional<int> Number = Call.value<int>(Address, S);
    if (!Number)
      return std::nullopt;
    return "[" + std::to_string(*Number) + "]";
  }
  std::optional<std::vector<uint8_t>> Bytes =
      Call.bytes(Address, std::min<uint64_t>(Length, 4096), S);
  if (!Bytes)
    return std::nullopt;
  return quoted(toStringRef(*Bytes));
}

// ---- waiting ----

MaybeText pollText(CallView &Call, uint64_t Address, uint64_t Count, Side S) {
  if (Count && !Call.value<pollfd>(Address, Side::In))
    return std::nullopt;
  if (S == Side::In)
    return listText(Count, [&](uint64_t I) -> MaybeText {
      std::optional<pollfd> P =
          Call.value<pollfd>(Address + I * sizeof(pollfd), Side::In);
      if (!P)
        return std::nullopt;
      if (P->fd < 0)
        return formatv("{{fd={0}}", P->fd).str();
      return formatv("{{fd={0}, events={1}}", P->fd,
                     pollEventsText(uint16_t(P->events)))
          .str();
    });
  std::string Text;
  for (uint64_t I = 0; I < Count; ++I) {
    std::optional<pollfd> P =
        Call.value<pollfd>(Address + I * sizeof(pollfd), Side::Out);
    if (!P)
      return std::nullopt;
    if (P->revents)
      Text += formatv("{0}{{fd={1}, revents={2}}", Text.empty() ? "" : ", ",
                      P->fd, pollEventsText(uint16_t(P->revents)));
  }
  return "[" + Text + "]";
}

MaybeText fdSetText(CallView &Call, uint64_t Address, uint64_t Count, Side S) {
  std::optional<std::vector<uint8_t>> Set =
      Call.bytes(Address, (std::min<uint64_t>(Count, 65536) + 63) / 64 * 8, S);
  if (!Set)
    return std::nullopt;
  std::string Text;
  for (uint64_t N = 0; N < std::min<uint64_t>(Count, 65536); ++N)
    if ((*Set)[N / 8] >> (N % 8) & 1)
      Text += (Text.empty() ? "" : " ") + std::to_string(N);
  return "[" + Text + "]";
}

MaybeText epollText(CallView &Call, uint64_t Address, Side S) {
  std::optional<epoll_event> E = Call.value<epoll_event>(Address, S);
  if (!E)
    return std::nullopt;
  uint64_t Data = E->data.u64;
  return "{events=" + epollEventsText(E->events) +
         ", data={u32=" + std::to_string(uint32_t(Data)) +
         ", u64=" + std::to_string(Data) + "}}";
}

} // namespace chronicle::systemcalls
