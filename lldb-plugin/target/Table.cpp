// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Locale.h"

using namespace llvm;

namespace chronicle::target {

static unsigned widthOf(StringRef Text) {
  int Width = sys::locale::columnWidth(Text);
  return Width < 0 ? Text.size() : Width;
}

std::string Table::text() const {
  struct Column {
    unsigned Width = 0;
    bool Empty = true, Numbers = true;
  };
  std::vector<Column> Columns(Rows.front().size());
  for (const std::vector<std::string> &Row : Rows)
    for (size_t I = 0; I < Row.size(); ++I) {
      Columns[I].Width = std::max(Columns[I].Width, widthOf(Row[I]));
      if (&Row == &Rows.front() || Row[I].empty())
        continue;
      Columns[I].Empty = false;
      Columns[I].Numbers &= all_of(Row[I], isDigit);
    }
  std::string Text;
  for (const std::vector<std::string> &Row : Rows) {
    std::string Line;
    for (size_t I = 0; I < Row.size(); ++I) {
      if (Columns[I].Empty)
        continue;
      std::string Space(Columns[I].Width - widthOf(Row[I]), ' ');
      Line += Columns[I].Numbers ? Space + Row[I] : Row[I] + Space;
      Line += "  ";
    }
    Text += StringRef(Line).rtrim().str() + '\n';
  }
  return Text;
}

} // namespace chronicle::target
