// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-write, next-write, writes.

#include "lldb-plugin/commands/RegisterWrites.h"
#include "lldb-plugin/commands/WatchedMemory.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Scout.h"
#include "lldb-plugin/target/Table.h"
#include "lldb-plugin/values/ParentWriteText.h"
#include "lldb-plugin/values/WriteFilter.h"
#include "lldb-plugin/values/WriterText.h"
#include "lldb-plugin/values/WrittenMembers.h"
#include "query/json/JsonAnswers.h"
#include "query/variables/CallScope.h"
#include "trace-format/Text.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::commands {

using questions::WriteAnswer;

/// "mapped from t (.data)". The section is known while the file is loaded.
static std::string mappingText(target::LoadedTrace &Loaded,
                               const WriteAnswer &W) {
  if (!W.HasNew)
    return "unmapped";
  if (!W.MappedFrom || W.MappedFrom->Path.empty())
    return "mapped, and not from a file";
  StringRef Path = W.MappedFrom->Path;
  lldb::SBAddress Address =
      Loaded.process().GetTarget().ResolveLoadAddress(W.Asked.First);
  const char *Section = Address.GetSection().GetName();
  const char *File = Address.GetModule().GetFileSpec().GetFilename();
  const bool SameFile = File && sys::path::filename(Path) == File;
  return ("mapped from " + sys::path::filename(Path)).str() +
         (Section && SameFile ? formatv(" ({0})", Section).str() : "");
}

/// "instruction 0x401136 in transfer at demo.c:26",
/// "instruction 0x4c1136 in tcache_put at malloc.c:3 <- main at demo.c:26",
/// "system call read(3, "hello", 64) = 5 from main at demo.c:26".
static std::string writerText(target::LoadedTrace &Loaded, const WriteAnswer &W,
                              const target::Style &How) {
  std::string Place = target::placeOf(W.Where, W.Caller, How);
  if (W.Write.By == answers::Writer::Mapping)
    return mappingText(Loaded, W);
  return values::writerText(W.Write.By, W.Write.Pc, Place, W.Call) +
         (W.Count > 1
              ? formatv(", repeated {0} times", groupedDigits(W.Count)).str()
              : "");
}

/// The last moment without the write's bytes in memory.
static Timestamp momentBefore(const answers::Write &W) {
  return W.visibleFrom() ? W.visibleFrom() - 1 : 0;
}

namespace {
/// A write, with the value before and after it as LLDB shows it.
struct ShownWrite {
  WriteAnswer Answer;
  std::string Old = "not mapped", New = "not mapped";
  /// Of a structure: the members that Old and New show.
  std::vector<values::MemberChange> Members;
};
} // namespace

/// The whole value, and of a pointer to a table of virtual functions the
/// table's name.
static Expected<std::string> wholeValue(target::LoadedTrace &Loaded,
                                        const Watched &What, Timestamp At) {
  Expected<std::string> Text = valueAt(Loaded, What, At);
  lldb::SBType Type = What.Type;
  if (!Text || What.Range.Last - What.Range.First != 7 ||
      (Type.IsValid() && !Type.GetCanonicalType().IsPointerType()))
    return Text;
  Expected<std::string> Name =
      values::vtableNameAt(Loaded.trace(), What.Range.First, At);
  if (!Name)
    return Name.takeError();
  return *Text + (Name->empty() ? "" : " " + *Name);
}

