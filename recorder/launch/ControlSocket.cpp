// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/ControlSocket.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::launch {

/// Descriptors that one message brings.
constexpr size_t MostDescriptors = 32;

void OwnedDescriptor::reset() {
  if (Number >= 0)
    close(Number);
  Number = -1;
}

static Error requestError(const Twine &Text) {
  return launchError(StatusOurFailure, Text);
}

static bool readAll(int Socket, void *To, size_t Size) {
  auto *At = static_cast<char *>(To);
  while (Size) {
    ssize_t Got = sys::RetryAfterSignal(-1, ::recv, Socket, At, Size, 0);
    if (Got <= 0)
      return false;
    At += Got;
    Size -= Got;
  }
  return true;
}

/// Where a symbolic link of /proc/PID points to, or empty.
static std::string processLink(pid_t Process, StringRef Name) {
  const std::string Link = ("/proc/" + Twine(Process) + "/" + Name).str();
  char Text[PATH_MAX];
  ssize_t Size = readlink(Link.c_str(), Text, sizeof(Text));
  return Size > 0 ? std::string(Text, Size) : "";
}

/// The parent of a process by /proc/PID/stat, or 0.
static pid_t parentOf(pid_t Process) {
  const std::string Path = "/proc/" + std::to_string(Process) + "/stat";
  OwnedDescriptor File(open(Path.c_str(), O_RDONLY | O_CLOEXEC));
  char Text[512];
  ssize_t Size = File.get() < 0 ? 0 : ::read(File.get(), Text, sizeof(Text));
  if (Size <= 0)
    return 0;
  // "number (name) state parent ...", and the name may have parentheses.
  StringRef Rest = StringRef(Text, Size).rsplit(')').second.ltrim();
  pid_t Parent = 0;
  if (Rest.split(' ').second.split(' ').first.getAsInteger(10, Parent))
    return 0;
  return Parent;
}

/// Takes Count strings, each with its final zero, off the front of Text.
static bool takeStrings(StringRef &Text, uint32_t Count,
                        std::vector<std::string> &Strings) {
  for (; Count; --Count) {
    size_t End = Text.find('\0');
    if (End == StringRef::npos)
      return false;
    Strings.push_back(Text.take_front(End).str());
    Text = Text.drop_front(End + 1);
  }
  return true;
}

Expected<ProcessRequest> ProcessRequest::read(OwnedDescriptor Socket) {
  ProcessRequest R;
  R.Socket = std::move(Socket);
  ucred Who = {};
  socklen_t Size = sizeof(Who);
  // The process that made the pair of sockets.
  if (getsockopt(R.Socket.get(), SOL_SOCKET, SO_PEERCRED, &Who, &Size) != 0)
    return requestError("a process has no number");
  R.Process = Who.pid;
  R.Handle = OwnedDescriptor(int(syscall(SYS_pidfd_open, R.Process, 0)));
  ch_control_request Head;
  if (!readAll(R.Socket.get(), &Head, sizeof(Head)))
    return requestError("a process ended before it asked for a recording");
  if (Head.version != CH_CONTROL_VERSION ||
      (Head.kind != CH_CONTROL_EXEC && Head.kind != CH_CONTROL_FORK) ||
      Head.bytes > CH_CONTROL_MOST_BYTES)
    return requestError("a recorder's request is not valid");
  R.Kind = ch_control_kind(Head.kind);
  R.Asker = Head.asker;
  R.Fork = Head.fork;
  R.Auxiliary = Head.auxiliary;
  R.Parent = parentOf(R.Process);
  R.Directory = processLink(R.Process, "cwd");
  if (R.Kind == CH_CONTROL_FORK)
    return R;
  std::string Text(Head.bytes, '\0');
  std::vector<std::string> Path;
  StringRef Rest(Text);
  if (!readAll(R.Socket.get(), Text.data(), Text.size()) ||
      !takeStrings(Rest, 1, Path) ||
      !takeStrings(Rest, Head.arguments, R.Arguments) ||
      !takeStrings(Rest, Head.variables, R.Environment))
    return requestError("a recorder's request is not complete");
  SmallString<128> Absolute(Path[0]);
  if (!Absolute.starts_with("/")) {
    Absolute = R.Directory;
    sys::path::append(Absolute, Path[0]);
  }
  sys::path::remove_dots(Absolute);
  R.Path = std::string(Absolute);
  return R;
}

