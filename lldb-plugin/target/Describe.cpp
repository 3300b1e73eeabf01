// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/Describe.h"
#include "query/json/JsonAnswers.h"
#include "trace-format/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::target {

std::string sourceOf(const questions::Place &Place) {
  if (!Place.Symbol)
    return "";
  const symbols::SourceFrame &Frame = Place.Symbol->Frames.front();
  if (!Frame.File.empty())
    return formatv("at {0}:{1}", sys::path::filename(Frame.File), Frame.Line);
  return formatv("in {0}",
                 sys::path::filename(Place.Symbol->Module->Info.Path));
}

std::string placeOf(const questions::Place &Place, const Style &How) {
  if (!Place.Symbol)
    return "";
  std::string Text = How.name(Place.Symbol->Frames.front().Function);
  std::string Source = sourceOf(Place);
  return Text + (Text.empty() || Source.empty() ? "" : " ") + Source;
}

std::string placeOf(const questions::Place &Place,
                    const std::optional<questions::Place> &Caller,
                    const Style &How) {
  std::string Text = placeOf(Place, How);
  if (!Caller)
    return Text;
  if (Text.empty())
    Text = jsonapi::hexNumber(Place.Pc);
  std::string Who = placeOf(*Caller, How);
  return Text + " <- " + (Who.empty() ? jsonapi::hexNumber(Caller->Pc) : Who);
}

std::string escapedText(StringRef Text) {
  std::string Result;
  raw_string_ostream Out(Result);
  Out.write_escaped(shownText(Text));
  return Result;
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

} // namespace chronicle::target
