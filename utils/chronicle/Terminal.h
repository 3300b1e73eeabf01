// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the commands show on a terminal: numbers for people, a line that
/// renews itself, a progress bar. Nothing here is printed when standard error
/// is no terminal.

#ifndef CHRONICLE_UTILS_CHRONICLE_TERMINAL_H
#define CHRONICLE_UTILS_CHRONICLE_TERMINAL_H

#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace chronicle {

/// "512 B", "1.50 KiB", "23.4 MiB", "117 GiB": three digits.
std::string humanBytes(uint64_t Bytes);
/// "999", "12.3 k", "4.56 M", "7.89 G": three digits, powers of 1000.
std::string humanCount(double Count);
/// "0.12 s", "45.6 s", "3 min 20 s", "2 h 05 min".
std::string humanDuration(double Seconds);
/// 1234567 as "1,234,567".
std::string groupedDigits(uint64_t Number);

/// One line on standard error that replaces itself. Does nothing unless it is
/// a terminal that we may write to now: in the foreground, and not taken over
/// by a program that draws its own screen or reads a password. Safe to call
/// from several threads; each update is one write.
class LiveLine {
public:
  /// BelowCursor is for a terminal that another program writes to as well: the
  /// cursor stays where it is, and so does an unfinished line of that program.
  enum Placement { OwnLine, BelowCursor };
  explicit LiveLine(Placement Where = OwnLine);
  ~LiveLine() { clear(); }
  LiveLine(const LiveLine &) = delete;
  LiveLine &operator=(const LiveLine &) = delete;

  bool enabled() const { return Enabled; }
  void disable();
  /// Shows Text, cut to the terminal's width.
  void update(llvm::StringRef Text);
  /// Takes the line away again, so that something else can be printed.
  void clear();

private:
  std::mutex Mutex;
  Placement Where;
  bool Enabled;
  bool Shown = false;
};

/// A bar for work whose amount is known, renewed at most ten times a second,
/// so that it may be called for every small step.
class ProgressBar {
public:
  /// Label comes before the bar: "verify".
  explicit ProgressBar(llvm::StringRef Label);

  bool enabled() const { return Line.enabled(); }
  /// Note follows the bar: a rate, a count. The time left is added.
  void update(uint64_t Done, uint64_t Total, llvm::StringRef Note = "");
  void clear() { Line.clear(); }

private:
  std::string Label;
  LiveLine Line;
  std::chrono::steady_clock::time_point Start, Last;
  std::mutex Mutex;
};

/// The bar alone, for tests: "[#####-----]".
std::string drawBar(double Fraction, unsigned Width);

} // namespace chronicle

#endif
