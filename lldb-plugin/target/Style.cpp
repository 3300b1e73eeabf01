// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/Style.h"
#include "query/symbols/ShortName.h"
#include "trace-format/Text.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace chronicle::target {

// As in LLDB's settings frame-format and thread-stop-format.
static constexpr StringRef Cyan = "\x1b[36m", Yellow = "\x1b[33m",
                           Red = "\x1b[31m", Normal = "\x1b[0m";

Style Style::of(lldb::SBDebugger Debugger) {
  Style Result;
  // LLDB 22 does not look at NO_COLOR (https://no-color.org).
  Result.Colour =
      Debugger.GetUseColor() && StringRef(getenv("NO_COLOR")).empty();
  FILE *Output = Debugger.GetOutputFileHandle();
  if (Output && isatty(fileno(Output)))
    Result.Width = Debugger.GetTerminalWidth();
  return Result;
}

std::string Style::name(StringRef Name) const {
  return FullNames ? Name.str() : symbols::shortName(Name);
}

static std::string coloured(StringRef Text, StringRef Colour) {
  return (Colour + Text + Normal).str();
}

std::string Style::time(StringRef Text) const {
  return Colour ? coloured(Text, Cyan) : Text.str();
}
std::string Style::time(uint64_t Time) const {
  return time(groupedDigits(Time));
}

std::string Style::reason(StringRef Text) const {
  return Colour ? coloured(Text, Red) : Text.str();
}

std::string Style::place(StringRef Text) const {
  if (!Colour)
    return Text.str();
  std::string Result;
  constexpr StringRef At = " at ";
  for (size_t Found; (Found = Text.find(At)) != StringRef::npos;) {
    Result += Text.take_front(Found + At.size());
    Text = Text.drop_front(Found + At.size());
    StringRef File =
        Text.take_until([](char C) { return C == ':' || C == ' '; });
    StringRef Line = Text.drop_front(File.size());
    if (!Line.consume_front(":") || !isDigit(Line.empty() ? 0 : Line.front()))
      continue;
    Line = Line.take_while(isDigit);
    Result += coloured(File, Cyan) + ":" + coloured(Line, Yellow);
    Text = Text.drop_front(File.size() + 1 + Line.size());
  }
  return Result + Text.str();
}

} // namespace chronicle::target
