// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/heap/HeapQuestions.h"
#include "query/heap/HeapPass.h"
#include "query/questions/CodePlaces.h"
#include "query/reads/ReadIndexFormat.h"
#include "trace-format/GuestState.h"
#include "trace-format/Text.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <map>
#include <mutex>

using namespace llvm;

namespace chronicle::heap {

/// Finds out whether and when a call returned that a block ends in the middle
/// of, and with what.
static Error findReturn(const query::Trace &T, AllocatorKind Kind,
                        OpenCall &O) {
  AllocatorCall &C = O.Call;
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(C.Call.Thread, C.Call.Time, 1);
  if (!Stack)
    return Stack.takeError();
  if (Stack->empty())
    return Error::success();
  Expected<std::optional<Timestamp>> Return = T.returnOf(Stack->front());
  if (!Return)
    return Return.takeError();
  if (!*Return)
    return Error::success();
  Expected<answers::Registers> R = T.registers(C.Call.Thread, **Return);
  if (!R)
    return R.takeError();
  // An exception or longjmp() may have left it.
  if (R->rip() != C.ReturnAddress || R->rsp() != O.StackPointer + 8)
    return Error::success();
  C.DidReturn = true;
  C.Returned = **Return;
  C.Result = R->word(CH_OFFSET_RAX);
  if (Kind != AllocatorKind::StoreAligned)
    return Error::success();
  Expected<answers::MemoryContents> M = T.memory(C.Arguments[0], 8, C.Returned);
  if (!M)
    return M.takeError();
  C.Result =
      uint32_t(C.Result) ? 0 : support::endian::read64le(M->Bytes.data());
  return Error::success();
}

/// Whether an allocator frees the block for itself: it calls its own function,
/// and no code of the program is under way. Without the last condition a file
/// that is closed twice would not be seen, because fclose() is in the same
/// library as free(). Costs a call stack.
static Expected<bool> isHousekeeping(const query::Trace &T,
                                     const AllocatorCall &C) {
  const state::ModuleLoad *Own = T.symbols().moduleAt(C.Entry, C.Call.Time);
  if (!Own || Own != T.symbols().moduleAt(C.ReturnAddress, C.Call.Time))
    return false;
  // What is linked statically is one module, but has names.
  if (std::optional<symbols::CodeSymbol> Caller =
          T.symbols().find(C.ReturnAddress - 1, C.Call.Time))
    if (any_of(Caller->Frames, [](const symbols::SourceFrame &F) {
          return F.Function == "tcache_thread_shutdown" ||
                 F.Function == "__malloc_arena_thread_freeres";
        }))
      return true;
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(C.Call.Thread, C.Call.Time);
  if (!Stack)
    return Stack.takeError();
  return questions::isSystemLibrary(Own->Info.Path) &&
         all_of(drop_begin(*Stack), [&](const answers::Activation &A) {
           return T.symbols().moduleAt(A.Pc, C.Call.Time) == Own;
         });
}

static Expected<std::shared_ptr<const HeapHistory>>
makeHistory(const query::Trace &T, ArrayRef<std::string> Pairs,
            const answers::IndexProgress &Progress) {
  std::vector<AllocatorFunction> Functions = standardAllocators();
  for (const std::string &Pair : Pairs) {
    Expected<std::vector<AllocatorFunction>> Both = allocatorPair(Pair);
    if (!Both)
      return Both.takeError();
    for (AllocatorFunction &F : *Both) {
      if (allocatorEntries(T.symbols(), F).empty())
        return createStringError(questions::unknownFunction(T, F.Name));
      // Its name counts more than a standard one.
      Functions.insert(Functions.begin(), std::move(F));
    }
  }
  HeapPass Pass(T.reader(), Functions, allocatorEntries(T.symbols(), Functions),
                [&](OpenCall &O) {
                  return findReturn(T, Functions[O.Call.Call.Function].Kind, O);
                });
  passes::PassOptions Options;
  Options.Cancel = Progress.Cancel;
  if (Progress.Step)
    Options.Progress = [&](uint64_t Done) {
      Progress.Step(Done, T.instructions());
    };
  if (Error E = passes::runPass(T.reader(), Pass, Options))
    return E;
  if (Progress.Cancel && Progress.Cancel->Cancelled)
    return nullptr;
  DenseSet<uint64_t> Sites; // one per allocator, however often it calls
  return std::make_shared<const HeapHistory>(
      Pass.history([&](const AllocatorCall &C) {
        if (Sites.contains(C.ReturnAddress))
          return true;
        Expected<bool> Own = isHousekeeping(T, C);
        if (!Own) {
          consumeError(Own.takeError()); // nothing may be claimed then
          return true;
        }
        if (*Own)
          Sites.insert(C.ReturnAddress);
        return *Own;
      }));
}

Expected<std::shared_ptr<const HeapHistory>>
heapHistory(const query::Trace &T, ArrayRef<std::string> Pairs,
            const answers::IndexProgress &Progress) {
  // By run, not by trace object: a history holds no pointer into either.
  static std::mutex Lock;
  static std::map<std::pair<uint64_t, std::string>,
                  std::shared_ptr<const HeapHistory>>
      Known;
  const std::pair Key(reads::identityOf(T.reader()), join(Pairs, "\n"));
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (auto It = Known.find(Key); It != Known.end())
      return It->second;
  }
  Expected<std::shared_ptr<const HeapHistory>> Made =
      makeHistory(T, Pairs, Progress);
  if (Made && *Made) {
    std::lock_guard<std::mutex> Guard(Lock);
    Known[Key] = *Made;
  }
  return Made;
}

