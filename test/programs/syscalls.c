// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes system calls that write the program's memory: on files, directories,
// pipes, vectors, terminals, links and limits. Leaves no files behind.
#define _GNU_SOURCE
#include "Check.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>

static char Buffer[100000];

static void files(void) {
  char Name[] = "/tmp/chronicle-syscalls-XXXXXX";
  int File = mkstemp(Name);
  CHECK(File >= 0);
  for (size_t I = 0; I < sizeof(Buffer); ++I)
    Buffer[I] = (char)nextRandom();
  CHECK(write(File, Buffer, sizeof(Buffer)) == sizeof(Buffer));
  hashBytes(Buffer, sizeof(Buffer));
  uint64_t Written = Hash;
  memset(Buffer, 0, sizeof(Buffer));
  CHECK(lseek(File, 0, SEEK_SET) == 0);
  size_t Got = 0;
  // Makes small and large reads to odd addresses.
  while (Got < 3000)
    Got += (size_t)read(File, Buffer + Got, 7);
  while (Got < sizeof(Buffer))
    Got += (size_t)read(File, Buffer + Got, sizeof(Buffer) - Got);
  Hash = 0xcbf29ce484222325u;
  hashBytes(Buffer, sizeof(Buffer));
  CHECK(Hash == Written);
  char First[13], Second[4000], Third[1];
  struct iovec Vector[] = {
      {First, sizeof(First)}, {Second, sizeof(Second)}, {Third, 1}};
  CHECK(preadv(File, Vector, 3, 500) == 4014);
  CHECK(!memcmp(First, Buffer + 500, 13) &&
        !memcmp(Second, Buffer + 513, 4000) && Third[0] == Buffer[4513]);
  CHECK(pread(File, First, 5, 99) == 5 && !memcmp(First, Buffer + 99, 5));
  CHECK(pwrite(File, "hello", 5, 10) == 5);
  CHECK(lseek(File, 0, SEEK_SET) == 0 && readv(File, Vector, 2) == 4013);
  CHECK(!memcmp(First + 10, "hel", 3));
  // A read to an unmapped address fails.
  void *volatile Nowhere = (void *)8;
  CHECK(read(File, Nowhere, 10) == -1 && errno == EFAULT);
  struct stat Stat;
  CHECK(fstat(File, &Stat) == 0 && Stat.st_size == sizeof(Buffer));
  CHECK(stat(Name, &Stat) == 0 && (Stat.st_mode & 0777) == 0600);
  struct statx Statx;
  CHECK(statx(AT_FDCWD, Name, 0, STATX_SIZE, &Statx) == 0 &&
        Statx.stx_size == sizeof(Buffer));
  struct statfs Fs;
  CHECK(fstatfs(File, &Fs) == 0);
  CHECK(ftruncate(File, 10) == 0 && fstat(File, &Stat) == 0 &&
        Stat.st_size == 10);
  char Link[64], Target[64];
  snprintf(Link, sizeof(Link), "%s.link", Name);
  CHECK(symlink("nowhere", Link) == 0 &&
        readlink(Link, Target, sizeof(Target)) == 7);
  CHECK(!memcmp(Target, "nowhere", 7));
  CHECK(unlink(Link) == 0 && unlink(Name) == 0 && access(Name, F_OK) == -1);
  close(File);
}

static void directories(void) {
  char Name[] = "/tmp/chronicle-directory-XXXXXX", Entry[100], Where[4096];
  CHECK(mkdtemp(Name));
  for (int I = 0; I < 40; ++I) {
    snprintf(Entry, sizeof(Entry), "%s/file-%d", Name, I);
    close(open(Entry, O_CREAT | O_WRONLY, 0600));
  }
  DIR *Directory = opendir(Name);
  int Count = 0;
  for (struct dirent *D; (D = readdir(Directory));)
    Count += D->d_name[0] == 'f';
  closedir(Directory);
  CHECK(Count == 40);
  int Old = open(".", O_RDONLY | O_DIRECTORY);
  CHECK(chdir(Name) == 0 && getcwd(Where, sizeof(Where)) &&
        !strcmp(Where, Name));
  for (int I = 0; I < 40; ++I) {
    snprintf(Entry, sizeof(Entry), "file-%d", I);
    CHECK(unlink(Entry) == 0);
  }
  CHECK(fchdir(Old) == 0 && rmdir(Name) == 0);
  close(Old);
}

static void pipes(void) {
  int Pipe[2], Waiting;
  CHECK(pipe2(Pipe, O_CLOEXEC) == 0);
  CHECK(write(Pipe[1], "0123456789", 10) == 10);
  CHECK(ioctl(Pipe[0], FIONREAD, &Waiting) == 0 && Waiting == 10);
  struct pollfd Poll = {Pipe[0], POLLIN, 0};
  CHECK(poll(&Poll, 1, 0) == 1 && Poll.revents == POLLIN);
  fd_set Set;
  FD_ZERO(&Set);
  FD_SET(Pipe[0], &Set);
  struct timeval None = {0, 0};
  CHECK(select(Pipe[0] + 1, &Set, NULL, NULL, &None) == 1);
  char In[10];
  CHECK(read(Pipe[0], In, 10) == 10 && !memcmp(In, "0123456789", 10));
  int Dup = dup2(Pipe[0], 50);
  CHECK(Dup == 50 && fcntl(Dup, F_GETFL) == O_RDONLY &&
        fcntl(Pipe[0], F_GETFD) == FD_CLOEXEC);
  close(Dup), close(Pipe[0]), close(Pipe[1]);
  struct winsize Window;
  CHECK(ioctl(open("/dev/null", O_RDONLY), TIOCGWINSZ, &Window) == -1 &&
        errno == ENOTTY);
}

static void facts(void) {
  struct utsname Name;
  struct rusage Usage;
  struct rlimit Limit;
  struct sysinfo System;
  struct tms Times;
  cpu_set_t Cpus;
  gid_t Groups[64];
  CHECK(uname(&Name) == 0 && !strcmp(Name.sysname, "Linux"));
  CHECK(getrusage(RUSAGE_SELF, &Usage) == 0 &&
        getrlimit(RLIMIT_DATA, &Limit) == 0);
  CHECK(sysinfo(&System) == 0 && times(&Times) != -1);
  CHECK(sched_getaffinity(0, sizeof(Cpus), &Cpus) == 0 &&
        getgroups(64, Groups) >= 0);
  char Link[4096];
  CHECK(readlink("/proc/self/exe", Link, sizeof(Link)) > 0);
  int Self = open("/proc/self/status", O_RDONLY);
  CHECK(read(Self, Buffer, sizeof(Buffer)) > 100);
  close(Self);
  CHECK(syscall(99999) == -1 && errno == ENOSYS);
}

int main(void) {
  files();
  directories();
  pipes();
  facts();
  printf("system calls done\n");
  return 0;
}