static bool sendAnswer(int Socket, ch_control_answer Answer,
                       ArrayRef<int> Descriptors) {
  alignas(cmsghdr) char Control[CMSG_SPACE(MostDescriptors * sizeof(int))] = {};
  iovec Data = {&Answer, sizeof(Answer)};
  msghdr Message = {};
  Message.msg_iov = &Data;
  Message.msg_iovlen = 1;
  if (!Descriptors.empty()) {
    Message.msg_control = Control;
    Message.msg_controllen = CMSG_SPACE(Descriptors.size() * sizeof(int));
    cmsghdr *Rights = CMSG_FIRSTHDR(&Message);
    Rights->cmsg_level = SOL_SOCKET;
    Rights->cmsg_type = SCM_RIGHTS;
    Rights->cmsg_len = CMSG_LEN(Descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(Rights), Descriptors.data(),
                Descriptors.size() * sizeof(int));
  }
  return sys::RetryAfterSignal(-1, ::sendmsg, Socket, &Message, MSG_NOSIGNAL) ==
         ssize_t(sizeof(Answer));
}

Error ProcessRequest::grant(uint32_t Number, int Ring, int Log,
                            ArrayRef<int> Translations) const {
  std::vector<int> Descriptors{Ring, Log};
  Translations = Translations.take_front(MostDescriptors - Descriptors.size());
  Descriptors.insert(Descriptors.end(), Translations.begin(),
                     Translations.end());
  if (!sendAnswer(Socket.get(), {Number, uint32_t(Translations.size())},
                  Descriptors))
    return requestError("a process ended before it could be recorded");
  return Error::success();
}

void ProcessRequest::refuse() const { sendAnswer(Socket.get(), {0, 0}, {}); }

bool ProcessRequest::fulfilled() const {
  char Byte;
  return sys::RetryAfterSignal(-1, ::recv, Socket.get(), &Byte, 1, 0) <= 0;
}

Expected<std::unique_ptr<ControlSocket>> ControlSocket::create() {
  int Sockets[2], Pipe[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, Sockets) != 0)
    return launchErrorFromErrno(StatusOurFailure,
                                "cannot create a pair of sockets");
  std::unique_ptr<ControlSocket> C(new ControlSocket);
  C->Ours = OwnedDescriptor(Sockets[0]);
  C->Theirs = OwnedDescriptor(Sockets[1]);
  if (pipe2(Pipe, O_CLOEXEC) != 0)
    return launchErrorFromErrno(StatusOurFailure, "cannot create a pipe");
  C->LifelineRead = OwnedDescriptor(Pipe[0]);
  C->LifelineWrite = OwnedDescriptor(Pipe[1]);
  return C;
}

void ControlSocket::releaseRecordersEnds() {
  Theirs.reset();
  LifelineRead.reset();
}

std::optional<OwnedDescriptor> ControlSocket::next() const {
  for (;;) {
    alignas(cmsghdr) char Control[CMSG_SPACE(sizeof(int))];
    char Byte;
    iovec Data = {&Byte, 1};
    msghdr Message = {};
    Message.msg_iov = &Data;
    Message.msg_iovlen = 1;
    Message.msg_control = Control;
    Message.msg_controllen = sizeof(Control);
    ssize_t Size = sys::RetryAfterSignal(-1, ::recvmsg, Ours.get(), &Message,
                                         MSG_CMSG_CLOEXEC);
    if (Size <= 0)
      return std::nullopt;
    const cmsghdr *Rights = CMSG_FIRSTHDR(&Message);
    // Without numbers for descriptors the process waits in vain, unless its
    // socket is closed, which the kernel has done.
    if (!Rights || Rights->cmsg_type != SCM_RIGHTS ||
        Rights->cmsg_len != CMSG_LEN(sizeof(int)))
      continue;
    int Socket;
    std::memcpy(&Socket, CMSG_DATA(Rights), sizeof(Socket));
    return OwnedDescriptor(Socket);
  }
}

} // namespace chronicle::launch
