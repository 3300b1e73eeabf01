// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How names and numbers are shown to people. Linux's paths, arguments and
/// variables are bytes; JSON and most terminals want UTF-8.

#ifndef CHRONICLE_TRACE_FORMAT_TEXT_H
#define CHRONICLE_TRACE_FORMAT_TEXT_H

#include "llvm/Support/JSON.h"
#include <string>

namespace chronicle {

/// The text in UTF-8: each byte sequence that is not UTF-8 becomes U+FFFD.
/// Every text from outside that goes into JSON must pass through here. It is
/// for showing only: a file is found by its exact bytes.
inline std::string shownText(llvm::StringRef Text) {
  return llvm::json::isUTF8(Text) ? Text.str() : llvm::json::fixUTF8(Text);
}

/// 1234567 as "1,234,567": how people read timestamps and counts. Never for
/// JSON.
inline std::string groupedDigits(uint64_t Number) {
  std::string Digits = std::to_string(Number);
  for (size_t At = Digits.size(); At > 3;) {
    At -= 3;
    Digits.insert(At, 1, ',');
  }
  return Digits;
}

} // namespace chronicle

#endif
