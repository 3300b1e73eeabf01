// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-read, next-read, reads.

#include "lldb-plugin/commands/WatchedMemory.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "query/json/JsonAnswers.h"
#include "query/variables/CallScope.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::commands {

using questions::ReadAnswer;

/// Makes the index of reads if there is none yet.
static Error needIndex(CommandCall &Call, target::LoadedTrace &Loaded) {
  using Facts = std::optional<query::Trace::ReadIndexFacts>;
  return Call
      .make<Facts>("Making the index of reads, once for this trace",
                   [&](const answers::IndexProgress &Progress) {
                     return Loaded.trace().readIndex(Progress);
                   })
      .takeError();
}

/// "instruction 0x401136 in transfer at demo.c:26".
static std::string readerText(const ReadAnswer &R, const target::Style &How) {
  std::string Place = target::placeOf(R.Where, R.Caller, How);
  return formatv("instruction {0:x}{1}{2}", R.Read.Pc,
                 Place.empty() ? "" : " in ", Place);
}

static json::Object toJSON(const ReadAnswer &R, const Watched &What,
                           StringRef Value) {
  json::Object O = jsonapi::toJSON(R);
  O["expression"] = jsonapi::jsonText(What.Name);
  if (What.Type.IsValid()) {
    lldb::SBType Type = What.Type;
    O["type"] = jsonapi::jsonText(Type.GetDisplayTypeName());
  }
  O["value"] = jsonapi::jsonText(Value);
  return O;
}

static Error oneRead(CommandCall &Call, target::LoadedTrace &Loaded,
                     bool Backward) {
  Expected<WatchedAgain> Again = watchedAgain(Call, Loaded);
  if (!Again)
    return Again.takeError();
  const Watched &What = Again->What;
  if (Error E = needIndex(Call, Loaded))
    return E;
  const query::Trace &T = Loaded.trace();
  const Timestamp Here = Loaded.position().Time;
  Expected<std::optional<ReadAnswer>> Found =
      Call.ask<std::optional<ReadAnswer>>(
          [&](const answers::Cancellation &Cancel) {
            return Backward ? questions::lastRead(T, What.Range, Here, Cancel)
                            : questions::nextRead(T, What.Range, Here, Cancel);
          });
  if (!Found)
    return Found.takeError();
  if (!*Found)
    return createStringError(
        formatv("no instruction reads {0} {1} time {2}{3}{4}", What.title(),
                Backward ? "before" : "after", groupedDigits(Here),
                Again->Note.empty() ? "" : ": " + Again->Note,
                Backward ? "" : Call.cutOffNote()));
  const answers::Read &R = (*Found)->Read;
  Expected<std::string> Value = valueAt(Loaded, What, R.Time);
  if (!Value)
    return Value.takeError();
  json::Object Answer = toJSON(**Found, What, *Value);
  std::string Note = Again->Note;
  if (What.Owner && Backward && R.Time < What.Owner->Entry)
    Note += formatv("{0}the present call began later, at time {1}: the memory "
                    "was something else's then",
                    Note.empty() ? "" : "; ", groupedDigits(What.Owner->Entry));
  if (!Note.empty())
    Answer["note"] = jsonapi::jsonText(Note);
  if (!Call.json()) {
    const target::Style How = Call.style();
    Call.print(formatv("{0}: {1}\n  time {2}, thread {3}: read by {4}\n",
                       What.title(), *Value, How.time(R.Time), R.Thread,
                       How.place(readerText(**Found, How)))
                   .str());
    if (!Note.empty())
      Call.print("  note: " + Note + "\n");
  }
  if (Call.has("no-jump")) {
    if (Call.json())
      Call.printJson(std::move(Answer));
    return Error::success();
  }
  // Backward to before the instruction, forward to after it. So asking again
  // finds the next one.
  const session::Position There{Backward ? R.Time : R.Time + 1, R.Thread};
  Call.jump(Loaded, There,
            {.Kind = Backward ? session::StopKind::BeforeRead
                              : session::StopKind::AfterRead,
             .Time = R.Time},
            std::move(Answer));
  rememberWatched(Call, Loaded, What, There);
  return Error::success();
}

static Error lastRead(CommandCall &Call, target::LoadedTrace &Loaded) {
  return oneRead(Call, Loaded, /*Backward=*/true);
}
static Error nextRead(CommandCall &Call, target::LoadedTrace &Loaded) {
  return oneRead(Call, Loaded, /*Backward=*/false);
}

