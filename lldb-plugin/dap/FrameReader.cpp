// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/dap/FrameReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::dap {

/// Enough for any header. A longer one means that the stream is something else.
static constexpr size_t MaxHeader = 4096;
/// A message longer than this is a mistake.
static constexpr uint64_t MaxBody = 256 << 20;

char *FrameReader::room(size_t Size) {
  // Removes frames that were returned when that is cheap: when nothing else is
  // in the buffer, or when they are half of it. Also frees the memory of a huge
  // message.
  if (Taken == Filled && Buffer.size() > 16 * Size)
    std::string().swap(Buffer);
  if (Taken && (Taken == Filled || Taken > Buffer.size() / 2)) {
    Buffer.erase(0, std::min(Taken, Buffer.size()));
    Filled -= Taken;
    BodyAt -= BodyAt ? Taken : 0;
    FrameEnd -= FrameEnd ? Taken : 0;
    Taken = 0;
  }
  // Memory is taken for bytes that have arrived, not for those that a header
  // promises.
  if (Buffer.size() < Filled + Size)
    Buffer.resize(std::max(Filled + Size, std::min(FrameEnd, 2 * Filled)));
  return Buffer.data() + Filled;
}

static Expected<uint64_t> bodyLength(StringRef Headers) {
  std::optional<uint64_t> Length;
  while (!Headers.empty()) {
    auto [Line, Rest] = Headers.split("\r\n");
    Headers = Rest;
    auto [Name, Value] = Line.split(':');
    uint64_t Number;
    // Content-Type is the only other one. A web page can make a browser send a
    // message here, but only behind a line and headers of HTTP.
    if (Name.trim().equals_insensitive("Content-Type"))
      continue;
    if (!Name.trim().equals_insensitive("Content-Length"))
      return createStringError(
          formatv("unexpected header '{0}'", Line.take_front(80)));
    if (Value.trim().getAsInteger(10, Number) || Number > MaxBody)
      return createStringError(
          formatv("invalid header '{0}'", Line.take_front(80)));
    Length = Number;
  }
  if (!Length)
    return createStringError("a message has no Content-Length");
  return *Length;
}

Expected<std::optional<Frame>> FrameReader::next() {
  StringRef Left = StringRef(Buffer).slice(Taken, Filled);
  if (!FrameEnd) {
    size_t End = Left.take_front(MaxHeader).find("\r\n\r\n");
    if (End == StringRef::npos) {
      if (Left.size() < MaxHeader)
        return std::nullopt;
      return createStringError("a message has no header");
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
