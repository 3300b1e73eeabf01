// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Text in columns.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_TABLE_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_TABLE_H

#include <string>
#include <vector>

namespace chronicle::target {

/// Text in columns that are as wide as their widest cell.
class Table {
public:
  explicit Table(std::vector<std::string> Head) : Rows{std::move(Head)} {}
  void add(std::vector<std::string> Row) { Rows.push_back(std::move(Row)); }
  bool empty() const { return Rows.size() == 1; }
  /// Columns whose cells are all empty are left out. Columns of numbers are
  /// aligned to the right.
  std::string text() const;

private:
  std::vector<std::vector<std::string>> Rows;
};

} // namespace chronicle::target

#endif
