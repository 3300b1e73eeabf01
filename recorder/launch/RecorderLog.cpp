// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/RecorderLog.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace chronicle::launch {

Expected<RecorderLog> RecorderLog::create() {
  RecorderLog Log;
  Log.Descriptor = memfd_create("chronicle-log", MFD_CLOEXEC);
  if (Log.Descriptor < 0)
    return launchErrorFromErrno(StatusOurFailure,
                                "cannot create a file for the recorder's log");
  return Log;
}

RecorderLog::RecorderLog(RecorderLog &&Other)
    : Descriptor(std::exchange(Other.Descriptor, -1)) {}

RecorderLog::~RecorderLog() {
  if (Descriptor >= 0)
    close(Descriptor);
}

std::vector<std::string> RecorderLog::messages() const {
  std::string Text;
  char Buffer[4096];
  // Reading must not move the file position, which the recorder shares.
  while (true) {
    ssize_t Size = pread(Descriptor, Buffer, sizeof(Buffer), Text.size());
    if (Size <= 0)
      break;
    Text.append(Buffer, Size);
  }
  return logMessages(Text);
}

/// Drops "==123== ", "--123-- " and "**123** ".
static StringRef withoutPrefix(StringRef Line) {
  for (StringRef Mark : {"==", "--", "**"}) {
    StringRef Rest = Line;
    if (!Rest.consume_front(Mark))
      continue;
    StringRef Number = Rest.take_while([](char C) { return isDigit(C); });
    Rest = Rest.drop_front(Number.size());
    if (!Number.empty() && Rest.consume_front(Mark))
      return Rest.trim();
  }
  return Line.trim();
}

std::vector<std::string> logMessages(StringRef Log) {
  std::vector<std::string> Messages;
  SmallVector<StringRef, 16> Lines;
  Log.split(Lines, '\n');
  for (StringRef Line : Lines) {
    Line = withoutPrefix(Line);
    Line.consume_front("valgrind: ");
    if (!Line.empty())
      Messages.push_back(Line.str());
  }
  return Messages;
}

std::string fatalMessage(ArrayRef<std::string> Messages) {
  if (Messages.empty())
    return "";
  // What Valgrind cannot do is followed by advice and the program's stack.
  auto Missing = find(Messages, "the following unimplemented functionality:");
  if (Missing != Messages.end() && Missing + 1 != Messages.end())
    return Missing[1];
  // Valgrind prints one or two lines, and then its own stack. A failure of its
  // memory management has no stack.
  auto Stack = find(Messages, "host stacktrace:");
  auto OutOfMemory = find_if(Messages, [](StringRef Message) {
    return Message.contains("out of memory");
  });
  if (Stack == Messages.begin() || Stack == Messages.end()) {
    if (OutOfMemory == Messages.end())
      return Messages.back();
    bool More = OutOfMemory + 1 != Messages.end();
    return *OutOfMemory + (More ? " " + OutOfMemory[1] : "");
  }
  auto Last = Stack - 1;
  bool HasTitle =
      Last != Messages.begin() && StringRef(Last[-1]).ends_with(":");
  return (HasTitle ? Last[-1] + " " : "") + *Last;
}

bool reportsFailure(ArrayRef<std::string> Messages) {
  return any_of(Messages, [](StringRef Message) {
    return Message == "host stacktrace:" ||
           Message == "the following unimplemented functionality:" ||
           Message.contains("out of memory");
  });
}

} // namespace chronicle::launch
