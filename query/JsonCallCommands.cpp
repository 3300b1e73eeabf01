// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// call-stack, return-of, callees, calls.

#include "query/JsonAnswers.h"
#include "query/JsonCommands.h"
#include "query/JsonPlaces.h"
#include "trace-format/GuestState.h"

using namespace llvm;

namespace chronicle {

static json::Value jsonTime(std::optional<Timestamp> T) {
  return T ? json::Value(*T) : json::Value(nullptr);
}

static Expected<json::Value> callStack(JsonQuery &Q) {
  Expected<ThreadMoment> M = threadMomentArgument(Q);
  if (!M)
    return M.takeError();
  Expected<std::vector<Activation>> Stack = Q.T.callStack(M->Thread, M->At);
  if (!Stack)
    return Stack.takeError();
  json::Array Frames;
  for (const Activation &A : *Stack)
    Frames.push_back(jsonActivation(Q.T, A, M->At));
  return json::Object{
      {"at", M->At}, {"thread", M->Thread}, {"frames", std::move(Frames)}};
}

/// "at", "thread" and "frame": the activation at that place of the call stack.
static Expected<Activation> activationArgument(JsonQuery &Q) {
  const uint64_t Frame = Q.Arguments.number("frame", 0);
  Expected<ThreadMoment> M = threadMomentArgument(Q);
  if (!M)
    return M.takeError();
  Expected<std::vector<Activation>> Stack = Q.T.callStack(M->Thread, M->At);
  if (!Stack)
    return Stack.takeError();
  if (Frame >= Stack->size())
    return queryError("out-of-range", "'frame' is " + Twine(Frame) +
                                          ", but the call stack at " +
                                          Twine(M->At) + " has " +
                                          Twine(Stack->size()) + " frames");
  return (*Stack)[Frame];
}

static Expected<json::Value> returnOf(JsonQuery &Q) {
  Expected<Activation> A = activationArgument(Q);
  if (!A)
    return A.takeError();
  Expected<std::optional<Timestamp>> Return = Q.T.returnOf(*A);
  if (!Return)
    return Return.takeError();
  json::Object Result = jsonActivation(Q.T, *A, A->Entry);
  Result["return"] = jsonTime(*Return);
  if (*Return) {
    Expected<Registers> R = Q.T.registers(A->Thread, **Return);
    if (!R)
      return R.takeError();
    Result["value"] = hexNumber(R->word(CH_OFFSET_RAX));
  }
  return Result;
}

static Expected<json::Value> callees(JsonQuery &Q) {
  uint64_t Limit = Q.Arguments.number("limit", UINT64_MAX, 1, UINT64_MAX);
  Expected<Activation> A = activationArgument(Q);
  if (!A)
    return A.takeError();
  uint64_t Count = 0;
  bool More = false;
  Error E = Q.T.callees(
      *A,
      [&](const Activation &Callee) {
        if (Count == Limit) {
          More = true;
          return false;
        }
        ++Count;
        return Q.Emit(jsonActivation(Q.T, Callee, Callee.Entry));
      },
      &Q.Cancel);
  if (E)
    return E;
  return json::Object{{"count", Count}, {"more", More}};
}

namespace {
/// How an execution of a function's first instruction came about.
struct Arrival {
  Activation Call;
  uint64_t CallSite = 0; ///< of the call, or of the jump of a tail call
  bool TailCall = false;
  size_t Depth = 0;
};
} // namespace

/// Nothing: it is no call, but a jump within the function. A call through the
/// linkage table or from a tail call belongs to an activation that began
/// earlier, and comes by a jump.
static Expected<std::optional<Arrival>> arrivalAt(JsonQuery &Q,
                                                  const Execution &X) {
  Expected<std::vector<Activation>> Stack = Q.T.callStack(X.Thread, X.Time);
  if (!Stack)
    return Stack.takeError();
  if (Stack->empty())
    return std::nullopt;
  Arrival Result;
  Result.Call = Stack->front();
  Result.CallSite = Result.Call.CallSite;
  Result.Depth = Stack->size() - 1;
  if (Result.Call.Entry == X.Time || X.Time == 0)
    return Result;
  Expected<uint32_t> Before = Q.T.threadAt(X.Time - 1);
  if (!Before)
    return Before.takeError();
  if (*Before != X.Thread)
    return Result;
  Expected<Registers> R = Q.T.registers(X.Thread, X.Time - 1);
  if (!R)
    return R.takeError();
  std::optional<CodeSymbol> Here = Q.T.symbols().find(X.Pc, X.Time);
  if (Here && R->rip() - Here->FunctionAddress < Here->FunctionSize)
    return std::nullopt;
  std::optional<CodeSymbol> Entered =
      Q.T.symbols().find(Result.Call.Callee, Result.Call.Entry);
  bool Stub = Entered &&
              StringRef(Entered->Frames.back().LinkageName).ends_with("@plt");
  if (!Stub) {
    Result.CallSite = R->rip();
    Result.TailCall = true;
  }
  return Result;
}

static Expected<std::optional<json::Object>> callAt(JsonQuery &Q,
                                                    const Execution &X) {
  Expected<std::optional<Arrival>> Came = arrivalAt(Q, X);
  if (!Came)
    return Came.takeError();
  if (!*Came)
    return std::nullopt;
  const Arrival &A = **Came;
  Expected<Registers> R = Q.T.registers(X.Thread, X.Time);
  if (!R)
    return R.takeError();
  // As the System V ABI passes integers and pointers; nobody knows here how
  // many the function takes.
  json::Object Arguments;
  static const std::pair<const char *, unsigned> Order[] = {
      {"rdi", CH_OFFSET_RDI}, {"rsi", CH_OFFSET_RSI}, {"rdx", CH_OFFSET_RDX},
      {"rcx", CH_OFFSET_RCX}, {"r8", CH_OFFSET_R8},   {"r9", CH_OFFSET_R9},
  };
  for (auto [Name, Offset] : Order)
    Arguments[Name] = hexNumber(R->word(Offset));
  Expected<std::optional<Timestamp>> Return = Q.T.returnOf(A.Call);
  if (!Return)
    return Return.takeError();
  json::Object Result{
      {"entry", X.Time},
      {"return", jsonTime(*Return)},
      {"thread", X.Thread},
      {"function", hexNumber(X.Pc)},
      {"symbol", jsonSymbol(Q.T, X.Pc, X.Time)},
      {"arguments", std::move(Arguments)},
      {"value", nullptr},
      {"depth", int64_t(A.Depth)},
      {"tail-call", A.TailCall},
      {"caller", nullptr},
  };
  if (A.CallSite)
    Result["caller"] =
        json::Object{{"pc", hexNumber(A.CallSite)},
                     {"symbol", jsonSymbol(Q.T, A.CallSite, X.Time)}};
  if (*Return) {
    Expected<Registers> After = Q.T.registers(X.Thread, **Return);
    if (!After)
      return After.takeError();
    Result["value"] = hexNumber(After->word(CH_OFFSET_RAX));
  }
  return Result;
}

static Expected<json::Value> calls(JsonQuery &Q) {
  TimeRange When = Q.Arguments.times();
  uint64_t Limit = Q.Arguments.number("limit", UINT64_MAX, 1, UINT64_MAX);
  bool Backward = Q.Arguments.flag("backward", false);
  uint32_t Thread =
      static_cast<uint32_t>(Q.Arguments.number("thread", 0, 0, UINT32_MAX));
  std::string Function = Q.Arguments.text("function");
  if (Error E = Q.Arguments.finish())
    return E;
  Expected<std::vector<CodePlace>> Places = functionEntries(Q, Function, When);
  if (!Places)
    return Places.takeError();
  uint64_t Count = 0;
  bool More = false;
  Error Inner = Error::success();
  Error E = mergedExecutions(
      Q.T, *Places, Thread, Backward,
      [&](const Execution &X) {
        if (Count == Limit) {
          More = true;
          return false;
        }
        Expected<std::optional<json::Object>> Call = callAt(Q, X);
        if (!Call) {
          Inner = joinErrors(std::move(Inner), Call.takeError());
          return false;
        }
        if (!*Call)
          return true;
        ++Count;
        return Q.Emit(std::move(**Call));
      },
      Q.Cancel);
  if (Error Both = joinErrors(std::move(E), std::move(Inner)))
    return Both;
  return json::Object{{"count", Count}, {"more", More}};
}

ArrayRef<JsonCommand> jsonCallCommands() {
  static const JsonCommand Table[] = {
      {"call-stack", false, callStack},
      {"return-of", false, returnOf},
      {"callees", true, callees},
      {"calls", true, calls},
  };
  return Table;
}

} // namespace chronicle