Expected<HeapCallAnswer>
heapCall(const query::Trace &T, const HeapHistory &Heap, const HeapCall &Call) {
  HeapCallAnswer Answer{Call, Heap.functions()[Call.Function].Name, {}};
  Expected<std::vector<questions::FrameAnswer>> Stack =
      questions::callStack(T, Call.Thread, Call.Time);
  if (!Stack)
    return Stack.takeError();
  if (!Stack->empty())
    Answer.Stack.assign(Stack->begin() + 1, Stack->end());
  return Answer;
}

const questions::FrameAnswer *responsibleFrame(const HeapCallAnswer &C) {
  for (const questions::FrameAnswer &F : C.Stack)
    if (F.Where.Symbol && !questions::isSystemCode(F.Where))
      return &F;
  return C.Stack.empty() ? nullptr : &C.Stack.front();
}

Expected<HeapAnswer> heapBlock(const query::Trace &T, const HeapHistory &Heap,
                               const HeapBlock &Block, uint64_t Address,
                               Timestamp At) {
  HeapAnswer Answer;
  Answer.Block = Block;
  Answer.Offset = Address - Block.Address;
  Answer.Live = Block.liveAt(At);
  if (Error E = heapCall(T, Heap, Block.Allocated).moveInto(Answer.Allocated))
    return E;
  for (const HeapBlock *B : Heap.at(Address))
    Answer.Before += B->Since < Block.Since;
  if (!Block.Freed)
    return Answer;
  if (Error E =
          heapCall(T, Heap, *Block.Freed).moveInto(Answer.Freed.emplace()))
    return E;
  for (const BadFree &F : Heap.badFrees()) {
    if (F.Address != Block.Address || F.Call.Time <= Block.Freed->Time)
      continue;
    // Another block may have been there meanwhile.
    const HeapBlock *Last = Heap.blockAt(Block.Address, F.Call.Time);
    if (!Last || Last->Since != Block.Since)
      continue;
    if (Error E =
            heapCall(T, Heap, F.Call).moveInto(Answer.FreedAgain.emplace()))
      return E;
    break;
  }
  return Answer;
}

Expected<std::optional<HeapAnswer>> heapBlockAt(const query::Trace &T,
                                                const HeapHistory &Heap,
                                                uint64_t Address,
                                                Timestamp At) {
  const HeapBlock *Block = Heap.blockAt(Address, At);
  if (!Block)
    return std::nullopt;
  Expected<HeapAnswer> Answer = heapBlock(T, Heap, *Block, Address, At);
  if (!Answer)
    return Answer.takeError();
  return std::move(*Answer);
}

