// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// call-stack, return-of, callees; calls is in JsonLogCommands.cpp.

#include "query/json/JsonAnswers.h"
#include "query/json/JsonCommands.h"
#include "query/json/JsonPlaces.h"
#include "query/json/JsonValues.h"
#include "query/questions/FunctionEntry.h"

using namespace llvm;

namespace chronicle::jsonapi {

static Expected<json::Value> callStack(JsonQuery &Q) {
  const uint64_t Limit =
      Q.Arguments.number("limit", UINT64_MAX - 1, 1, UINT64_MAX - 1);
  Expected<ThreadMoment> M = threadMomentArgument(Q);
  if (!M)
    return M.takeError();
  Expected<std::vector<questions::FrameAnswer>> Stack =
      questions::callStack(Q.T, M->Thread, M->At, Limit + 1);
  if (!Stack)
    return Stack.takeError();
  json::Array Frames;
  for (const questions::FrameAnswer &Frame : ArrayRef(*Stack).take_front(Limit))
    Frames.push_back(toJSON(Frame));
  return json::Object{{"at", M->At},
                      {"thread", M->Thread},
                      {"frames", std::move(Frames)},
                      {"more", Stack->size() > Limit}};
}

Expected<answers::Activation> activationArgument(JsonQuery &Q) {
  const uint64_t Frame = Q.Arguments.number("frame", 0);
  Expected<ThreadMoment> M = threadMomentArgument(Q);
  if (!M)
    return M.takeError();
  Expected<std::vector<answers::Activation>> Stack =
      questions::stackWithStrayReturns(Q.T, M->Thread, M->At,
                                       Frame + (Frame != UINT64_MAX));
  if (!Stack)
    return Stack.takeError();
  if (Frame >= Stack->size())
    return queryError("out-of-range", "'frame' is " + Twine(Frame) +
                                          ", but the call stack at " +
                                          Twine(M->At) + " has " +
                                          Twine(Stack->size()) + " frames");
  const answers::Activation &A = (*Stack)[Frame];
  if (A.Jumped && A.Entry < M->At)
    return queryError("bad-argument",
                      "nothing called the code of 'frame' " + Twine(Frame) +
                          ": a return led there at " + Twine(*A.Jumped));
  return A;
}

static Expected<json::Value> returnOf(JsonQuery &Q) {
  Expected<answers::Activation> A = activationArgument(Q);
  if (!A)
    return A.takeError();
  Expected<questions::ReturnAnswer> Return = questions::returnOf(Q.T, *A);
  if (!Return)
    return Return.takeError();
  return toJSON(*Return);
}

static Expected<json::Value> callees(JsonQuery &Q) {
  uint64_t Limit = Q.Arguments.number("limit", UINT64_MAX, 1, UINT64_MAX);
  Expected<answers::Activation> A = activationArgument(Q);
  if (!A)
    return A.takeError();
  return toJSON(questions::searchCallees(
      Q.T, *A, Limit,
      [&](const questions::FrameAnswer &Callee) {
        return Q.Emit(toJSON(Callee));
      },
      Q.Cancel));
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

} // namespace chronicle::jsonapi
