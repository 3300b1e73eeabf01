// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// heap.

#include "lldb-plugin/causes/CauseCommands.h"
#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "lldb-plugin/values/ValueText.h"
#include "query/heap/HeapQuestions.h"
#include "query/json/JsonValues.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::causes {

using namespace commands;
using heap::HeapAnswer;
using heap::HeapBlock;
using heap::HeapCallAnswer;
using heap::HeapHistory;

/// The history of the heap. The first question makes it.
static Expected<std::shared_ptr<const HeapHistory>>
heapOf(CommandCall &Call, target::LoadedTrace &Loaded) {
  std::vector<std::string> Pairs;
  for (StringRef Pair : Call.values("allocator"))
    Pairs.push_back(Pair.str());
  return Call.make<std::shared_ptr<const HeapHistory>>(
      "Looking for calls of allocators, once for this session",
      [&](const answers::IndexProgress &Progress) {
        return heap::heapHistory(Loaded.trace(), Pairs, Progress);
      });
}

/// The address that the words or --address name: that of an object, or the
/// value of a pointer.
static Expected<uint64_t> addressOf(CommandCall &Call) {
  std::string Text =
      Call.has("address") ? Call.value("address").str() : Call.text();
  if (Text.empty())
    return createStringError("missing argument: give a pointer, an object or "
                             "-a address");
  uint64_t Number;
  if (!StringRef(Text).getAsInteger(0, Number))
    return Number;
  lldb::SBFrame Frame = Call.selectedFrame();
  lldb::SBValue Value = Frame.GetValueForVariablePath(Text.c_str());
  if (!Value.IsValid() || Value.GetError().Fail())
    Value = Frame.EvaluateExpression(Text.c_str());
  if (!Value.IsValid() || Value.GetError().Fail())
    return createStringError(formatv("cannot evaluate '{0}' here: {1}", Text,
                                     values::errorText(Value.GetError())));
  lldb::SBType Type = Value.GetType();
  const bool IsObject =
      !Type.IsPointerType() && Value.GetLoadAddress() != LLDB_INVALID_ADDRESS;
  if (Type.IsReferenceType())
    return Value.Dereference().GetLoadAddress();
  return IsObject ? Value.GetLoadAddress() : Value.GetValueAsUnsigned();
}

/// "at 1,203,441, thread 1: malloc", and a line per frame.
static std::string callText(const HeapCallAnswer &C, const target::Style &How) {
  constexpr size_t MostFrames = 16;
  std::string Text = formatv("at {0}, thread {1}: {2}\n", How.time(C.Call.Time),
                             C.Call.Thread, C.Function);
  for (const questions::FrameAnswer &F :
       ArrayRef(C.Stack).take_front(MostFrames)) {
    std::string Place = target::placeOf(F.Where, How);
    Text += "    <- " +
            How.place(Place.empty() ? jsonapi::hexNumber(F.Where.Pc) : Place) +
            "\n";
  }
  if (C.Stack.size() > MostFrames)
    Text += formatv("    and {0} more frames\n", C.Stack.size() - MostFrames);
  return Text;
}

static std::string stateText(const HeapAnswer &A) {
  if (A.Live)
    return "";
  if (A.Freed)
    return ", which is freed";
  return ", whose memory was handed out again";
}

