// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses socket pairs with vectors and ancillary data, a TCP connection to
// itself, epoll, eventfd, timerfd, signalfd and splice.
#define _GNU_SOURCE
#include "Check.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

static void pairs(void) {
  int Pair[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, Pair) == 0);
  char One[] = "one", Two[] = "two", Control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec Out[] = {{One, 3}, {Two, 3}};
  struct msghdr Message = {.msg_iov = Out,
                           .msg_iovlen = 2,
                           .msg_control = Control,
                           .msg_controllen = sizeof(Control)};
  struct cmsghdr *Rights = CMSG_FIRSTHDR(&Message);
  Rights->cmsg_level = SOL_SOCKET;
  Rights->cmsg_type = SCM_RIGHTS;
  Rights->cmsg_len = CMSG_LEN(sizeof(int));
  int Null = open("/dev/null", O_RDWR);
  memcpy(CMSG_DATA(Rights), &Null, sizeof(int));
  CHECK(sendmsg(Pair[0], &Message, 0) == 6);
  char First[2], Rest[10], Received[CMSG_SPACE(sizeof(int))];
  struct iovec In[] = {{First, 2}, {Rest, 10}};
  struct msghdr Answer = {.msg_iov = In,
                          .msg_iovlen = 2,
                          .msg_control = Received,
                          .msg_controllen = sizeof(Received)};
  CHECK(recvmsg(Pair[1], &Answer, 0) == 6);
  CHECK(!memcmp(First, "on", 2) && !memcmp(Rest, "etwo", 4));
  int Passed;
  memcpy(&Passed, CMSG_DATA(CMSG_FIRSTHDR(&Answer)), sizeof(int));
  CHECK(write(Passed, "x", 1) == 1);
  close(Null), close(Passed), close(Pair[0]), close(Pair[1]);

  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, Pair) == 0);
  struct mmsghdr Many[3] = {0};
  struct iovec Parts[3];
  char Texts[3][8] = {"first", "second", "third"};
  for (int I = 0; I < 3; ++I) {
    Parts[I] = (struct iovec){Texts[I], strlen(Texts[I])};
    Many[I].msg_hdr.msg_iov = &Parts[I];
    Many[I].msg_hdr.msg_iovlen = 1;
  }
  CHECK(sendmmsg(Pair[0], Many, 3, 0) == 3);
  memset(Texts, 0, sizeof(Texts));
  for (int I = 0; I < 3; ++I)
    Parts[I].iov_len = 8;
  CHECK(recvmmsg(Pair[1], Many, 3, 0, NULL) == 3);
  CHECK(Many[1].msg_len == 6 && !strcmp(Texts[1], "second") &&
        !strcmp(Texts[2], "third"));
  close(Pair[0]), close(Pair[1]);
}

static void *client(void *Argument) {
  struct sockaddr_in Address = *(struct sockaddr_in *)Argument;
  int Socket = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(Socket, (struct sockaddr *)&Address, sizeof(Address)) == 0);
  char Data[1000];
  for (int I = 0; I < 50; ++I) {
    memset(Data, I, sizeof(Data));
    CHECK(send(Socket, Data, sizeof(Data), 0) == sizeof(Data));
  }
  shutdown(Socket, SHUT_WR);
  CHECK(recv(Socket, Data, 3, MSG_WAITALL) == 3 && !memcmp(Data, "bye", 3));
  close(Socket);
  return NULL;
}

static void network(void) {
  int Listener = socket(AF_INET, SOCK_STREAM, 0), One = 1;
  CHECK(setsockopt(Listener, SOL_SOCKET, SO_REUSEADDR, &One, sizeof(One)) == 0);
  struct sockaddr_in Address = {.sin_family = AF_INET,
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t Length = sizeof(Address);
  CHECK(bind(Listener, (struct sockaddr *)&Address, Length) == 0 &&
        listen(Listener, 1) == 0);
  CHECK(getsockname(Listener, (struct sockaddr *)&Address, &Length) == 0);
  pthread_t Thread;
  CHECK(pthread_create(&Thread, NULL, client, &Address) == 0);
  struct sockaddr_in Peer;
  Length = sizeof(Peer);
  int Socket = accept(Listener, (struct sockaddr *)&Peer, &Length);
  CHECK(Socket >= 0 && Peer.sin_family == AF_INET);
  int Epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event Event = {.events = EPOLLIN, .data.u64 = 0x1234567890};
  CHECK(epoll_ctl(Epoll, EPOLL_CTL_ADD, Socket, &Event) == 0);
  size_t Total = 0;
  for (;;) {
    struct epoll_event Ready[4];
    CHECK(epoll_wait(Epoll, Ready, 4, -1) == 1 &&
          Ready[0].data.u64 == 0x1234567890);
    char Data[700];
    ssize_t Got = recv(Socket, Data, sizeof(Data), 0);
    CHECK(Got >= 0);
    if (Got == 0)
      break;
    for (ssize_t I = 0; I < Got; ++I)
      CHECK(Data[I] == (char)((Total + (size_t)I) / 1000));
    Total += (size_t)Got;
  }
  CHECK(Total == 50000 && send(Socket, "bye", 3, 0) == 3);
  pthread_join(Thread, NULL);
  int Error;
  Length = sizeof(Error);
  CHECK(getsockopt(Socket, SOL_SOCKET, SO_ERROR, &Error, &Length) == 0);
  close(Socket), close(Listener), close(Epoll);
}

static void events(void) {
  int Event = eventfd(3, 0);
  uint64_t Value = 4;
  CHECK(write(Event, &Value, 8) == 8 && read(Event, &Value, 8) == 8 &&
        Value == 7);
  int Timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec Soon = {{0, 0}, {0, 1000000}};
  CHECK(timerfd_settime(Timer, 0, &Soon, NULL) == 0);
  CHECK(read(Timer, &Value, 8) == 8 && Value == 1);
  sigset_t Set;
  sigemptyset(&Set);
  sigaddset(&Set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &Set, NULL);
  int Signals = signalfd(-1, &Set, 0);
  raise(SIGUSR1);
  struct signalfd_siginfo Info;
  CHECK(read(Signals, &Info, sizeof(Info)) == sizeof(Info) &&
        Info.ssi_signo == SIGUSR1);
  int Pipe[2], Other[2];
  CHECK(pipe(Pipe) == 0 && pipe(Other) == 0);
  CHECK(write(Pipe[1], "spliced", 7) == 7);
  CHECK(splice(Pipe[0], NULL, Other[1], NULL, 7, 0) == 7);
  char Text[8] = {0};
  CHECK(read(Other[0], Text, 7) == 7 && !strcmp(Text, "spliced"));
}

int main(void) {
  pairs();
  network();
  events();
  printf("sockets done\n");
  return 0;
}