Expected<LiveHeap> liveHeap(const query::Trace &T, const HeapHistory &Heap,
                            Timestamp At, const answers::Cancellation &Cancel) {
  std::map<std::vector<uint64_t>, HeapGroup> Groups;
  LiveHeap Result;
  for (const HeapBlock &B : Heap.blocks()) {
    if (!B.liveAt(At))
      continue;
    ++Result.Blocks;
    Result.Bytes += B.Size;
    if (Cancel.Cancelled) {
      Result.Complete = false;
      continue;
    }
    Expected<HeapCallAnswer> Made = heapCall(T, Heap, B.Allocated);
    if (!Made)
      return Made.takeError();
    std::vector<uint64_t> Stack;
    for (const questions::FrameAnswer &F : Made->Stack)
      Stack.push_back(F.Where.Pc);
    HeapGroup &G = Groups[Stack];
    ++G.Blocks;
    G.Bytes += B.Size;
    G.Last = B;
    G.Call = std::move(*Made);
  }
  for (auto &Item : Groups)
    Result.Groups.push_back(std::move(Item.second));
  llvm::stable_sort(Result.Groups, [](const HeapGroup &A, const HeapGroup &B) {
    return A.Bytes > B.Bytes;
  });
  return Result;
}

/// "by ~Session at session.cpp:88".
static std::string byText(const HeapCallAnswer &C) {
  const questions::FrameAnswer *F = responsibleFrame(C);
  if (!F || !F->Where.Symbol)
    return "";
  const symbols::SourceFrame &Inner = F->Where.Symbol->Frames.front();
  std::string Text = Inner.Function.empty() ? "" : " by " + Inner.Function;
  if (!Inner.File.empty())
    Text += formatv(" at {0}:{1}", sys::path::filename(Inner.File), Inner.Line);
  return Text;
}

std::string heapLine(const HeapAnswer &A) {
  const HeapBlock &B = A.Block;
  std::string Text = formatv("{0:x} is ", B.Address + A.Offset);
  Text +=
      A.Offset
          ? formatv("{0} bytes inside a block of {1}", A.Offset, B.Size).str()
          : formatv("the start of a block of {0}", B.Size).str();
  const bool Freed = A.Freed && !A.Live;
  const HeapCallAnswer &Call = Freed ? *A.Freed : A.Allocated;
  return Text + (Freed ? ", freed at " : ", allocated at ") +
         groupedDigits(Call.Call.Time) + byText(Call);
}

/// The last bad free that is under way at the end of the run.
static Expected<const BadFree *> badFreeAtEnd(const query::Trace &T,
                                              const HeapHistory &Heap) {
  if (Heap.badFrees().empty())
    return nullptr;
  const BadFree &Last = Heap.badFrees().back();
  Expected<std::vector<answers::Activation>> Then =
      T.callStack(Last.Call.Thread, Last.Call.Time, 1);
  if (!Then)
    return Then.takeError();
  Expected<std::vector<answers::Activation>> AtEnd =
      T.callStack(Last.Call.Thread, T.instructions());
  if (!AtEnd) {
    consumeError(AtEnd.takeError()); // the thread has ended
    return nullptr;
  }
  const bool UnderWay =
      !Then->empty() && any_of(*AtEnd, [&](const answers::Activation &A) {
        return A.Entry == Then->front().Entry;
      });
  return UnderWay ? &Last : nullptr;
}

Expected<std::string> crashNote(const query::Trace &T, const HeapHistory &Heap,
                                std::optional<uint64_t> FaultAddress) {
  if (FaultAddress) {
    Expected<std::optional<HeapAnswer>> Block =
        heapBlockAt(T, Heap, *FaultAddress, T.instructions());
    if (!Block)
      return Block.takeError();
    return *Block ? heapLine(**Block) : std::string();
  }
  Expected<const BadFree *> Bad = badFreeAtEnd(T, Heap);
  if (!Bad)
    return Bad.takeError();
  if (!*Bad)
    return std::string();
  const BadFree &Free = **Bad;
  Expected<HeapCallAnswer> Call = heapCall(T, Heap, Free.Call);
  if (!Call)
    return Call.takeError();
  const std::string Here =
      "at " + groupedDigits(Free.Call.Time) + byText(*Call);
  Expected<std::optional<HeapAnswer>> Block =
      heapBlockAt(T, Heap, Free.Address, Free.Call.Time);
  if (!Block)
    return Block.takeError();
  if (!*Block)
    return formatv("{0:x} is freed {1}, but no known allocator returned it",
                   Free.Address, Here)
        .str();
  return heapLine(**Block) +
         ((*Block)->Live ? ", and freed " : ", and again ") + Here;
}

} // namespace chronicle::heap
