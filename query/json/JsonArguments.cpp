// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/json/JsonArguments.h"
#include "query/MomentText.h"
#include "query/base/UnknownName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle::jsonapi {

void JsonArguments::fail(Error E) {
  if (failed())
    consumeError(std::move(E)); // only the first mistake is reported
  else
    Mistake.emplace(std::move(E));
}

const json::Value *JsonArguments::get(StringRef Key) {
  if (!is_contained(Known, Key))
    Known.push_back(Key);
  return Request.get(Key);
}

const json::Value *JsonArguments::require(StringRef Key) {
  const json::Value *V = get(Key);
  if (!V)
    fail("missing-argument", "missing argument '" + Key + "'");
  return V;
}

uint64_t JsonArguments::toNumber(StringRef Key, const json::Value &V) {
  if (std::optional<uint64_t> N = V.getAsUINT64())
    return *N;
  std::optional<StringRef> Text = V.getAsString();
  uint64_t N;
  if (Text && !Text->empty() && isDigit(Text->front())) {
    bool Hexadecimal = Text->starts_with_insensitive("0x");
    if (!Text->drop_front(Hexadecimal ? 2 : 0)
             .getAsInteger(Hexadecimal ? 16 : 10, N))
      return N;
  }
  fail("bad-argument", "'" + Key +
                           "' must be a number from 0 to 2^64 - 1, or a string "
                           "like \"0x1000\"");
  return 0;
}

uint64_t JsonArguments::number(StringRef Key) {
  const json::Value *V = require(Key);
  return V ? toNumber(Key, *V) : 0;
}

uint64_t JsonArguments::number(StringRef Key, uint64_t Default) {
  const json::Value *V = get(Key);
  return V ? toNumber(Key, *V) : Default;
}

uint64_t JsonArguments::number(StringRef Key, uint64_t Default, uint64_t Low,
                               uint64_t High) {
  uint64_t N = number(Key, Default);
  if (!failed() && (N < Low || N > High)) {
    fail("bad-argument", "'" + Key + "' must be from " + Twine(Low) + " to " +
                             Twine(High) + ", not " + Twine(N));
    return Default;
  }
  return N;
}

bool JsonArguments::flag(StringRef Key, bool Default) {
  const json::Value *V = get(Key);
  if (!V)
    return Default;
  std::optional<bool> Flag = V->getAsBoolean();
  if (!Flag)
    fail("bad-argument", "'" + Key + "' must be true or false");
  return Flag.value_or(Default);
}

std::string JsonArguments::text(StringRef Key) {
  const json::Value *V = require(Key);
  if (!V)
    return "";
  std::optional<StringRef> Text = V->getAsString();
  if (!Text || Text->empty())
    fail("bad-argument", "'" + Key + "' must be a non-empty string");
  return Text.value_or("").str();
}

std::string JsonArguments::text(StringRef Key, StringRef Default) {
  return get(Key) ? text(Key) : Default.str();
}

std::vector<std::string> JsonArguments::texts(StringRef Key) {
  std::vector<std::string> Result;
  const json::Value *V = get(Key);
  if (!V)
    return Result;
  if (std::optional<StringRef> One = V->getAsString()) {
    Result.push_back(One->str());
    return Result;
  }
  const json::Array *Several = V->getAsArray();
  bool Good = Several != nullptr;
  if (Several)
    for (const json::Value &Item : *Several) {
      std::optional<StringRef> Text = Item.getAsString();
      Good = Good && Text;
      Result.push_back(Text.value_or("").str());
    }
  if (!Good)
    fail("bad-argument", "'" + Key + "' must be a string or a list of strings");
  return Result;
}

Timestamp JsonArguments::toTime(StringRef Key, const json::Value &V) {
  const std::optional<StringRef> Text = V.getAsString();
  const std::optional<uint64_t> Number =
      Text ? query::parseNumber(*Text) : std::nullopt;
  if (Text && !Number) {
    Expected<std::optional<Timestamp>> Moment = query::parseMoment(T, *Text);
    if (!Moment)
      fail("not-found", "'" + Key + "': " + toString(Moment.takeError()));
    else if (!*Moment)
      fail("bad-argument",
           "'" + Key + "': " + toString(query::invalidMoment(*Text)));
    else
      return **Moment;
    return 0;
  }
  const Timestamp Time = Number ? *Number : toNumber(Key, V);
  if (!failed() && Time > T.instructions()) {
    fail("out-of-range", "'" + Key + "' is " + Twine(Time) +
                             ", but the run ends at " +
                             Twine(T.instructions()));
    return 0;
  }
  return Time;
}

Timestamp JsonArguments::time(StringRef Key) {
  const json::Value *V = require(Key);
  return V ? toTime(Key, *V) : 0;
}

Timestamp JsonArguments::time(StringRef Key, Timestamp Default) {
  const json::Value *V = get(Key);
  return V ? toTime(Key, *V) : Default;
}

answers::TimeRange JsonArguments::times() {
  answers::TimeRange When;
  When.First = time("from", 0);
  When.Last = time("to", T.instructions());
  if (!failed() && When.First > When.Last)
    fail("bad-argument", "'from' is after 'to'");
  return When;
}

Error JsonArguments::finish() {
  if (!failed())
    for (const auto &[Key, Value] : Request) {
      StringRef Name = Key;
      if (is_contained(Known, Name))
        continue;
      fail("unknown-argument",
           base::unknownName("argument", Name, ArrayRef(Known).drop_front(2)));
      break;
    }
  if (!Mistake)
    return Error::success();
  Error Result = std::move(*Mistake);
  Mistake.reset();
  return Result;
}

} // namespace chronicle::jsonapi
