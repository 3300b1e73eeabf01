// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/SystemCallQuestions.h"
#include "query/answers/SystemCalls.h"
#include "query/base/UnknownName.h"
#include "query/questions/EventQuestions.h"
#include "query/systemcalls/SystemCallText.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;

namespace chronicle::questions {

std::string unknownSystemCall(StringRef Name) {
  constexpr uint32_t Highest = 1024; // Linux has less than 500
  std::vector<StringRef> Names;
  for (uint32_t Number = 0; Number < Highest; ++Number)
    if (StringRef Known = answers::systemCallName(Number); !Known.empty())
      Names.push_back(Known);
  StringRef Meant = base::nearestName(Name, Names, Name.size() / 2);
  std::string Text = ("no system call is called '" + Name + "'").str();
  return Meant.empty() ? Text
                       : (Text + "; did you mean '" + Meant + "'?").str();
}

static void enter(SystemCall &Call, Timestamp Time,
                  const events::SyscallEnterEvent &Enter) {
  Call.Number = Enter.number;
  Call.Thread = Enter.thread;
  Call.Entered = Time;
  Call.Arguments.emplace();
  copy(Enter.arguments, Call.Arguments->begin());
}

static Error addText(const query::Trace &T, SystemCall &Call) {
  Expected<std::string> Text = systemcalls::systemCallText(T, Call);
  if (!Text)
    return Text.takeError();
  Call.Text = std::move(*Text);
  return Error::success();
}

/// Adds the text, the place and the caller.
static Expected<std::optional<SystemCallAnswer>>
answerFor(const query::Trace &T, SystemCall Call) {
  if (Error E = addText(T, Call))
    return E;
  SystemCallAnswer Answer{std::move(Call), {}, std::nullopt};
  if (!Answer.Call.Entered)
    return Answer;
  // The moment of its instruction.
  const uint32_t Thread = Answer.Call.Thread;
  const Timestamp At = *Answer.Call.Entered - (*Answer.Call.Entered > 0);
  Expected<answers::Registers> R = T.registers(Thread, At);
  if (!R)
    return R.takeError();
  Answer.Where = placeAt(T, R->rip(), At);
  Expected<std::optional<Place>> Caller =
      callerOfSystemCode(T, Answer.Where, Thread, At);
  if (!Caller)
    return Caller.takeError();
  Answer.Caller = std::move(*Caller);
  return Answer;
}

Expected<SystemCall> systemCallAt(const query::Trace &T, uint32_t Number,
                                  uint32_t Thread, Timestamp At) {
  SystemCall Call;
  Call.Number = Number;
  Call.Thread = Thread;
  Error E = T.events(eventBit(CH_EV_SYSCALL_ENTER), {0, At},
                     /*Backward=*/true, [&](const answers::TimedEvent &Event) {
                       auto Enter = Event.as<events::SyscallEnterEvent>();
                       if (!Enter || Enter->thread != Thread ||
                           Enter->number != Number)
                         return true;
                       enter(Call, Event.Time, *Enter);
                       return false;
                     });
  if (E)
    return E;
  E = T.events(eventBit(CH_EV_SYSCALL_EXIT),
               {Call.Entered.value_or(At), T.instructions()},
               /*Backward=*/false, [&](const answers::TimedEvent &Event) {
                 auto Exit = Event.as<events::SyscallExitEvent>();
                 if (!Exit || Exit->thread != Thread)
                   return true;
                 Call.Returned = Event.Time;
                 Call.Result = Exit->result;
                 return false;
               });
  if (E)
    return E;
  if (Error Failed = addText(T, Call))
    return Failed;
  return Call;
}

namespace {
/// Makes system calls out of their entries and exits, which come in order of
/// time, or newest first.
class SystemCallPairs {
public:
  SystemCallPairs(ArrayRef<uint32_t> Numbers, const SearchOptions &Options)
      : Numbers(Numbers), Options(Options) {}

  /// False: all calls that are wanted are complete.
  bool add(const answers::TimedEvent &Event) {
    if (auto Enter = Event.as<events::SyscallEnterEvent>())
      return !isWanted(*Enter) || addEnter(Event.Time, *Enter);
    if (auto Exit = Event.as<events::SyscallExitEvent>())
      return !isWanted(*Exit) || addExit(Event.Time, *Exit);
    return true;
  }

  std::vector<SystemCall> Calls;
  bool More = false; ///< there was another one

private:
  template <class Event> bool isWanted(const Event &E) const {
    return (!Options.Thread || E.thread == Options.Thread) &&
           (Numbers.empty() || is_contained(Numbers, E.number));
  }

  bool addEnter(Timestamp Time, const events::SyscallEnterEvent &Enter) {
    if (Calls.size() == Options.Limit) {
      More = true;
      return !Options.Backward && !Open.empty();
    }
    SystemCall Call;
    enter(Call, Time, Enter);
    if (!Options.Backward) {
      Open[Enter.thread] = Calls.size();
    } else if (auto It = Exits.find(Enter.thread); It != Exits.end()) {
      finish(Call, It->second);
      Exits.erase(It);
    }
    Calls.push_back(Call);
    return true;
  }

  bool addExit(Timestamp Time, const events::SyscallExitEvent &Exit) {
    if (Options.Backward) {
      Exits[Exit.thread] = {Time, Exit.result};
    } else if (auto It = Open.find(Exit.thread); It != Open.end()) {
      finish(Calls[It->second], {Time, Exit.result});
      Open.erase(It);
    }
    return !More || !Open.empty();
  }

  struct Return {
    Timestamp Time;
    int64_t Result;
  };
  static void finish(SystemCall &Call, Return R) {
    Call.Returned = R.Time;
    Call.Result = R.Result;
  }

  ArrayRef<uint32_t> Numbers;
  const SearchOptions &Options;
  /// By thread: exits whose entry is still to come, and indices in Calls of
  /// entries whose exit is.
  std::map<uint32_t, Return> Exits;
  std::map<uint32_t, size_t> Open;
};
} // namespace

Expected<SearchEnd> searchSystemCalls(const query::Trace &T,
                                      ArrayRef<uint32_t> Numbers,
                                      const SearchOptions &Options,
                                      Visitor<SystemCallAnswer> Visit,
                                      const answers::Cancellation &Cancel) {
  SystemCallPairs Pairs(Numbers, Options);
  Error E = T.events(
      SystemCallEvents, Options.When, Options.Backward,
      [&](const answers::TimedEvent &Event) {
        return Pairs.add(Event) && !Cancel.Cancelled;
      },
      &Cancel);
  AnswerSink<SystemCallAnswer> Sink(Options.Limit, Visit);
  for (SystemCall &Call : Pairs.Calls)
    if (Cancel.Cancelled ||
        !Sink.offer([&] { return answerFor(T, std::move(Call)); }))
      break;
  Expected<SearchEnd> End = Sink.finish(std::move(E));
  if (End)
    End->More = Pairs.More;
  return End;
}

} // namespace chronicle::questions
