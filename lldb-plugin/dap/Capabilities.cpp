// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/dap/Capabilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::dap {

/// What only a recorded run can do.
static constexpr StringLiteral Added[] = {
    "supportsStepBack", "supportsGotoTargetsRequest", "supportsRestartFrame"};
/// What a recorded run cannot do: it cannot be changed, started or ended.
static constexpr StringLiteral Impossible[] = {
    "supportsSetVariable",        "supportsSetExpression",
    "supportsWriteMemoryRequest", "supportsRestartRequest",
    "supportTerminateDebuggee",   "supportSuspendDebuggee",
    "supportsTerminateRequest"};

static void dropObjectiveC(json::Object &Capabilities) {
  json::Array *Filters = Capabilities.getArray("exceptionBreakpointFilters");
  if (!Filters)
    return;
  json::Array Kept;
  for (json::Value &Filter : *Filters)
    if (json::Object *O = Filter.getAsObject();
        !O || !O->getString("filter").value_or("").starts_with("objc"))
      Kept.push_back(std::move(Filter));
  *Filters = std::move(Kept);
}

void correct(json::Object &Capabilities, Debuggee What) {
  if (What != Debuggee::Live)
    for (StringRef Name : Added)
      Capabilities[Name] = true;
  if (What != Debuggee::Trace)
    return;
  for (StringRef Name : Impossible)
    if (Capabilities.get(Name))
      Capabilities[Name] = false;
  dropObjectiveC(Capabilities);
}

json::Object correctionFor(Debuggee What) {
  json::Object Result;
  if (What == Debuggee::Live)
    for (StringRef Name : Added)
      Result[Name] = false;
  if (What == Debuggee::Trace)
    for (StringRef Name : Impossible)
      Result[Name] = false;
  return Result;
}

} // namespace chronicle::dap
