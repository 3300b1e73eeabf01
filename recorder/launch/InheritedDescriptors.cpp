// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/InheritedDescriptors.h"
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace chronicle::launch {

InheritedDescriptors::InheritedDescriptors() {
  DIR *Directory = opendir("/proc/self/fd");
  if (!Directory)
    return;
  while (const dirent *Entry = readdir(Directory)) {
    char *End;
    const int Number = int(strtol(Entry->d_name, &End, 10));
    if (End != Entry->d_name && !*End && Number != dirfd(Directory) &&
        Number != STDERR_FILENO)
      Descriptors.push_back(Number);
  }
  closedir(Directory);
}

void InheritedDescriptors::release() const {
  const int Nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int Number : Descriptors)
    if (Number > STDERR_FILENO)
      close(Number);
    else if (Nothing >= 0)
      dup2(Nothing, Number);
  if (Nothing >= 0)
    close(Nothing);
}

} // namespace chronicle::launch
