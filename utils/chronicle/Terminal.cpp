// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/Terminal.h"
#include "query/base/WriteAll.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::cli {

void setColors(ColorWhen When) {
  switch (When) {
  case ColorWhen::Auto:
    WithColor::setAutoDetectFunction([](const raw_ostream &Out) {
      const char *NoColor = std::getenv("NO_COLOR");
      return (!NoColor || !*NoColor) && Out.has_colors();
    });
    break;
  case ColorWhen::Always:
    WithColor::setAutoDetectFunction([](const raw_ostream &) { return true; });
    break;
  case ColorWhen::Never:
    WithColor::setAutoDetectFunction([](const raw_ostream &) { return false; });
    break;
  }
}

/// Three significant digits, so that the width of a live line stays the same.
static std::string threeDigits(double Number) {
  if (Number < 9.995)
    return formatv("{0:f2}", Number);
  if (Number < 99.95)
    return formatv("{0:f1}", Number);
  return formatv("{0:f0}", Number);
}

static std::string scaled(double Number, double Step,
                          ArrayRef<const char *> Units) {
  size_t Unit = 0;
  while (Number >= Step * 0.9995 && Unit + 1 < Units.size()) {
    Number /= Step;
    ++Unit;
  }
  std::string Text =
      Unit == 0 ? formatv("{0:f0}", Number).str() : threeDigits(Number);
  if (*Units[Unit])
    Text += ' ';
  return Text + Units[Unit];
}

std::string humanBytes(uint64_t Bytes) {
  return scaled(double(Bytes), 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string humanCount(double Count) {
  return scaled(Count, 1000, {"", "k", "M", "G", "T", "P"});
}

std::string humanDuration(double Seconds) {
  if (Seconds < 59.95)
    return threeDigits(Seconds) + " s";
  uint64_t Whole = uint64_t(std::llround(Seconds));
  if (Whole < 3600)
    return formatv("{0} min {1} s", Whole / 60, Whole % 60);
  return formatv("{0} h {1,0+2} min", Whole / 3600, Whole % 3600 / 60);
}

std::string drawBar(double Fraction, unsigned Width) {
  unsigned Full = unsigned(std::lround(std::clamp(Fraction, 0.0, 1.0) * Width));
  return "[" + std::string(Full, '#') + std::string(Width - Full, '-') + "]";
}

static unsigned terminalColumns() {
  struct winsize Size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &Size) == 0 && Size.ws_col)
    return Size.ws_col;
  return 80;
}

/// Writes at once, so that the program's own output cannot come in between.
/// Ignores a terminal that is gone.
static void writeToTerminal(StringRef Text) {
  (void)base::writeAll(STDERR_FILENO, Text);
}

LiveLine::LiveLine(Placement Where)
    : Where(Where), Enabled(sys::Process::StandardErrIsDisplayed() &&
                            StringRef(getenv("TERM")) != "dumb") {}

void LiveLine::disable() {
  clear();
  std::lock_guard<std::mutex> Lock(Mutex);
  Enabled = false;
}

/// Whether this process is in the foreground and no program uses raw mode.
static bool terminalIsOurs() {
  struct termios Mode;
  return tcgetpgrp(STDERR_FILENO) == getpgrp() &&
         tcgetattr(STDERR_FILENO, &Mode) == 0 &&
         (Mode.c_lflag & (ICANON | ECHO)) == (ICANON | ECHO);
}

void LiveLine::update(StringRef Text) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!Enabled || !terminalIsOurs())
    return;
  // Leaves the last column free, because writing to it wraps on some terminals.
  std::string Cut = Text.take_front(terminalColumns() - 1).str();
  if (Where == OwnLine)
    writeToTerminal("\r" + Cut + "\x1b[K");
  else
    // Moves down and up to make sure that there is a line below. Then saves the
    // cursor, writes one line below and restores the cursor.
    writeToTerminal("\x1b"
                    "D\x1b"
                    "M\x1b"
                    "7\x1b"
                    "D\r" +
                    Cut +
                    "\x1b[K\x1b"
                    "8");
  Shown = true;
}

void LiveLine::clear() {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!Shown)
    return;
  Shown = false;
  if (terminalIsOurs())
    writeToTerminal(Where == OwnLine ? "\r\x1b[K" : "\x1b[J");
}

ProgressBar::ProgressBar(StringRef Label)
    : Label(Label.str()), Start(std::chrono::steady_clock::now()) {}

void ProgressBar::update(uint64_t Done, uint64_t Total, StringRef Note) {
  if (!Line.enabled())
    return;
  auto Now = std::chrono::steady_clock::now();
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Done < Total && Now - Last < std::chrono::milliseconds(100))
      return;
    Last = Now;
  }
  double Fraction = Total ? double(Done) / double(Total) : 1;
  double Seconds = std::chrono::duration<double>(Now - Start).count();
  std::string Text =
      formatv("{0} {1} {2,5:P1}", Label, drawBar(Fraction, 30), Fraction);
  if (!Note.empty())
    Text += "  " + Note.str();
  // An estimate from the first second would be wrong.
  if (Seconds > 1 && Done && Done < Total)
    Text += "  " + humanDuration(Seconds * (1 - Fraction) / Fraction) + " left";
  Line.update(Text);
}

} // namespace chronicle::cli
