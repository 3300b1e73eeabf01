// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How answers are shown: the width of lines, colours, names.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_STYLE_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_STYLE_H

#include "lldb/API/LLDB.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace chronicle::target {

/// How answers are shown, which depends on where they go.
struct Style {
  unsigned Width = 0;     ///< of the terminal; 0: lines may have any length
  bool Colour = false;    ///< as the setting use-color says
  bool FullNames = false; ///< with all template arguments

  /// What the debugger's output is: a terminal with a width, or not.
  static Style of(lldb::SBDebugger Debugger);

  /// A C++ name: std::vector<int> instead of std::vector<int,
  /// std::allocator<int>>, unless FullNames.
  std::string name(llvm::StringRef Name) const;
  /// A timestamp, coloured as LLDB colours addresses.
  std::string time(llvm::StringRef Text) const;
  std::string time(uint64_t Time) const;
  /// "function at file:line <- function at file:line": files and lines are
  /// coloured as in LLDB's frames.
  std::string place(llvm::StringRef Text) const;
  /// What a stop is about, coloured as LLDB colours stop reasons.
  std::string reason(llvm::StringRef Text) const;
};

} // namespace chronicle::target

#endif
