// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/MomentText.h"
#include "query/answers/RunEnd.h"
#include "trace-format/Text.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::query {

std::optional<uint64_t> parseNumber(StringRef Text) {
  uint64_t Number;
  if (Text.consume_front_insensitive("0x"))
    return Text.getAsInteger(16, Number) ? std::nullopt : std::optional(Number);
  std::string Digits;
  SmallVector<StringRef, 8> Groups;
  Text.split(Groups, ',');
  for (StringRef Group : Groups) {
    const bool First = Digits.empty();
    const bool Whole =
        First ? Groups.size() == 1 || Group.size() <= 3 : Group.size() == 3;
    if (Group.empty() || !Whole || !all_of(Group, isDigit))
      return std::nullopt;
    Digits += Group;
  }
  if (StringRef(Digits).getAsInteger(10, Number))
    return std::nullopt;
  return Number;
}

/// So many percent of a number, rounded down; Percent is a text like "99.8".
/// Nothing: it is not such a text, or more than 100.
static std::optional<uint64_t> shareOf(uint64_t Whole, StringRef Percent) {
  auto [Integer, Fraction] = Percent.split('.');
  const std::string Digits = (Integer + Fraction).str();
  constexpr size_t MostDigits = 18; // so that All fits
  uint64_t Parts;
  if (Integer.empty() || Digits.size() > MostDigits ||
      !all_of(Digits, isDigit) || StringRef(Digits).getAsInteger(10, Parts))
    return std::nullopt;
  uint64_t All = 100;
  for (size_t I = 0; I < Fraction.size(); ++I)
    All *= 10;
  if (Parts > All)
    return std::nullopt;
  return uint64_t(__uint128_t(Whole) * Parts / All);
}

static Expected<std::optional<Timestamp>> crashOf(const Trace &T) {
  const answers::RunEnd How = answers::RunEnd::of(T.reader().end());
  if (!How.signal())
    return createStringError("the program did not crash, it " + How.text() +
                             ": say 'end'");
  return T.instructions();
}

Expected<std::optional<Timestamp>> parseMoment(const Trace &T, StringRef Text,
                                               std::optional<Timestamp> Now) {
  const Timestamp End = T.instructions();
  if (Text == "start")
    return Timestamp(0);
  if (Text == "end")
    return End;
  if (Text == "crash")
    return crashOf(T);
  if (Text.ends_with("%"))
    return shareOf(End, Text.drop_back());
  if (Now && (Text.starts_with("+") || Text.starts_with("-"))) {
    std::optional<uint64_t> Distance = parseNumber(Text.drop_front());
    if (!Distance)
      return std::nullopt;
    if (Text.front() == '+')
      return *Distance > End - *Now ? End : *Now + *Distance;
    return *Distance > *Now ? 0 : *Now - *Distance;
  }
  std::optional<uint64_t> Time = parseNumber(Text);
  if (Time && *Time > End)
    return createStringError(formatv("the run ends at {0}; there is no moment "
                                     "{1}",
                                     groupedDigits(End), groupedDigits(*Time)));
  return Time;
}

Error invalidMoment(StringRef Text, StringRef More) {
  return createStringError(formatv(
      "invalid moment '{0}': expected a timestamp (1,234,567), a percentage of "
      "the run (99.8%), start, end{1}",
      Text, More.empty() ? " or crash" : (", crash, " + More).str()));
}

} // namespace chronicle::query
