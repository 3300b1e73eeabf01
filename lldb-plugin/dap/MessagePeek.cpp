// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/dap/MessagePeek.h"
#include "trace-format/UntrustedJson.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle::dap {

namespace {

/// Scans JSON without building values. Costs about 1 ns per byte.
class Scanner {
public:
  explicit Scanner(StringRef Text) : At(Text.begin()), End(Text.end()) {}

  bool take(char C) {
    skipSpace();
    if (At == End || *At != C)
      return false;
    ++At;
    return true;
  }

  /// A string without its quotes; escapes are not decoded.
  std::optional<StringRef> string() {
    if (!take('"'))
      return std::nullopt;
    const char *Start = At;
    for (; At != End; ++At) {
      if (*At == '"')
        return StringRef(Start, At++ - Start);
      if (*At == '\\' && ++At == End)
        break;
    }
    return std::nullopt;
  }

  /// The text of any value.
  std::optional<StringRef> value() {
    skipSpace();
    const char *Start = At;
    if (At == End)
      return std::nullopt;
    if (*At == '"') {
      if (!string())
        return std::nullopt;
    } else if (*At == '{' || *At == '[') {
      if (!nested())
        return std::nullopt;
    } else {
      while (At != End && !StringRef(",}] \t\r\n").contains(*At))
        ++At;
    }
    return StringRef(Start, At - Start);
  }

  bool atEnd() {
    skipSpace();
    return At == End;
  }

private:
  /// An object or array. Only brackets outside of strings are looked at.
  bool nested() {
    size_t Depth = 0;
    while (At != End) {
      char C = *At;
      if (C == '"') {
        if (!string())
          return false;
        continue;
      }
      ++At;
      if ((C == '{' || C == '[') && ++Depth >= MaxJsonDepth)
        return false;
      if ((C == '}' || C == ']') && --Depth == 0)
        return true;
    }
    return false;
  }

  void skipSpace() {
    while (At != End &&
           (*At == ' ' || *At == '\n' || *At == '\r' || *At == '\t'))
      ++At;
  }

  const char *At, *End;
};

} // namespace

std::optional<MessagePeek> MessagePeek::at(StringRef Body) {
  MessagePeek Result;
  Scanner Scan(Body);
  // Parts of it become parts of answers, which must be UTF-8.
  if (!json::isUTF8(Body))
    return std::nullopt;
  if (!Scan.take('{'))
    return std::nullopt;
  do {
    std::optional<StringRef> Key = Scan.string();
    if (!Key || !Scan.take(':'))
      return std::nullopt;
    std::optional<StringRef> Value = Scan.value();
    if (!Value)
      return std::nullopt;
    StringRef Bare = *Value;
    if (Bare.consume_front("\""))
      Bare.consume_back("\"");
    int64_t Number;
    if (*Key == "type") {
      Result.Type = Bare;
    } else if (*Key == "command") {
      Result.Command = Bare;
    } else if (*Key == "event") {
      Result.Event = Bare;
    } else if (*Key == "seq" && to_integer(*Value, Number, 10)) {
      Result.Seq = Number;
      Result.SeqText = *Value;
    } else if (*Key == "request_seq" && to_integer(*Value, Number, 10)) {
      Result.RequestSeq = Number;
      Result.RequestSeqText = *Value;
    }
  } while (Scan.take(','));
  if (!Scan.take('}') || !Scan.atEnd() || Result.Type.empty())
    return std::nullopt;
  return Result;
}

} // namespace chronicle::dap
