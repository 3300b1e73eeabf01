// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the commands show on a terminal: colours, readable numbers, a line that
/// updates itself, and a progress bar. Lines and bars are not shown if standard
/// error is not a terminal.

#ifndef CHRONICLE_UTILS_CHRONICLE_TERMINAL_H
#define CHRONICLE_UTILS_CHRONICLE_TERMINAL_H

#include "trace-format/Text.h"
#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace chronicle::cli {

/// When output is coloured. Auto is on a terminal, unless NO_COLOR is set
/// (https://no-color.org).
enum class ColorWhen { Auto, Always, Never };
/// Sets this for llvm::WithColor, through which all colours go.
void setColors(ColorWhen When);

/// A size with three digits: "512 B", "1.50 KiB", "23.4 MiB", "117 GiB".
std::string humanBytes(uint64_t Bytes);
/// A count with three digits and powers of 1000: "999", "12.3 k", "4.56 M".
std::string humanCount(double Count);
/// A duration: "0.12 s", "45.6 s", "3 min 20 s", "2 h 05 min".
std::string humanDuration(double Seconds);

/// One line on standard error that replaces itself. Shows nothing unless
/// standard error is a terminal, this process is in its foreground, and no
/// program draws its own screen there or reads a password. May be called from
/// several threads; each update is one write.
class LiveLine {
public:
  /// BelowCursor is for a terminal to which another program writes as well. The
  /// cursor does not move, so an unfinished line of that program stays intact.
  enum Placement { OwnLine, BelowCursor };
  explicit LiveLine(Placement Where = OwnLine);
  ~LiveLine() { clear(); }
  LiveLine(const LiveLine &) = delete;
  LiveLine &operator=(const LiveLine &) = delete;

  bool enabled() const { return Enabled; }
  void disable();
  /// Shows Text, cut to the terminal's width.
  void update(llvm::StringRef Text);
  /// Removes the line, so that something else can be printed.
  void clear();

private:
  std::mutex Mutex;
  Placement Where;
  bool Enabled;
  bool Shown = false;
};

/// A progress bar for work whose amount is known. It is redrawn at most ten
/// times per second, so update() may be called for every small step.
class ProgressBar {
public:
  /// Label is shown before the bar: "verify".
  explicit ProgressBar(llvm::StringRef Label);

  bool enabled() const { return Line.enabled(); }
  /// Note is shown after the bar, before the remaining time: a rate, a count.
  void update(uint64_t Done, uint64_t Total, llvm::StringRef Note = "");
  void clear() { Line.clear(); }

private:
  std::string Label;
  LiveLine Line;
  std::chrono::steady_clock::time_point Start, Last;
  std::mutex Mutex;
};

/// Only the bar: "[#####-----]".
std::string drawBar(double Fraction, unsigned Width);

} // namespace chronicle::cli

#endif
