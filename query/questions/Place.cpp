// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/Place.h"
#include "query/questions/QueryError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::questions {

Place placeAt(const query::Trace &T, uint64_t Pc, Timestamp At) {
  return {Pc, T.symbols().find(Pc, At)};
}

static bool isSystemPath(StringRef Path, ArrayRef<StringRef> Folders) {
  return any_of(Folders, [&](StringRef Folder) {
    return Path.starts_with(Folder) && Path.substr(Folder.size(), 1) == "/";
  });
}

bool isSystemLibrary(StringRef Path) {
  // A program there, such as a compiler, is what the user debugs.
  return sys::path::filename(Path).contains(".so") &&
         isSystemPath(Path, {"/lib", "/lib32", "/lib64", "/libx32", "/usr/lib",
                             "/usr/lib32", "/usr/lib64", "/usr/libx32",
                             "/usr/libexec/valgrind"});
}

/// How many of the place's frames, from the innermost on, are the system's.
static size_t systemFrames(const Place &Where) {
  if (!Where.Symbol)
    return 0;
  const symbols::CodeSymbol &S = *Where.Symbol;
  if (isSystemLibrary(S.Module->Info.Path))
    return S.Frames.size();
  auto Outside = find_if(S.Frames, [](const symbols::SourceFrame &F) {
    return !isSystemPath(F.File, {"/usr/include", "/usr/lib"});
  });
  return Outside - S.Frames.begin();
}

bool isSystemCode(const Place &Where) { return systemFrames(Where) > 0; }

/// The place without the frames that are the system's. False: none is left.
static bool leaveSystemCode(Place &Where) {
  size_t System = systemFrames(Where);
  if (!System)
    return true;
  auto &Frames = Where.Symbol->Frames;
  if (System == Frames.size())
    return false;
  Frames.erase(Frames.begin(), Frames.begin() + System);
  return true;
}

static bool needsCaller(const Place &Where) {
  return !Where.Symbol || isSystemCode(Where);
}

std::optional<Place> callerOfSystemCode(const query::Trace &T,
                                        const Place &Where,
                                        ArrayRef<answers::Activation> Callers,
                                        Timestamp At) {
  if (!needsCaller(Where))
    return std::nullopt;
  Place Caller = Where;
  if (Where.Symbol && leaveSystemCode(Caller))
    return Caller;
  for (const answers::Activation &A : Callers) {
    if (!A.Pc)
      continue;
    Caller = placeAt(T, A.Pc, At);
    // Another place in no module would not say more than the first one.
    if ((Where.Symbol || Caller.Symbol) && leaveSystemCode(Caller))
      return Caller;
  }
  return std::nullopt;
}

Expected<std::optional<Place>> callerOfSystemCode(const query::Trace &T,
                                                  const Place &Where,
                                                  uint32_t Thread,
                                                  Timestamp At) {
  if (std::optional<Place> Caller =
          callerOfSystemCode(T, Where, ArrayRef<answers::Activation>(), At))
    return Caller;
  if (!needsCaller(Where))
    return std::nullopt;
  Expected<std::vector<answers::Activation>> Stack = T.callStack(Thread, At);
  if (!Stack)
    return Stack.takeError();
  // Frames above the place, such as a signal handler's, do not count.
  auto Start = find_if(
      *Stack, [&](const answers::Activation &A) { return A.Pc == Where.Pc; });
  return callerOfSystemCode(
      T, Where, ArrayRef(*Stack).drop_front(Start - Stack->begin()), At);
}

Expected<uint32_t> liveThread(const query::Trace &T, uint32_t Thread,
                              Timestamp At) {
  if (!Thread)
    return T.threadAt(At);
  Expected<std::vector<answers::ThreadInfo>> Threads = T.threads(At);
  if (!Threads)
    return Threads.takeError();
  if (any_of(*Threads,
             [&](const answers::ThreadInfo &I) { return I.Number == Thread; }))
    return Thread;
  return queryError("not-found",
                    "there is no thread " + Twine(Thread) + " at " + Twine(At));
}

} // namespace chronicle::questions