static Error reads(CommandCall &Call, target::LoadedTrace &Loaded) {
  Expected<Watched> What = watchedMemory(Call, Loaded);
  if (!What)
    return What.takeError();
  const query::Trace &T = Loaded.trace();
  answers::TimeRange When{0, T.instructions()};
  std::string Title = What->title();
  if (What->Owner && !Call.has("any-time")) {
    // Outside of its call a local variable is other memory.
    if (Error E = variables::timeOf(T, *What->Owner).moveInto(When))
      return E;
    Title += formatv(", during the call that it belongs to, time {0} to {1}; "
                     "--any-time shows the others",
                     groupedDigits(When.First), groupedDigits(When.Last));
  }
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded, When);
  if (!Options)
    return Options.takeError();
  if (Error E = needIndex(Call, Loaded))
    return E;
  Expected<SearchResult<ReadAnswer>> Found =
      Call.collect<ReadAnswer>([&](questions::Visitor<ReadAnswer> Visit,
                                   const answers::Cancellation &Cancel) {
        return questions::searchReads(T, What->Range, *Options, Visit, Cancel);
      });
  if (!Found)
    return Found.takeError();
  json::Array Results;
  const target::Style How = Call.style();
  target::Table Rows({{"time", target::Table::Role::Time},
                      "thread",
                      "value",
                      {"read by", target::Table::Role::Place}});
  for (const ReadAnswer &R : Found->Answers) {
    if (Call.interrupted()) {
      Found->Interrupted = true;
      break;
    }
    Expected<std::string> Value = valueAt(Loaded, *What, R.Read.Time);
    if (!Value)
      return Value.takeError();
    if (Call.json())
      Results.push_back(toJSON(R, *What, *Value));
    else
      Rows.add({groupedDigits(R.Read.Time), std::to_string(R.Read.Thread),
                *Value, readerText(R, How)});
  }
  if (Call.json()) {
    Call.printResults(std::move(Results), *Found);
    return Error::success();
  }
  Call.print(Title + "\n");
  Call.print(Rows, "No instruction reads it.");
  Call.printEnd(*Found);
  return Error::success();
}

ArrayRef<CommandSpec> readCommands() {
  static const OptionSpec AllOptions[] = {
      AddressOption, SizeOption,        FromOption,    ToOption,   LimitOption,
      ThreadOption,  OldestFirstOption, AnyTimeOption, FullOption, JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "last-read",
       .Run = lastRead,
       .Help = "Go to the last instruction before now that read a variable, an "
               "expression or an address.",
       .Arguments = "[--no-jump] <expression> | -a <address> -s <size>",
       .Details =
           "Takes what last-write takes. Stops just before the instruction, so "
           "that asking again finds the read before it. The first question "
           "about reads makes an index, by replaying the whole run; 'chronicle "
           "index' on the command line makes it beforehand. What the kernel "
           "reads for a system call is not recorded.\n",
       .Examples = "  chronicle last-read Account->Balance\n"
                   "  chronicle last-read --no-jump Table[3]\n"
                   "  chronicle last-read -a 0x7ffe0010 -s 4\n",
       .Options = optionsOfOneAccess(),
       .Words = Completes::Expression,
       .Repeat = nullptr},
      {.Name = "next-read",
       .Run = nextRead,
       .Help = "Go to the next instruction that reads a variable, an "
               "expression or an address.",
       .Arguments = "[--no-jump] <expression> | -a <address> -s <size>",
       .Details = "Stops just after the instruction, so that asking again "
                  "finds the next one. Otherwise like last-read.\n",
       .Examples = "  chronicle next-read Counter\n",
       .Options = optionsOfOneAccess(),
       .Words = Completes::Expression,
       .Repeat = nullptr},
      {.Name = "reads",
       .Run = reads,
       .Help = "Show who used a value: every instruction that read a variable, "
               "an expression or an address.",
       .Arguments = "<expression> | -a <address> -s <size>",
       .Details = "Prints a table, newest read first: for a local variable the "
                  "reads during the present call, for anything else those of "
                  "the whole run. 'chronicle goto' takes the times.\n",
       .Examples = "  chronicle reads Counter\n"
                   "  chronicle reads --limit 100 --to -1 List.Size\n"
                   "  chronicle reads --oldest-first -a 0x4c4010 -s 8\n",
       .Options = AllOptions,
       .Words = Completes::Expression},
  };
  return Table;
}

} // namespace chronicle::commands
