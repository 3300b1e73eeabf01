// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/Describe.h"
#include "query/JsonAnswers.h"
#include "query/SystemCalls.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Locale.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle {

std::string sourceOf(const json::Value *Symbol) {
  const json::Object *O = Symbol ? Symbol->getAsObject() : nullptr;
  if (!O)
    return "";
  if (std::optional<StringRef> File = O->getString("file"))
    return formatv("at {0}:{1}", sys::path::filename(*File),
                   O->getInteger("line").value_or(0));
  if (std::optional<StringRef> Module = O->getString("module"))
    return formatv("in {0}", sys::path::filename(*Module));
  return "";
}

std::string placeOf(const json::Value *Symbol) {
  const json::Object *O = Symbol ? Symbol->getAsObject() : nullptr;
  if (!O)
    return "";
  std::string Text = O->getString("function").value_or("").str();
  std::string Source = sourceOf(Symbol);
  return Text + (Text.empty() || Source.empty() ? "" : " ") + Source;
}

std::string placeOf(const Trace &T, uint64_t Pc, Timestamp Time) {
  json::Value Symbol = jsonSymbol(T, Pc, Time);
  return placeOf(&Symbol);
}

std::string systemCallText(const json::Object &Call) {
  std::string Text = Call.getString("name").value_or("").str() + "(";
  if (const json::Array *Arguments = Call.getArray("arguments")) {
    size_t Count = std::min<size_t>(
        Arguments->size(),
        systemCallArguments(uint32_t(Call.getInteger("number").value_or(-1))));
    for (size_t I = 0; I < Count; ++I)
      Text +=
          (I ? ", " : "") + (*Arguments)[I].getAsString().value_or("").str();
  }
  Text += ")";
  if (std::optional<int64_t> Result = Call.getInteger("result")) {
    if (std::optional<StringRef> Error = Call.getString("error"))
      return Text + " = " + Error->str();
    // Addresses are easier to recognise so.
    return Text + " = " +
           (*Result > 0xffffff ? hexNumber(*Result) : std::to_string(*Result));
  }
  return Text;
}

bool diedOfSignal(const TraceReader &Reader) {
  const json::Object *End = Reader.end();
  StringRef Reason = End ? End->getString("reason").value_or("") : "";
  return (Reason == "signal" || Reason == "killed") &&
         End->getInteger("code").value_or(0);
}

std::string endText(const TraceReader &Reader) {
  const json::Object *End = Reader.end();
  if (!End)
    return "is not known: the recording was interrupted";
  std::string Reason = End->getString("reason").value_or("unknown").str();
  int64_t Code = End->getInteger("code").value_or(0);
  if (Reason == "exit")
    return formatv("exited with status {0}", Code);
  if (diedOfSignal(Reader))
    return "died of " + signalName(uint32_t(Code));
  return Reason;
}

std::string valueText(ArrayRef<uint8_t> Bytes) {
  switch (Bytes.size()) {
  case 1:
    return formatv("{0:x} ({0})", unsigned(Bytes[0]));
  case 2:
    return formatv("{0:x} ({0})", support::endian::read16le(Bytes.data()));
  case 4:
    return formatv("{0:x} ({1})", support::endian::read32le(Bytes.data()),
                   int32_t(support::endian::read32le(Bytes.data())));
  case 8:
    return formatv("{0:x} ({1})", support::endian::read64le(Bytes.data()),
                   int64_t(support::endian::read64le(Bytes.data())));
  default:
    return toHex(Bytes.take_front(32), /*LowerCase=*/true) +
           (Bytes.size() > 32 ? "..." : "");
  }
}

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

} // namespace chronicle