/// The members that the write touched, at a moment. Nothing: the value is not
/// shown by members.
static Expected<std::optional<std::vector<values::MemberText>>>
membersAt(target::LoadedTrace &Loaded, const Watched &What,
          const answers::Write &W, Timestamp At) {
  lldb::SBType Type = What.Type;
  constexpr uint32_t Lists = lldb::eTypeClassStruct | lldb::eTypeClassClass |
                             lldb::eTypeClassUnion | lldb::eTypeClassArray;
  if (!Type.IsValid() || What.Field ||
      !(Type.GetCanonicalType().GetTypeClass() & Lists))
    return std::nullopt;
  Expected<answers::MemoryContents> M =
      Loaded.trace().memory(What.Range.First, 1, At);
  if (!M)
    return M.takeError();
  if (M->Mapped.empty())
    return std::nullopt;
  Expected<target::Scout *> There = target::Scout::of(Loaded);
  if (!There)
    return There.takeError();
  if (Error E = (*There)->go(At, 0))
    return E;
  lldb::SBTarget Target = (*There)->target();
  lldb::SBAddress Place(What.Range.First, Target);
  lldb::SBValue Value = Target.CreateValueFromAddress("value", Place, Type);
  if (!values::hasMembers(Value))
    return std::nullopt;
  std::optional<Error> Failed;
  auto Vtable = [&](lldb::SBValue Class) -> std::string {
    Expected<std::string> Name =
        values::vtableNameAt(Loaded.trace(), Class.GetLoadAddress(), At);
    if (Name)
      return Name->empty() ? "no table of virtual functions" : *Name;
    if (!Failed)
      Failed.emplace(Name.takeError());
    else
      consumeError(Name.takeError());
    return "";
  };
  std::vector<values::MemberText> Members = values::writtenMembers(
      Value, {W.Address, W.Address + W.New.size() - 1}, Vtable);
  if (Failed)
    return std::move(*Failed);
  return Members;
}

static Expected<ShownWrite> show(target::LoadedTrace &Loaded,
                                 const Watched &What, WriteAnswer Answer) {
  const Timestamp Before = momentBefore(Answer.Write);
  const Timestamp After = Answer.visibleFrom();
  if (!Answer.Write.New.empty() && Answer.HasOld && Answer.HasNew) {
    auto OldMembers = membersAt(Loaded, What, Answer.Write, Before);
    if (!OldMembers)
      return OldMembers.takeError();
    auto NewMembers = membersAt(Loaded, What, Answer.Write, After);
    if (!NewMembers)
      return NewMembers.takeError();
    if (*OldMembers && *NewMembers) {
      std::vector<values::MemberChange> Changes = values::changedMembers(
          std::move(**OldMembers), std::move(**NewMembers));
      if (!Changes.empty())
        return ShownWrite{std::move(Answer), values::oldText(Changes),
                          values::newText(Changes), Changes};
    }
  }
  ShownWrite Shown;
  if (Answer.HasOld)
    if (Error E = wholeValue(Loaded, What, Before).moveInto(Shown.Old))
      return E;
  if (Answer.HasNew)
    if (Error E = wholeValue(Loaded, What, After).moveInto(Shown.New))
      return E;
  Shown.Answer = std::move(Answer);
  return Shown;
}

static json::Object toJSON(const ShownWrite &W, const Watched &What) {
  json::Object O = jsonapi::toJSON(W.Answer);
  O["expression"] = jsonapi::jsonText(What.Name);
  if (What.Type.IsValid()) {
    lldb::SBType Type = What.Type;
    O["type"] = jsonapi::jsonText(Type.GetDisplayTypeName());
  }
  O["old-value"] =
      W.Answer.HasOld ? jsonapi::jsonText(W.Old) : json::Value(nullptr);
  O["new-value"] =
      W.Answer.HasNew ? jsonapi::jsonText(W.New) : json::Value(nullptr);
  if (!W.Members.empty()) {
    json::Array List;
    for (const values::MemberChange &C : W.Members)
      List.push_back(json::Object{{"name", jsonapi::jsonText(C.Name)},
                                  {"old", jsonapi::jsonText(C.Old)},
                                  {"new", jsonapi::jsonText(C.New)}});
    O["members"] = std::move(List);
  }
  return O;
}

