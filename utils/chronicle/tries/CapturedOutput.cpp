// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/tries/CapturedOutput.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/MemoryBuffer.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace chronicle::tries {

static Error outputError(const Twine &What) {
  return launch::launchErrorFromErrno(launch::StatusOurFailure, What);
}

/// Opens a new file without a name, or returns -1.
static int openUnnamed(StringRef Directory) {
  const std::string Folder = Directory.empty() ? "." : Directory.str();
  const int Flags = O_RDWR | O_CLOEXEC | O_APPEND;
  int File = open(Folder.c_str(), O_TMPFILE | Flags, 0600);
  if (File >= 0)
    return File;
  // Not every file system has unnamed files.
  std::string Name = Folder + "/chronicle-output-XXXXXX";
  File = mkostemp(Name.data(), O_CLOEXEC | O_APPEND);
  if (File >= 0)
    unlink(Name.c_str());
  return File;
}

Expected<CapturedOutput> CapturedOutput::create(StringRef Directory) {
  struct stat Out = {}, Err = {};
  const bool Same = fstat(STDOUT_FILENO, &Out) == 0 &&
                    fstat(STDERR_FILENO, &Err) == 0 &&
                    Out.st_dev == Err.st_dev && Out.st_ino == Err.st_ino;
  CapturedOutput Result(openUnnamed(Directory), -1);
  Result.Errors = Same ? Result.Output : openUnnamed(Directory);
  if (Result.Output < 0 || Result.Errors < 0)
    return outputError("cannot create a file for the program's output");
  return Result;
}

CapturedOutput::CapturedOutput(CapturedOutput &&Other)
    : Output(std::exchange(Other.Output, -1)),
      Errors(std::exchange(Other.Errors, -1)) {}

CapturedOutput &CapturedOutput::operator=(CapturedOutput &&Other) {
  std::swap(Output, Other.Output);
  std::swap(Errors, Other.Errors);
  return *this;
}

void CapturedOutput::close() {
  if (Errors >= 0 && Errors != Output)
    ::close(Errors);
  if (Output >= 0)
    ::close(Output);
}

CapturedOutput::~CapturedOutput() { close(); }

void CapturedOutput::install() const {
  dup2(Output, STDOUT_FILENO);
  dup2(Errors, STDERR_FILENO);
}

static Expected<std::unique_ptr<MemoryBuffer>> contents(int File) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer = MemoryBuffer::getOpenFile(
      File, "output", /*FileSize=*/-1, /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return launch::launchError(launch::StatusOurFailure,
                               "cannot read the program's output: " +
                                   Buffer.getError().message());
  return std::move(*Buffer);
}

Expected<bool> CapturedOutput::contains(StringRef Text) const {
  for (int File : {Output, Errors}) {
    Expected<std::unique_ptr<MemoryBuffer>> Buffer = contents(File);
    if (!Buffer)
      return Buffer.takeError();
    if ((*Buffer)->getBuffer().contains(Text))
      return true;
    if (Output == Errors)
      break;
  }
  return false;
}

static Error copyAll(int From, int To) {
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = contents(From);
  if (!Buffer)
    return Buffer.takeError();
  StringRef Rest = (*Buffer)->getBuffer();
  while (!Rest.empty()) {
    const ssize_t Written =
        sys::RetryAfterSignal(-1, ::write, To, Rest.data(), Rest.size());
    if (Written < 0)
      return outputError("cannot print the program's output");
    Rest = Rest.drop_front(size_t(Written));
  }
  return Error::success();
}

Error CapturedOutput::print() const {
  if (Error E = copyAll(Output, STDOUT_FILENO))
    return E;
  return Output == Errors ? Error::success() : copyAll(Errors, STDERR_FILENO);
}

} // namespace chronicle::tries
