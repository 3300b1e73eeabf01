// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Text in columns.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_TABLE_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_TABLE_H

#include "lldb-plugin/target/Style.h"
#include <initializer_list>
#include <string>
#include <vector>

namespace chronicle::target {

/// Text in columns that are as wide as their widest cell, if they fit.
class Table {
public:
  enum class Role {
    Text,  ///< whatever the program has
    Time,  ///< a timestamp, or "-"
    Place, ///< names of functions, files and lines
  };
  struct Column {
    // NOLINTNEXTLINE(google-explicit-constructor): mostly a name is enough.
    Column(const char *Name, Role What = Role::Text) : Name(Name), What(What) {}
    const char *Name;
    Role What;
  };

  Table(std::initializer_list<Column> Columns) : Columns(Columns) {}
  explicit Table(std::vector<Column> Columns) : Columns(std::move(Columns)) {}
  void add(std::vector<std::string> Row) { Rows.push_back(std::move(Row)); }
  bool empty() const { return Rows.empty(); }
  /// Columns whose cells are all empty are left out. Columns of numbers are
  /// aligned to the right. If the lines are too long for the style, the widest
  /// columns are cut, which "…" shows; of a place, the file and line are kept.
  std::string text(const Style &How = {}) const;

private:
  std::vector<Column> Columns;
  std::vector<std::vector<std::string>> Rows;
};

} // namespace chronicle::target

#endif
