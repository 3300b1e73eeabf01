// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/OutputQuestions.h"
#include "query/questions/EventQuestions.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>
#include <map>

using namespace llvm;

namespace chronicle::questions {

namespace {
/// The end of what was written to one descriptor: the bytes in which a match
/// may still start.
class OutputTail {
public:
  void append(OutputPiece Piece) {
    uint64_t Start = Offset + Bytes.size();
    Bytes += Piece.Bytes;
    Pieces.emplace_back(Start, std::move(Piece));
  }

  /// Calls Found with the offset of each occurrence of Text, then forgets the
  /// bytes in which no further one can start. False: Found returned false.
  bool find(StringRef Text, function_ref<bool(uint64_t Offset)> Found) {
    for (size_t At = 0; (At = Bytes.find(Text, At)) != std::string::npos; ++At)
      if (!Found(Offset + At))
        return false;
    size_t Keep = std::min(Bytes.size(), Text.size() - 1);
    forgetUpTo(Offset + Bytes.size() - Keep);
    return true;
  }

  std::vector<OutputPiece> piecesOf(uint64_t Position, uint64_t Length) const {
    std::vector<OutputPiece> Result;
    for (const auto &[Start, Piece] : Pieces)
      if (Start + Piece.Bytes.size() > Position && Start < Position + Length)
        Result.push_back(Piece);
    return Result;
  }

private:
  void forgetUpTo(uint64_t Position) {
    Bytes.erase(0, Position - Offset);
    Offset = Position;
    while (!Pieces.empty() &&
           Pieces.front().first + Pieces.front().second.Bytes.size() <=
               Position)
      Pieces.pop_front();
  }

  std::string Bytes;
  uint64_t Offset = 0; ///< of Bytes in everything written
  std::deque<std::pair<uint64_t, OutputPiece>> Pieces; ///< by offset
};
} // namespace

static Error findMatches(const query::Trace &T, StringRef Text,
                         std::optional<uint32_t> Descriptor,
                         answers::TimeRange When,
                         function_ref<bool(OutputMatch)> Found,
                         const answers::Cancellation &Cancel) {
  std::map<uint32_t, OutputTail> Tails;
  return T.events(
      eventBit(CH_EV_OUTPUT), When, /*Backward=*/false,
      [&](const answers::TimedEvent &Event) {
        auto Output = Event.as<events::OutputEvent>();
        if (!Output || (Descriptor && Output->descriptor != *Descriptor))
          return true;
        OutputTail &Tail = Tails[Output->descriptor];
        Tail.append({Event.Time, Output->thread, Output->text().str()});
        return Tail.find(Text, [&](uint64_t Offset) {
          std::vector<OutputPiece> Writes = Tail.piecesOf(Offset, Text.size());
          Timestamp Time = Writes.empty() ? 0 : Writes.front().Time;
          return Found({Time, Output->descriptor, Offset, std::move(Writes)});
        });
      },
      &Cancel);
}

Expected<SearchEnd> searchOutput(const query::Trace &T, StringRef Text,
                                 std::optional<uint32_t> Descriptor,
                                 const SearchOptions &Options,
                                 Visitor<OutputMatch> Visit,
                                 const answers::Cancellation &Cancel) {
  AnswerSink<OutputMatch> Sink(Options.Limit, Visit);
  if (!Options.Backward)
    return Sink.finish(findMatches(
        T, Text, Descriptor, Options.When,
        [&](OutputMatch Match) { return Sink.add(std::move(Match)); }, Cancel));
  std::vector<OutputMatch> All;
  Error E = findMatches(
      T, Text, Descriptor, Options.When,
      [&](OutputMatch Match) {
        All.push_back(std::move(Match));
        return !Cancel.Cancelled;
      },
      Cancel);
  for (OutputMatch &Match : reverse(All))
    if (!Sink.add(std::move(Match)))
      break;
  return Sink.finish(std::move(E));
}

} // namespace chronicle::questions