static Error printBlock(CommandCall &Call, const HeapAnswer &A) {
  if (Call.json()) {
    Call.printJson(jsonapi::toJSON(A));
    return Error::success();
  }
  const target::Style How = Call.style();
  const HeapBlock &B = A.Block;
  Call.print(formatv("{0:x} is {1} a block of {2} bytes{3}{4}\n",
                     B.Address + A.Offset,
                     A.Offset ? formatv("{0} bytes inside", A.Offset).str()
                              : "the start of",
                     groupedDigits(B.Size),
                     A.Offset ? formatv(" at {0:x}", B.Address).str() : "",
                     stateText(A))
                 .str());
  Call.print("  allocated " + callText(A.Allocated, How));
  if (A.Freed)
    Call.print("  freed " + callText(*A.Freed, How));
  else
    Call.print(B.Reused ? formatv("  its memory was handed out again at {0}, "
                                  "although nothing was seen that freed it\n",
                                  groupedDigits(*B.Reused))
                              .str()
                        : std::string("  never freed\n"));
  if (A.FreedAgain)
    Call.print("  freed again, although it was free, " +
               callText(*A.FreedAgain, How));
  if (A.Before)
    Call.print(formatv("  the address was in {0} earlier block{1}: 'chronicle "
                       "heap --history' lists them\n",
                       groupedDigits(A.Before), A.Before == 1 ? "" : "s")
                   .str());
  return Error::success();
}

static std::string who(const HeapCallAnswer &C, const target::Style &How) {
  const questions::FrameAnswer *F = heap::responsibleFrame(C);
  std::string Place = F ? target::placeOf(F->Where, How) : "";
  return C.Function + (Place.empty() ? "" : " <- " + Place);
}

/// Every block that the address was in, newest first.
static Error history(CommandCall &Call, target::LoadedTrace &Loaded,
                     const HeapHistory &Heap, uint64_t Address) {
  Expected<uint64_t> Limit = Call.limitOption();
  if (!Limit)
    return Limit.takeError();
  std::vector<const HeapBlock *> Blocks = Heap.at(Address);
  std::reverse(Blocks.begin(), Blocks.end());
  SearchStatus Status;
  Status.More = Blocks.size() > *Limit;
  const target::Style How = Call.style();
  json::Array Results;
  target::Table Rows({{"allocated", target::Table::Role::Time},
                      {"freed", target::Table::Role::Time},
                      "size",
                      "offset",
                      {"by", target::Table::Role::Place},
                      {"freed by", target::Table::Role::Place}});
  for (const HeapBlock *B :
       ArrayRef(Blocks).take_front(std::min<size_t>(*Limit, Blocks.size()))) {
    if (Call.interrupted()) {
      Status.Interrupted = true;
      break;
    }
    Expected<HeapAnswer> A = heap::heapBlock(Loaded.trace(), Heap, *B, Address,
                                             Loaded.position().Time);
    if (!A)
      return A.takeError();
    if (Call.json())
      Results.push_back(jsonapi::toJSON(*A));
    else
      Rows.add({groupedDigits(B->Allocated.Time),
                B->Freed ? groupedDigits(B->Freed->Time) : "",
                groupedDigits(B->Size), groupedDigits(A->Offset),
                who(A->Allocated, How), A->Freed ? who(*A->Freed, How) : ""});
  }
  if (Call.json()) {
    Call.printResults(std::move(Results), Status);
    return Error::success();
  }
  Call.print(Rows, "No block of the heap was ever there.");
  Call.printEnd(Status);
  return Error::success();
}

/// What is allocated at a moment, by call stack.
static Error live(CommandCall &Call, target::LoadedTrace &Loaded,
                  const HeapHistory &Heap) {
  Expected<uint64_t> Limit = Call.limitOption();
  if (!Limit)
    return Limit.takeError();
  Timestamp At = Loaded.position().Time;
  if (Call.has("at")) {
    Expected<session::Position> There =
        target::parseMoment(Loaded.trace(), Call.value("at"), At);
    if (!There)
      return There.takeError();
    At = There->Time;
  }
  std::optional<Expected<heap::LiveHeap>> Found;
  SearchStatus Status;
  Status.Interrupted =
      Call.interruptibly("heap", [&](const answers::Cancellation &Cancel) {
        Found.emplace(heap::liveHeap(Loaded.trace(), Heap, At, Cancel));
      });
  if (!*Found)
    return Found->takeError();
  std::vector<heap::HeapGroup> &Groups = (*Found)->Groups;
  Status.More = Groups.size() > *Limit;
  if (Status.More)
    Groups.resize(*Limit);
  if (Call.json()) {
    json::Array Results;
    for (const heap::HeapGroup &G : Groups)
      Results.push_back(jsonapi::toJSON(G));
    Call.printResults(std::move(Results), Status);
    return Error::success();
  }
  const target::Style How = Call.style();
  Call.print(formatv("{0} blocks with {1} bytes are allocated at time {2}\n",
                     groupedDigits((*Found)->Blocks),
                     groupedDigits((*Found)->Bytes), How.time(At))
                 .str());
  for (const heap::HeapGroup &G : Groups)
    Call.print(formatv("{0} bytes in {1} block{2}, the last one at {3:x} ",
                       groupedDigits(G.Bytes), groupedDigits(G.Blocks),
                       G.Blocks == 1 ? "" : "s", G.Last.Address)
                   .str() +
               callText(G.Call, How));
  Call.printEnd(Status);
  return Error::success();
}