/// Says if the write was not made during the call that the memory belongs to.
static Expected<std::string> noteAbout(const query::Trace &T,
                                       const Watched &What, Timestamp Time,
                                       bool Backward) {
  if (!What.Owner)
    return "";
  const answers::Activation &Owner = *What.Owner;
  if (Backward) {
    if (Time >= Owner.Entry)
      return "";
    return formatv("this call of {0} began later, at time {1}: it has not set "
                   "{2} yet",
                   values::functionOf(T, Owner), groupedDigits(Owner.Entry),
                   What.Name);
  }
  Expected<std::optional<Timestamp>> Return = T.returnOf(Owner);
  if (!Return)
    return Return.takeError();
  if (!*Return || Time < **Return)
    return "";
  return formatv("this call of {0} was over by then, at time {1}: the memory "
                 "is something else's",
                 values::functionOf(T, Owner), groupedDigits(**Return));
}

static Error oneWrite(CommandCall &Call, target::LoadedTrace &Loaded,
                      bool Backward) {
  if (!watchesBefore(Call, Loaded)) {
    Expected<std::optional<WatchedRegister>> Register = watchedRegister(Call);
    if (!Register)
      return Register.takeError();
    if (*Register)
      return oneRegisterWrite(Call, Loaded, **Register, Backward);
  }
  Expected<WatchedAgain> Again = watchedAgain(Call, Loaded);
  if (!Again)
    return Again.takeError();
  const Watched *What = &Again->What;
  const query::Trace &T = Loaded.trace();
  Timestamp Here = Loaded.position().Time;
  Expected<std::optional<WriteAnswer>> Found =
      Call.ask<std::optional<WriteAnswer>>(
          [&](const answers::Cancellation &Cancel) {
            return Backward
                       ? questions::lastWrite(T, What->Range, Here, Cancel)
                       : questions::nextWrite(T, What->Range, Here, Cancel);
          });
  if (!Found)
    return Found.takeError();
  if (!*Found)
    return createStringError(
        formatv("nothing writes {0} {1} time {2}{3}{4}", What->title(),
                Backward ? "before" : "after", groupedDigits(Here),
                Again->Note.empty() ? "" : ": " + Again->Note,
                Backward ? "" : Call.cutOffNote()));
  Expected<ShownWrite> Shown = show(Loaded, *What, std::move(**Found));
  if (!Shown)
    return Shown.takeError();
  const answers::Write &W = Shown->Answer.Write;
  Expected<std::string> Note = noteAbout(T, *What, W.Time, Backward);
  if (!Note)
    return Note.takeError();
  if (!Again->Note.empty())
    *Note = Again->Note + (Note->empty() ? "" : "; " + *Note);
  json::Object Answer = toJSON(*Shown, *What);
  if (!Note->empty())
    Answer["note"] = jsonapi::jsonText(*Note);
  std::string Earlier;
  if (Backward)
    if (Error E = Call.ask<std::string>([&](const answers::Cancellation &Stop) {
                        return values::writeBeforeFork(
                            T, Shown->Answer, Call.style(), Answer, Stop);
                      })
                      .moveInto(Earlier))
      return E;
  if (!Earlier.empty() && !Call.json()) {
    Call.print(formatv("{0}: {1}, since the process was forked\n  {2}\n",
                       What->title(), Shown->New, Earlier)
                   .str());
  } else if (!Call.json()) {
    const target::Style How = Call.style();
    Call.print(formatv("{0}: {1} -> {2}\n  time {3}, thread {4}: {5}\n",
                       What->title(), Shown->Old, Shown->New, How.time(W.Time),
                       W.Thread,
                       How.place(writerText(Loaded, Shown->Answer, How)))
                   .str());
    if (!Note->empty())
      Call.print("  note: " + *Note + "\n");
  }
  if (Call.has("no-jump")) {
    if (Call.json())
      Call.printJson(std::move(Answer));
    return Error::success();
  }
  // Backward to before the write, where its cause can still be seen; forward to
  // after it. So asking again finds the next one.
  const session::Position There{
      Backward ? momentBefore(W) : Shown->Answer.visibleFrom(), W.Thread};
  Call.jump(Loaded, There,
            {.Kind = Backward ? session::StopKind::BeforeWrite
                              : session::StopKind::AfterWrite,
             .Time = W.Time},
            std::move(Answer));
  rememberWatched(Call, Loaded, *What, There);
  return Error::success();
}

