// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/TemporaryDirectory.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/Support/Errno.h"
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::launch {

Error checkTemporaryDirectory(StringRef Variable) {
  const std::string Directory = Variable.empty() ? "/tmp" : Variable.str();
  std::string Name = Directory + "/chronicle-XXXXXX";
  int File = ::mkostemp(Name.data(), O_CLOEXEC);
  int Code = errno;
  if (File >= 0) {
    ::unlink(Name.c_str());
    const bool Written = ::write(File, "x", 1) == 1;
    Code = errno;
    ::close(File);
    if (Written)
      return Error::success();
  }
  return launchError(StatusOurFailure,
                     "Valgrind needs a directory for temporary files, and '" +
                         Directory + "' cannot be written to: " +
                         sys::StrError(Code) + "; name another one by TMPDIR");
}

} // namespace chronicle::launch