static Error heapCommand(CommandCall &Call, target::LoadedTrace &Loaded) {
  const bool Live = Call.has("live"), History = Call.has("history");
  if (Live + History > 1)
    return createStringError("give --live or --history, not both");
  if (Live && (!Call.words().empty() || Call.has("address")))
    return createStringError("--live is about all blocks: it takes no address");
  if (Call.has("at") && !Live)
    return createStringError("--at needs --live; without it, 'chronicle goto' "
                             "the moment first");
  uint64_t Address = 0;
  if (!Live)
    if (Error E = addressOf(Call).moveInto(Address))
      return E;
  Expected<std::shared_ptr<const HeapHistory>> Heap = heapOf(Call, Loaded);
  if (!Heap)
    return Heap.takeError();
  if (Live)
    return live(Call, Loaded, **Heap);
  if (History)
    return history(Call, Loaded, **Heap, Address);
  Expected<std::optional<HeapAnswer>> Found = heap::heapBlockAt(
      Loaded.trace(), **Heap, Address, Loaded.position().Time);
  if (!Found)
    return Found.takeError();
  if (!*Found)
    return createStringError(
        formatv("{0:x} is in no block of the heap, and never was until time "
                "{1}",
                Address, groupedDigits(Loaded.position().Time)));
  return printBlock(Call, **Found);
}

ArrayRef<CommandSpec> heapCommands() {
  static const OptionSpec Options[] = {
      {"address", 'a', "address",
       "This address, instead of an expression. A number or an expression."},
      {"history", 0, nullptr, "Every block that the address was ever in."},
      {"live", 0, nullptr,
       "All blocks that are allocated, by the call stacks that allocated "
       "them, most bytes first. At the end of the run these are leaks."},
      {"at", 0, "moment", "With --live: at this moment instead of now.",
       Completes::Moment},
      {"allocator", 0, "allocate:free",
       "Also blocks of these two functions; may be repeated. The first one "
       "takes a size and returns the block, the second one takes the block."},
      LimitOption,
      FullOption,
      JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "heap",
       .Run = heapCommand,
       .Help = "Show the block of the heap that a pointer points into: who "
               "allocated it, and who freed it.",
       .Arguments = "<expression> | -a <address> | --history <expression> | "
                    "--live [--at <moment>]",
       .Details =
           "A pointer stands for the address in it, anything else for its own "
           "address. If the block is free at this moment, it is the last one "
           "that was there: the pointer dangles. Knows malloc, calloc, realloc "
           "and their relatives, every form of new and delete, and by "
           "--allocator others.\nThe first question of a session replays the "
           "run to find all calls of these functions.\n",
       .Examples = "  chronicle heap Session->Peer\n"
                   "  chronicle heap -a 0x4a2f310\n"
                   "  chronicle heap --history Session\n"
                   "  chronicle heap --live --at end\n"
                   "  chronicle heap --allocator pool_take:pool_give Item\n",
       .Options = Options,
       .Words = Completes::Expression},
  };
  return Table;
}

} // namespace chronicle::causes
