// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/WriteQuestions.h"
#include <utility>

using namespace llvm;

namespace chronicle::questions {

// ---- string instructions ----

namespace {
/// Writes that are shown as one: a single write, or the repetitions of one
/// string instruction.
struct WriteRun {
  answers::Write Write; ///< Time is that of the first repetition
  uint64_t Count = 1;
  Timestamp Last = 0;
};
} // namespace

/// Whether the instruction stores a string: rep movs or rep stos. The processor
/// repeats it without leaving it, and each repetition has a time of its own.
static Expected<bool> storesString(const query::Trace &T, uint64_t Pc,
                                   Timestamp At) {
  constexpr uint64_t Longest = 15;
  Expected<answers::MemoryContents> Code = T.memory(Pc, Longest, At);
  if (!Code)
    return Code.takeError();
  bool Repeats = false;
  for (uint8_t Byte : Code->Bytes) {
    if (Byte == 0xf2 || Byte == 0xf3) {
      Repeats = true;
      continue;
    }
    // Prefixes: sizes, segments, REX.
    if (Byte == 0x66 || Byte == 0x67 || (Byte & 0xf0) == 0x40 || Byte == 0x64 ||
        Byte == 0x65 || Byte == 0x2e || Byte == 0x36 || Byte == 0x3e ||
        Byte == 0x26)
      continue;
    constexpr uint8_t Movs = 0xa4, Stos = 0xaa; // the next code: wider ones
    return Repeats && ((Byte & 0xfe) == Movs || (Byte & 0xfe) == Stos);
  }
  return false;
}

/// Makes the writes one if W is the next repetition of the same instruction,
/// or the one before with Backward.
static Expected<bool> join(const query::Trace &T, WriteRun &Run,
                           const answers::Write &W, bool Backward) {
  const answers::Write &First = Run.Write;
  bool Follows = Backward ? W.Time + 1 == First.Time : W.Time == Run.Last + 1;
  if (!Follows || W.Thread != First.Thread || W.Pc != First.Pc ||
      W.By != answers::Writer::Instruction || First.By != W.By)
    return false;
  bool Above = First.Address + First.New.size() == W.Address;
  if (!Above && W.Address + W.New.size() != First.Address)
    return false;
  if (Run.Count == 1) {
    Expected<bool> IsString = storesString(T, W.Pc, W.Time);
    if (!IsString || !*IsString)
      return IsString;
  }
  answers::Write &All = Run.Write;
  All.Old.insert(Above ? All.Old.end() : All.Old.begin(), W.Old.begin(),
                 W.Old.end());
  All.New.insert(Above ? All.New.end() : All.New.begin(), W.New.begin(),
                 W.New.end());
  if (!Above)
    All.Address = W.Address;
  (Backward ? All.Time : Run.Last) = W.Time;
  ++Run.Count;
  return true;
}

static Expected<bool> isMapped(const query::Trace &T,
                               answers::AddressRange Range, Timestamp Time) {
  Expected<answers::MemoryContents> M =
      T.memory(Range.First, Range.Last - Range.First + 1, Time);
  if (!M)
    return M.takeError();
  return !M->Mapped.empty();
}

/// Fills in what a change of the memory map, or the start of the run, did.
static Error addMapping(const query::Trace &T, WriteAnswer &Answer) {
  const Timestamp Time = Answer.visibleFrom();
  Answer.HasOld = false;
  if (Error E = isMapped(T, Answer.Asked, Time).moveInto(Answer.HasNew))
    return E;
  if (Time)
    if (Error E = isMapped(T, Answer.Asked, Time - 1).moveInto(Answer.HasOld))
      return E;
  Expected<std::vector<answers::Mapping>> Map = T.map(Time);
  if (!Map)
    return Map.takeError();
  for (answers::Mapping &M : *Map)
    if (M.Address <= Answer.Asked.Last &&
        M.Address + (M.Length - 1) >= Answer.Asked.First) {
      Answer.MappedFrom = std::move(M);
      break;
    }
  return Error::success();
}

static Expected<std::optional<WriteAnswer>>
answerFor(const query::Trace &T, const WriteRun &Run,
          answers::AddressRange Range) {
  const answers::Write &W = Run.Write;
  WriteAnswer Answer;
  Answer.Write = W;
  Answer.Asked = Range;
  Answer.Where = placeAt(T, W.Pc, W.Time);
  Answer.Count = Run.Count;
  Answer.Last = Run.Last;
  if (W.By == answers::Writer::Instruction ||
      W.By == answers::Writer::SystemCall) {
    Expected<std::optional<Place>> Caller =
        callerOfSystemCode(T, Answer.Where, W.Thread, W.Time);
    if (!Caller)
      return Caller.takeError();
    Answer.Caller = std::move(*Caller);
  }
  if (W.By == answers::Writer::SystemCall) {
    Expected<SystemCall> Call = systemCallAt(T, W.SystemCall, W.Thread, W.Time);
    if (!Call)
      return Call.takeError();
    Answer.Call = *Call;
  }
  if (W.By == answers::Writer::Mapping || W.visibleFrom() == 0)
    if (Error E = addMapping(T, Answer))
      return E;
  return Answer;
}

/// Adds the other repetitions that wrote to the range, as far as they are in
/// the time range.
static Error addRepetitions(const query::Trace &T, answers::AddressRange Range,
                            answers::TimeRange When, bool Backward,
                            WriteRun &Run,
                            const answers::Cancellation &Cancel) {
  Expected<bool> IsString = storesString(T, Run.Write.Pc, Run.Write.Time);
  if (!IsString)
    return IsString.takeError();
  // Every repetition writes at least one byte of the range, so the others are
  // no further away than that.
  const uint64_t Size = Range.Last - Range.First;
  const Timestamp At = Run.Write.Time;
  if (!*IsString || !Size || (Backward ? !At : At >= When.Last))
    return Error::success();
  if (Backward)
    When = {std::max(When.First, At > Size ? At - Size : 0), At - 1};
  else
    When = {At + 1,
            std::min(When.Last, Size < When.Last - At ? At + Size : When.Last)};
  std::optional<Error> Failed;
  Error E = T.writes(
      Range, When, Backward,
      [&](const answers::Write &W) {
        Expected<bool> Joined = join(T, Run, W, Backward);
        if (!Joined) {
          Failed.emplace(Joined.takeError());
          return false;
        }
        return *Joined;
      },
      &Cancel);
  return Failed ? joinErrors(std::move(E), std::move(*Failed)) : std::move(E);
}

// ---- the questions ----

static Expected<std::optional<WriteAnswer>>
oneWrite(const query::Trace &T, answers::AddressRange Range, Timestamp At,
         bool Backward, const answers::Cancellation &Cancel) {
  answers::TimeRange When = Backward ? answers::TimeRange{0, At}
                                     : answers::TimeRange{At, T.instructions()};
  std::optional<WriteRun> Found;
  Error E = T.writes(
      Range, When, Backward,
      [&](const answers::Write &W) {
        if ((W.visibleFrom() <= At) != Backward)
          return true;
        Found = WriteRun{W, 1, W.Time};
        return false;
      },
      &Cancel);
  if (E)
    return E;
  if (!Found)
    return std::nullopt;
  if (Found->Write.By == answers::Writer::Instruction)
    if (Error Failed = addRepetitions(T, Range, When, Backward, *Found, Cancel))
      return Failed;
  return answerFor(T, *Found, Range);
}

Expected<std::optional<WriteAnswer>>
lastWrite(const query::Trace &T, answers::AddressRange Range, Timestamp At,
          const answers::Cancellation &Cancel) {
  return oneWrite(T, Range, At, /*Backward=*/true, Cancel);
}

Expected<std::optional<WriteAnswer>>
nextWrite(const query::Trace &T, answers::AddressRange Range, Timestamp At,
          const answers::Cancellation &Cancel) {
  return oneWrite(T, Range, At, /*Backward=*/false, Cancel);
}

Expected<SearchEnd> searchWrites(const query::Trace &T,
                                 answers::AddressRange Range,
                                 const SearchOptions &Options,
                                 Visitor<WriteAnswer> Visit,
                                 const answers::Cancellation &Cancel) {
  AnswerSink<WriteAnswer> Sink(Options.Limit, Visit);
  // A run of writes is an answer when the next one begins, or none follows.
  std::optional<WriteRun> Pending;
  std::optional<Error> Failed;
  auto Flush = [&] {
    return Sink.offer([&] {
      return answerFor(T, *std::exchange(Pending, std::nullopt), Range);
    });
  };
  Error E = T.writes(
      Range, Options.When, Options.Backward,
      [&](const answers::Write &W) {
        if (Pending) {
          Expected<bool> Joined = join(T, *Pending, W, Options.Backward);
          if (!Joined) {
            Failed.emplace(Joined.takeError());
            return false;
          }
          if (*Joined)
            return true;
          if (!Flush())
            return false;
        }
        Pending = WriteRun{W, 1, W.Time};
        // What is beyond the limit need not be complete.
        return !Sink.full() || Flush();
      },
      &Cancel);
  if (Failed)
    E = joinErrors(std::move(E), std::move(*Failed));
  if (Pending && !E && !Cancel.Cancelled)
    Flush();
  return Sink.finish(std::move(E));
}

// ---- reads ----

static Expected<std::optional<ReadAnswer>>
answerFor(const query::Trace &T, const answers::Read &R,
          answers::AddressRange Range) {
  ReadAnswer Answer{R, Range, placeAt(T, R.Pc, R.Time), std::nullopt};
  if (Error E = callerOfSystemCode(T, Answer.Where, R.Thread, R.Time)
                    .moveInto(Answer.Caller))
    return E;
  return Answer;
}

static Expected<std::optional<ReadAnswer>>
oneRead(const query::Trace &T, answers::AddressRange Range,
        answers::TimeRange When, bool Backward,
        const answers::Cancellation &Cancel) {
  std::optional<answers::Read> Found;
  if (Error E = T.reads(
          Range, When, Backward,
          [&](const answers::Read &R) {
            Found = R;
            return false;
          },
          &Cancel))
    return E;
  if (!Found)
    return std::nullopt;
  return answerFor(T, *Found, Range);
}

Expected<std::optional<ReadAnswer>>
lastRead(const query::Trace &T, answers::AddressRange Range, Timestamp At,
         const answers::Cancellation &Cancel) {
  if (!At)
    return std::nullopt;
  return oneRead(T, Range, {0, At - 1}, /*Backward=*/true, Cancel);
}

Expected<std::optional<ReadAnswer>>
nextRead(const query::Trace &T, answers::AddressRange Range, Timestamp At,
         const answers::Cancellation &Cancel) {
  return oneRead(T, Range, {At, T.instructions()}, /*Backward=*/false, Cancel);
}

Expected<SearchEnd> searchReads(const query::Trace &T,
                                answers::AddressRange Range,
                                const SearchOptions &Options,
                                Visitor<ReadAnswer> Visit,
                                const answers::Cancellation &Cancel) {
  AnswerSink<ReadAnswer> Sink(Options.Limit, Visit);
  return Sink.finish(T.reads(
      Range, Options.When, Options.Backward,
      [&](const answers::Read &R) {
        if (Options.Thread && R.Thread != Options.Thread)
          return true;
        return Sink.offer([&] { return answerFor(T, R, Range); });
      },
      &Cancel));
}

} // namespace chronicle::questions
