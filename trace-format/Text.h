// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How names that are not UTF-8 are shown. Linux's paths, arguments and
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

} // namespace chronicle

#endif