static Error lastWrite(CommandCall &Call, target::LoadedTrace &Loaded) {
  return oneWrite(Call, Loaded, /*Backward=*/true);
}
static Error nextWrite(CommandCall &Call, target::LoadedTrace &Loaded) {
  return oneWrite(Call, Loaded, /*Backward=*/false);
}

/// The values of all writes found. Ctrl-C cuts them off.
static Expected<std::vector<ShownWrite>>
showAll(CommandCall &Call, target::LoadedTrace &Loaded, const Watched &What,
        SearchResult<WriteAnswer> &Found) {
  std::vector<ShownWrite> Rows;
  for (WriteAnswer &Answer : Found.Answers) {
    if (Call.interrupted()) {
      Found.Interrupted = true;
      break;
    }
    Expected<ShownWrite> Shown = show(Loaded, What, std::move(Answer));
    if (!Shown)
      return Shown.takeError();
    Rows.push_back(std::move(*Shown));
  }
  return Rows;
}

/// As questions::searchWrites(), but only those for which the condition holds.
static Expected<questions::SearchEnd>
searchWhere(const values::WriteFilter &Where, target::LoadedTrace &Loaded,
            const Watched &What, questions::SearchOptions Options,
            questions::Visitor<WriteAnswer> Visit,
            const answers::Cancellation &Cancel) {
  questions::AnswerSink<WriteAnswer> Sink(Options.Limit, Visit);
  Options.Limit = UINT64_MAX;
  Error Failed = Error::success();
  Expected<questions::SearchEnd> End = questions::searchWrites(
      Loaded.trace(), What.Range, Options,
      [&](WriteAnswer W) {
        using Number = Expected<std::optional<APSInt>>;
        Expected<bool> Wanted = Where.wants(
            [&] {
              return W.HasOld ? numberAt(Loaded, What, momentBefore(W.Write))
                              : Number(std::nullopt);
            },
            [&] {
              return W.HasNew ? numberAt(Loaded, What, W.visibleFrom())
                              : Number(std::nullopt);
            });
        if (!Wanted) {
          Failed = joinErrors(std::move(Failed), Wanted.takeError());
          return false;
        }
        return *Wanted ? Sink.add(std::move(W)) : !Cancel.Cancelled;
      },
      Cancel);
  if (!End)
    Failed = joinErrors(std::move(Failed), End.takeError());
  return Sink.finish(std::move(Failed));
}

static Error writes(CommandCall &Call, target::LoadedTrace &Loaded) {
  Expected<std::optional<WatchedRegister>> Register = watchedRegister(Call);
  if (!Register)
    return Register.takeError();
  if (*Register)
    return allRegisterWrites(Call, Loaded, **Register);
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
    Title += formatv(", during this call of {0}, time {1} to {2}; --any-time "
                     "shows the others",
                     values::functionOf(T, *What->Owner),
                     groupedDigits(When.First), groupedDigits(When.Last));
  }
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded, When);
  if (!Options)
    return Options.takeError();
  Expected<values::WriteFilter> Where =
      values::WriteFilter::parse(Call.value("where"));
  if (!Where)
    return Where.takeError();
  Expected<SearchResult<WriteAnswer>> Found =
      Call.collect<WriteAnswer>([&](questions::Visitor<WriteAnswer> Visit,
                                    const answers::Cancellation &Cancel) {
        return Where->empty() ? questions::searchWrites(T, What->Range,
                                                        *Options, Visit, Cancel)
                              : searchWhere(*Where, Loaded, *What, *Options,
                                            Visit, Cancel);
      });
  if (!Found)
    return Found.takeError();
  Expected<std::vector<ShownWrite>> Shown =
      showAll(Call, Loaded, *What, *Found);
  if (!Shown)
    return Shown.takeError();
  if (Call.json()) {
    json::Array Results;
    for (const ShownWrite &W : *Shown)
      Results.push_back(toJSON(W, *What));
    Call.printResults(std::move(Results), *Found);
    return Error::success();
  }
  Call.print(Title + "\n");
  const target::Style How = Call.style();
  target::Table Rows = tableOfWrites();
  for (const ShownWrite &W : *Shown)
    Rows.add({groupedDigits(W.Answer.Write.Time),
              std::to_string(W.Answer.Write.Thread), W.Old, W.New,
              writerText(Loaded, W.Answer, How)});
  Call.print(Rows, Where->empty() ? "Nothing writes it." : "No such write.");
  Call.printEnd(*Found);
  return Error::success();
}

