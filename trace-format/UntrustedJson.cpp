// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/UntrustedJson.h"

using namespace llvm;

namespace chronicle {

/// Whether more than MaxJsonDepth brackets are open at once. A text that is not
/// JSON may give a wrong answer; the parser refuses it anyway, at the latest
/// where this scan and the parser disagree about what is a string.
static bool isNestedTooDeeply(StringRef Text) {
  unsigned Depth = 0;
  bool InString = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    const char C = Text[I];
    if (InString) {
      if (C == '\\')
        ++I;
      InString = C != '"';
    } else if (C == '"') {
      InString = true;
    } else if (C == '[' || C == '{') {
      if (++Depth > MaxJsonDepth)
        return true;
    } else if ((C == ']' || C == '}') && Depth) {
      --Depth;
    }
  }
  return false;
}

Expected<json::Value> parseUntrustedJson(StringRef Text) {
  if (isNestedTooDeeply(Text))
    return createStringError("it is nested more than %u levels deep",
                             MaxJsonDepth);
  return json::parse(Text);
}

} // namespace chronicle
