// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/session/StopReason.h"
#include "trace-format/Text.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace chronicle::session {
namespace {

struct StopWords {
  StopKind Kind;
  StringRef Words;
  bool HasTime = false; ///< the time follows the words
};

} // namespace

static constexpr StopWords AllWords[] = {
    {StopKind::Begin, "the start of the run"},
    {StopKind::End, "the end of the run"},
    {StopKind::Goto, "at time", true},
    {StopKind::BeforeWrite, "before the write at time", true},
    {StopKind::AfterWrite, "after the write at time", true},
    {StopKind::BeforeRead, "before the read at time", true},
    {StopKind::AfterRead, "after the read at time", true},
    {StopKind::Execution, "execution at time", true},
    {StopKind::ReverseStepIn, "reverse step in"},
    {StopKind::ReverseStepOver, "reverse step over"},
    {StopKind::ReverseStepOut, "reverse step out"},
    {StopKind::ReverseStepInstruction, "reverse instruction step"},
};

std::string describe(const Stop &S) {
  for (const StopWords &Each : AllWords)
    if (Each.Kind == S.Kind)
      return Each.HasTime ? (Each.Words + " ").str() + groupedDigits(S.Time)
                          : Each.Words.str();
  return "";
}

} // namespace chronicle::session