/// Of writes.
static ArrayRef<OptionSpec> optionsOfAll() {
  static const OptionSpec Options[] = {
      AddressOption,
      SizeOption,
      {"where", 0, "comparisons",
       "Only writes for which this is true; old and new are the values."},
      FromOption,
      ToOption,
      LimitOption,
      OldestFirstOption,
      AnyTimeOption,
      FullOption,
      JsonOption};
  return Options;
}

ArrayRef<CommandSpec> writeCommands() {
  static const CommandSpec Table[] = {
      {.Name = "last-write",
       .Run = lastWrite,
       .Help = "Go to the last write to a variable, an expression or an "
               "address, before now, and show what wrote it.",
       .Arguments = "[--no-jump] <expression> | -a <address> -s <size>",
       .Details =
           "Takes every expression that 'frame variable' and 'expression' "
           "take, if it names memory; a reference means what it refers to. "
           "Takes a register ($rax, $eax, $xmm0) and a variable that is in "
           "one, too, and looks within the call of the selected frame then.\n"
           "Stops just before the write, so that asking again finds the one "
           "before it: the same expression then still means the same memory, "
           "although its name may mean something else there. Shows the value "
           "before and after as LLDB shows it. The "
           "writer is an instruction, a system call, the delivery of a "
           "signal, a change of the memory map, or another process.\n",
       .Examples = "  chronicle last-write Account->Balance\n"
                   "  chronicle last-write --no-jump Table[3]\n"
                   "  chronicle last-write *(long *)(Entry->Value - 8)\n"
                   "  chronicle last-write -a 0x7ffe0010 -s 4\n"
                   "  chronicle last-write --no-jump $rdi\n"
                   "  chronicle last-write -a Entry -s sizeof(*Entry)\n",
       .Options = optionsOfOneAccess(),
       .Words = Completes::Expression,
       .Repeat = nullptr},
      {.Name = "next-write",
       .Run = nextWrite,
       .Help = "Go to the next write to a variable, an expression or an "
               "address, and show what wrote it.",
       .Arguments = "[--no-jump] <expression> | -a <address> -s <size>",
       .Details = "Stops just after the write, so that asking again finds the "
                  "next one. Otherwise like last-write.\n",
       .Examples = "  chronicle next-write Counter\n",
       .Options = optionsOfOneAccess(),
       .Words = Completes::Expression,
       .Repeat = nullptr},
      {.Name = "writes",
       .Run = writes,
       .Help = "Show the history of a value: every write to a variable, an "
               "expression or an address.",
       .Arguments = "[--where <comparisons>] <expression> | -a <address> -s "
                    "<size>",
       .Details = "Prints a table, newest write first: for a local variable "
                  "the writes during the present call, for anything else "
                  "those of the whole run. 'chronicle goto' takes the "
                  "times. --where compares the values before and after each "
                  "write, old and new, with whole numbers or with each other, "
                  "joined by &&.\n",
       .Examples = "  chronicle writes Counter\n"
                   "  chronicle writes Balance --where 'new < 0'\n"
                   "  chronicle writes Level --where 'new < old'\n"
                   "  chronicle writes --limit 100 --to -1 List.Size\n"
                   "  chronicle writes --oldest-first -a 0x4c4010 -s 8\n"
                   "  chronicle writes $rax\n",
       .Options = optionsOfAll(),
       .Words = Completes::Expression},
  };
  return Table;
}

} // namespace chronicle::commands
