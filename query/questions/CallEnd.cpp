// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/CallEnd.h"
#include "query/symbols/Symbols.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace chronicle::questions {

StringRef nameOf(CallEnd::Kind How) {
  switch (How) {
  case CallEnd::Kind::Return:
    return "return";
  case CallEnd::Kind::Exception:
    return "exception";
  case CallEnd::Kind::Longjmp:
    return "longjmp";
  case CallEnd::Kind::Jump:
    return "jump";
  case CallEnd::Kind::ThreadEnd:
    return "thread-end";
  case CallEnd::Kind::RunEnd:
    return "run-end";
  }
  llvm_unreachable("there is no other way to leave a call");
}

/// The names of the functions that the frame's code and its first instruction
/// belong to. A library without debug info may name only one of them.
static bool isIn(const query::Trace &T, const answers::Activation &A,
                 Timestamp Time, function_ref<bool(StringRef)> IsIt) {
  for (uint64_t Pc : {A.Pc, A.Callee})
    if (auto Symbol = T.symbols().find(Pc, Time))
      if (IsIt(Symbol->Frames.back().LinkageName) ||
          IsIt(Symbol->Frames.back().Function))
        return true;
  return false;
}

/// What the functions of Inner were doing when they left a call by other means
/// than a return: they are the frames from the innermost one to the call.
static CallEnd::Kind kindOf(const query::Trace &T,
                            ArrayRef<answers::Activation> Inner,
                            Timestamp Time) {
  auto Some = [&](function_ref<bool(StringRef)> IsIt) {
    return any_of(Inner, [&](const answers::Activation &A) {
      return isIn(T, A, Time, IsIt);
    });
  };
  // The end of a thread unwinds its frames too, and longjmps at the end.
  if (Some([](StringRef Name) {
        return Name == "_Unwind_ForcedUnwind" ||
               Name.contains("pthread_exit") ||
               Name.contains("pthread_unwind") || Name == "sigcancel_handler";
      }))
    return CallEnd::Kind::ThreadEnd;
  if (Some([](StringRef Name) { return Name.contains("longjmp"); }))
    return CallEnd::Kind::Longjmp;
  if (Some([](StringRef Name) {
        return Name.starts_with("_Unwind_") || Name.ends_with("unw_resume") ||
               Name.starts_with("__cxa_throw") ||
               Name.starts_with("__cxa_rethrow");
      }))
    return CallEnd::Kind::Exception;
  return CallEnd::Kind::Jump;
}

static bool same(const answers::Activation &A, const answers::Activation &B) {
  return A.Entry == B.Entry && A.StackPointer == B.StackPointer &&
         A.Signal == B.Signal && !A.Jumped && !B.Jumped;
}

/// The return address that the call pushed, or the kernel for a handler.
static Expected<std::optional<uint64_t>>
returnAddress(const query::Trace &T, const answers::Activation &A) {
  if (A.Return)
    return A.Return;
  Expected<answers::MemoryContents> M = T.memory(A.StackPointer, 8, A.Entry);
  if (!M)
    return M.takeError();
  if (M->Mapped.size() != 1 || M->Mapped[0] != std::pair(0ul, 8ul))
    return std::nullopt;
  return support::endian::read64le(M->Bytes.data());
}

/// Whether the call, which is over at Left, returned: an instruction of its own
/// went to its return address.
static Expected<bool> returnsAt(const query::Trace &T,
                                const answers::Activation &A, Timestamp Left) {
  Expected<std::vector<answers::Activation>> Before =
      T.callStack(A.Thread, Left - 1, 1);
  if (!Before)
    return Before.takeError();
  if (Before->empty() || !same(Before->front(), A))
    return false;
  // Handlers of signals may come before the code that it returned to.
  constexpr size_t MostHandlers = 64;
  Expected<std::vector<answers::Activation>> After =
      T.callStack(A.Thread, Left, 1 + MostHandlers);
  if (!After)
    return After.takeError();
  auto There = find_if(*After, [&](const answers::Activation &Each) {
    return !Each.Signal || Each.Entry != Left;
  });
  Expected<std::optional<uint64_t>> Wanted = returnAddress(T, A);
  if (!Wanted)
    return Wanted.takeError();
  return There != After->end() && *Wanted == There->Pc;
}

Expected<CallEnd> endOf(const query::Trace &T, const answers::Activation &A) {
  CallEnd Result;
  if (Error E = T.returnOf(A).moveInto(Result.Time))
    return E;
  if (!Result.Time) {
    auto *Thread = find_if(T.allThreads(), [&](const answers::ThreadInfo &I) {
      return I.Number == A.Thread;
    });
    if (Thread != T.allThreads().end())
      Result.Time = Thread->Exited;
    Result.How = Result.Time ? CallEnd::Kind::ThreadEnd : CallEnd::Kind::RunEnd;
    return Result;
  }
  const Timestamp Left = *Result.Time;
  Expected<bool> Returned = returnsAt(T, A, Left);
  if (!Returned)
    return Returned.takeError();
  if (*Returned) {
    // A return changes nothing but the stack pointer. A signal may have changed
    // more by the moment after it.
    Expected<answers::Registers> R = T.registers(A.Thread, Left - 1);
    if (!R)
      return R.takeError();
    Result.How = CallEnd::Kind::Return;
    Result.Value = R->word(CH_OFFSET_RAX);
    return Result;
  }
  Expected<std::vector<answers::Activation>> Before =
      T.callStack(A.Thread, Left - 1);
  if (!Before)
    return Before.takeError();
  auto Own = find_if(
      *Before, [&](const answers::Activation &Each) { return same(Each, A); });
  const size_t Inner = Own == Before->end() ? 1 : Own - Before->begin() + 1;
  Result.How = kindOf(T, ArrayRef(*Before).take_front(Inner), Left - 1);
  return Result;
}

} // namespace chronicle::questions
