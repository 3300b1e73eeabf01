// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/dap/Frame.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::dap {

/// Enough for any header, so that a stream of something else is noticed.
static constexpr size_t MaxHeader = 4096;
/// More than this is a mistake, not a message.
static constexpr uint64_t MaxBody = uint64_t(4) << 30;

char *FrameReader::room(size_t Size) {
  // What was taken goes when that is cheap: now and then, or when all was. A
  // huge message's memory does not stay.
  if (Taken == Filled && Buffer.size() > 16 * Size)
    std::string().swap(Buffer);
  if (Taken && (Taken == Filled || Taken > Buffer.size() / 2)) {
    Buffer.erase(0, std::min(Taken, Buffer.size()));
    Filled -= Taken;
    BodyAt -= BodyAt ? Taken : 0;
    FrameEnd -= FrameEnd ? Taken : 0;
    Taken = 0;
  }
  if (Buffer.size() < Filled + Size)
    Buffer.resize(std::max(Filled + Size, FrameEnd));
  return Buffer.data() + Filled;
}

static Expected<uint64_t> bodyLength(StringRef Headers) {
  std::optional<uint64_t> Length;
  while (!Headers.empty()) {
    auto [Line, Rest] = Headers.split("\r\n");
    Headers = Rest;
    auto [Name, Value] = Line.split(':');
    uint64_t Number;
    if (!Name.trim().equals_insensitive("Content-Length"))
      continue;
    if (Value.trim().getAsInteger(10, Number) || Number > MaxBody)
      return createStringError(
          formatv("'{0}' is no length of a message", Line.take_front(80)));
    Length = Number;
  }
  if (!Length)
    return createStringError("a message came without Content-Length");
  return *Length;
}

Expected<std::optional<Frame>> FrameReader::next() {
  StringRef Left = StringRef(Buffer).slice(Taken, Filled);
  if (!FrameEnd) {
    size_t End = Left.take_front(MaxHeader).find("\r\n\r\n");
    if (End == StringRef::npos) {
      if (Left.size() < MaxHeader)
        return std::nullopt;
      return createStringError("no header of a message came");
    }
    Expected<uint64_t> Length = bodyLength(Left.take_front(End));
    if (!Length)
      return Length.takeError();
    BodyAt = Taken + End + 4;
    FrameEnd = BodyAt + *Length;
  }
  if (Filled < FrameEnd)
    return std::nullopt;
  StringRef All = Buffer;
  Frame Result{All.slice(Taken, FrameEnd), All.slice(BodyAt, FrameEnd)};
  Taken = FrameEnd;
  BodyAt = FrameEnd = 0;
  return Result;
}

namespace {

/// Goes over JSON without building anything, about a nanosecond a byte.
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

  /// A string without its quotes, escapes as they stand.
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

  /// Any value, as it stands.
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
  /// An object or array: only brackets count, and those in strings do not.
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
      if (C == '{' || C == '[')
        ++Depth;
      else if ((C == '}' || C == ']') && --Depth == 0)
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

std::optional<Peek> Peek::at(StringRef Body) {
  Peek Result;
  Scanner Scan(Body);
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

static void appendHeader(std::string &Out, size_t Length) {
  Out += "Content-Length: ";
  Out += std::to_string(Length);
  Out += "\r\n\r\n";
}

void appendFrame(std::string &Out, json::Value Message) {
  std::string Body = formatv("{0}", Message);
  appendHeader(Out, Body.size());
  Out += Body;
}

void appendRenumbered(std::string &Out, StringRef Body, StringRef Digits,
                      int64_t Number) {
  size_t At = Digits.data() - Body.data();
  std::string Text = std::to_string(Number);
  appendHeader(Out, Body.size() - Digits.size() + Text.size());
  Out += Body.take_front(At);
  Out += Text;
  Out += Body.drop_front(At + Digits.size());
}

} // namespace chronicle::dap
