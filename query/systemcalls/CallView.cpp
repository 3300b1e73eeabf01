// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/systemcalls/CallView.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::systemcalls {

/// How much of text and lists is shown, as by strace.
static constexpr size_t MostShown = 32;

std::optional<std::vector<uint8_t>> CallView::bytes(uint64_t Address,
                                                    uint64_t Length, Side S) {
  if (Failure || (S == Side::Out && !Call.Returned) || !Call.Entered)
    return std::nullopt;
  if (!Length)
    return std::vector<uint8_t>();
  // The entry's time is that of the next instruction, and memory at that time
  // may have the kernel's bytes already.
  Timestamp At =
      S == Side::Out ? *Call.Returned : *Call.Entered - (*Call.Entered > 0);
  Expected<answers::MemoryContents> M = T.memory(Address, Length, At);
  if (!M) {
    Failure.emplace(M.takeError());
    return std::nullopt;
  }
  uint64_t Mapped = 0;
  for (const auto &[First, Last] : M->Mapped)
    Mapped += Last - First;
  if (Mapped != Length)
    return std::nullopt;
  return std::move(M->Bytes);
}

std::optional<std::string> CallView::string(uint64_t Address, Side S) {
  constexpr uint64_t Page = 4096, Longest = 4096;
  std::string Text;
  while (Text.size() < Longest) {
    // The page after the text may not be mapped.
    std::optional<std::vector<uint8_t>> Some =
        bytes(Address + Text.size(), Page - (Address + Text.size()) % Page, S);
    if (!Some)
      return std::nullopt;
    StringRef Part = toStringRef(*Some);
    Text += Part.take_until([](char C) { return !C; });
    if (Part.contains('\0'))
      return Text;
  }
  return Text;
}

Error CallView::takeError() {
  if (!Failure)
    return Error::success();
  Error E = std::move(*Failure);
  Failure.reset();
  return E;
}

std::string pointerText(uint64_t Address) {
  return Address ? formatv("{0:x}", Address).str() : "NULL";
}

/// A byte as C writes it in a string; Next is the byte that follows.
static std::string escapedByte(uint8_t C, char Next) {
  switch (C) {
  case '"':
    return "\\\"";
  case '\\':
    return "\\\\";
  case '\n':
    return "\\n";
  case '\t':
    return "\\t";
  case '\r':
    return "\\r";
  case '\v':
    return "\\v";
  case '\f':
    return "\\f";
  }
  if (isPrint(char(C)))
    return std::string(1, char(C));
  std::string Octal;
  for (unsigned Rest = C; Rest || Octal.empty(); Rest >>= 3)
    Octal.insert(Octal.begin(), char('0' + (Rest & 7)));
  // Before a digit all three are needed.
  if (isDigit(Next))
    Octal.insert(0, 3 - Octal.size(), '0');
  return "\\" + Octal;
}

std::string quoted(StringRef Bytes, bool Whole) {
  StringRef Shown = Whole ? Bytes : Bytes.take_front(MostShown);
  std::string Text = "\"";
  for (size_t I = 0; I < Shown.size(); ++I)
    Text += escapedByte(uint8_t(Shown[I]),
                        I + 1 < Shown.size() ? Shown[I + 1] : '\0');
  return Text + "\"" + (Shown.size() < Bytes.size() ? "..." : "");
}

std::string listText(uint64_t Count,
                     function_ref<std::optional<std::string>(uint64_t)> Text) {
  std::string Result = "[";
  for (uint64_t I = 0; I < Count; ++I) {
    Result += I ? ", " : "";
    if (I == MostShown)
      return Result + "...]";
    std::optional<std::string> Each = Text(I);
    if (!Each)
      return Result + "...]";
    Result += *Each;
  }
  return Result + "]";
}

} // namespace chronicle::systemcalls
