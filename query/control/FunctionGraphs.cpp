// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/control/FunctionGraphs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::control {

/// The linker's name of the function that the address belongs to.
static StringRef symbolName(const query::Trace &T, const symbols::CodeSymbol &S,
                            uint64_t Address) {
  const symbols::SymbolFile *File = T.symbols().fileOf(*S.Module);
  const std::optional<symbols::FileSymbol> Found =
      File ? File->function(Address - S.Module->Bias) : std::nullopt;
  return Found ? Found->Name : StringRef();
}

/// Functions of the system that never return to their caller.
static bool isKnownNotToReturn(StringRef Name) {
  static const StringSet<> Known = {"abort",
                                    "exit",
                                    "_exit",
                                    "_Exit",
                                    "quick_exit",
                                    "__assert_fail",
                                    "__assert_perror_fail",
                                    "__assert",
                                    "__stack_chk_fail",
                                    "__fortify_fail",
                                    "__chk_fail",
                                    "__libc_fatal",
                                    "longjmp",
                                    "siglongjmp",
                                    "_longjmp",
                                    "__longjmp_chk",
                                    "pthread_exit",
                                    "thrd_exit",
                                    "err",
                                    "errx",
                                    "verr",
                                    "verrx",
                                    "__cxa_throw",
                                    "__cxa_rethrow",
                                    "__cxa_bad_cast",
                                    "__cxa_bad_typeid",
                                    "__cxa_throw_bad_array_new_length",
                                    "__cxa_pure_virtual",
                                    "_Unwind_Resume",
                                    "_ZSt9terminatev",
                                    "__clang_call_terminate"};
  return Known.contains(Name) || Name.starts_with("_ZSt20__throw_") ||
         (Name.starts_with("_ZSt") && Name.contains("__throw_"));
}

/// Where an indirect jump was seen to go. All runs of it count, of all calls.
SmallVector<uint64_t, 8> FunctionGraphs::targetsOf(uint64_t Jump) const {
  constexpr unsigned Most = 256;
  SmallVector<uint64_t, 8> Result;
  unsigned Count = 0;
  Error E = T.executions(
      {Jump, Jump}, {0, T.instructions()}, /*Thread=*/0, /*Backward=*/false,
      [&](const answers::Execution &X) {
        if (X.Time + 1 < T.instructions()) {
          Expected<answers::Registers> R = T.registers(X.Thread, X.Time + 1);
          if (!R)
            consumeError(R.takeError()); // the thread ended
          else if (!is_contained(Result, R->rip()))
            Result.push_back(R->rip());
        }
        return ++Count < Most;
      },
      &Cancel);
  // Targets that are missing make answers less certain, never wrong.
  consumeError(std::move(E));
  return Result;
}

bool FunctionGraphs::neverReturns(uint64_t Entry, unsigned Depth) {
  constexpr unsigned Deepest = 4;
  auto [It, New] = Returning.try_emplace(Entry, true);
  if (!New)
    return !It->second;
  const std::optional<symbols::CodeSymbol> S = T.symbols().find(Entry, At);
  if (!S || S->Frames.empty())
    return false;
  if (isKnownNotToReturn(symbolName(T, *S, Entry).split('@').first))
    return !(Returning[Entry] = false);
  // Only the program's own small functions are worth decoding.
  constexpr uint64_t Longest = 4096;
  if (Depth == Deepest || S->FunctionAddress != Entry ||
      S->FunctionSize > Longest)
    return false;
  Expected<const FunctionGraph *> G = graphOf(Entry, Depth + 1);
  if (!G) {
    consumeError(G.takeError()); // as if it returned
    return false;
  }
  return !(Returning[Entry] = (*G)->returns());
}

Expected<const FunctionGraph *> FunctionGraphs::graphOf(uint64_t Entry,
                                                        unsigned Depth) {
  auto [It, New] = Graphs.try_emplace(Entry);
  if (!New) {
    if (It->second)
      return &*It->second;
    return createStringError(Problems[Entry]);
  }
  auto Fail = [&](const Twine &Why) {
    Problems[Entry] = Why.str();
    return createStringError(Why);
  };
  const std::optional<symbols::CodeSymbol> S = T.symbols().find(Entry, At);
  if (!S || !S->FunctionSize)
    return Fail(
        formatv("no symbol says where the function at {0:x} ends", Entry)
            .str());
  const StringRef Name = symbolName(T, *S, Entry);
  struct Part {
    uint64_t Address;
    std::vector<uint8_t> Bytes;
  };
  std::vector<Part> Parts;
  Error Failed = Error::success();
  auto Read = [&](uint64_t Address, uint64_t Size) {
    Expected<answers::MemoryContents> M = T.memory(Address, Size, At);
    if (!M)
      Failed = joinErrors(std::move(Failed), M.takeError());
    else
      Parts.push_back({Address, std::move(M->Bytes)});
  };
  Read(S->FunctionAddress, S->FunctionSize);
  auto PartAt = [&](uint64_t Address) -> const Part * {
    for (const Part &P : Parts)
      if (Address - P.Address < P.Bytes.size())
        return &P;
    return nullptr;
  };
  auto Bytes = [&](uint64_t Address) {
    SmallVector<uint8_t, 16> Result;
    constexpr size_t Longest = 15;
    if (const Part *P = PartAt(Address)) {
      ArrayRef<uint8_t> Left =
          ArrayRef(P->Bytes).drop_front(Address - P->Address);
      append_range(Result, Left.take_front(Longest));
    }
    return Result;
  };
  auto IsInside = [&](uint64_t Address) {
    if (PartAt(Address))
      return true;
    const std::optional<symbols::CodeSymbol> Other =
        T.symbols().find(Address, At);
    if (!Other || Other->Module != S->Module || !Other->FunctionSize)
      return false;
    // A part that the compiler moved away: "f.cold", "f.cold.3".
    const auto [Of, Suffix] = symbolName(T, *Other, Address).split('.');
    if (Of != Name || !Suffix.starts_with("cold"))
      return false;
    Read(Other->FunctionAddress, Other->FunctionSize);
    return PartAt(Address) != nullptr;
  };
  auto NeverReturns = [&](uint64_t Callee) {
    return neverReturns(Callee, Depth);
  };
  auto Targets = [&](uint64_t Jump) { return targetsOf(Jump); };
  Expected<FunctionGraph> G =
      FunctionGraph::create(Entry, {Bytes, IsInside, NeverReturns, Targets});
  if (Failed) {
    if (G)
      return Failed;
    return joinErrors(std::move(Failed), G.takeError());
  }
  if (!G)
    return Fail(toString(G.takeError()));
  std::optional<FunctionGraph> &Kept = Graphs[Entry];
  Kept = std::move(*G);
  return &*Kept;
}

} // namespace chronicle::control
