// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Locale.h"

using namespace llvm;

namespace chronicle::target {

static constexpr StringRef Gap = "  ", Ellipsis = "…";
/// A column is not cut to less than this.
static constexpr unsigned LeastWidth = 12;

static unsigned widthOf(StringRef Text) {
  int Width = sys::locale::columnWidth(Text);
  return Width < 0 ? Text.size() : Width;
}

/// The longest start of the text that is not wider.
static StringRef startOf(StringRef Text, unsigned Width) {
  size_t Length = 0;
  while (Length < Text.size()) {
    size_t Next = Length + 1;
    while (Next < Text.size() && (uint8_t(Text[Next]) & 0xc0) == 0x80)
      ++Next; // the other bytes of the same character
    if (widthOf(Text.take_front(Next)) > Width)
      break;
    Length = Next;
  }
  return Text.take_front(Length);
}

/// Cuts a cell. Of a place, cuts the name of the function.
static std::string cut(StringRef Text, unsigned Width, Table::Role What) {
  if (widthOf(Text) <= Width)
    return Text.str();
  StringRef Kept;
  if (What == Table::Role::Place) {
    StringRef Source = Text.substr(std::min(Text.rfind(" at "), Text.size()));
    if (widthOf(Source) + LeastWidth / 2 <= Width)
      Kept = Source;
  }
  return (startOf(Text, Width - widthOf(Kept) - 1) + Ellipsis + Kept).str();
}

/// A number, or "-" where there is none.
static bool isNumber(StringRef Cell) {
  Cell.consume_front("-");
  return all_of(Cell, [](char C) { return isDigit(C) || C == ','; });
}

namespace {
struct Layout {
  unsigned Width = 0;
  bool Empty = true, Numbers = true;
};
} // namespace

/// Makes the widest columns narrower until a line fits into the width.
static void fit(MutableArrayRef<Layout> Columns, unsigned Width) {
  while (true) {
    unsigned Total = 0;
    Layout *Widest = nullptr;
    for (Layout &Each : Columns) {
      if (Each.Empty)
        continue;
      Total += Each.Width + (Total ? Gap.size() : 0);
      if (!Each.Numbers && (!Widest || Each.Width > Widest->Width))
        Widest = &Each;
    }
    if (Total <= Width || !Widest || Widest->Width <= LeastWidth)
      return;
    // Down to the next widest one, so that columns share what is left.
    unsigned Next = LeastWidth;
    for (const Layout &Each : Columns)
      if (!Each.Empty && !Each.Numbers && Each.Width < Widest->Width)
        Next = std::max(Next, Each.Width);
    const unsigned Excess = Total - Width;
    Widest->Width -= std::min(Excess, std::max(1u, Widest->Width - Next));
  }
}

std::string Table::text(const Style &How) const {
  std::vector<Layout> Layouts(Columns.size());
  for (size_t I = 0; I < Columns.size(); ++I)
    Layouts[I].Width = widthOf(Columns[I].Name);
  for (const std::vector<std::string> &Row : Rows) {
    for (size_t I = 0; I < Row.size(); ++I) {
      Layouts[I].Width = std::max(Layouts[I].Width, widthOf(Row[I]));
      Layouts[I].Empty &= Row[I].empty();
      Layouts[I].Numbers &= isNumber(Row[I]);
    }
  }
  if (How.Width)
    fit(Layouts, How.Width);
  std::string Text, Line;
  auto addCell = [&](size_t I, StringRef Plain, const std::string &Shown) {
    if (Layouts[I].Empty)
      return;
    const std::string Space(Layouts[I].Width - widthOf(Plain), ' ');
    Line += Layouts[I].Numbers ? Space + Shown : Shown + Space;
    Line += Gap;
  };
  auto endLine = [&] {
    Text += StringRef(Line).rtrim().str() + '\n';
    Line.clear();
  };
  for (size_t I = 0; I < Columns.size(); ++I)
    addCell(I, Columns[I].Name, Columns[I].Name);
  endLine();
  for (const std::vector<std::string> &Row : Rows) {
    for (size_t I = 0; I < Row.size(); ++I) {
      std::string Plain = cut(Row[I], Layouts[I].Width, Columns[I].What);
      addCell(I, Plain,
              Columns[I].What == Role::Time    ? How.time(Plain)
              : Columns[I].What == Role::Place ? How.place(Plain)
                                               : Plain);
    }
    endLine();
  }
  return Text;
}

} // namespace chronicle::target
