// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// JSON from files and clients.

#ifndef CHRONICLE_TRACE_FORMAT_UNTRUSTEDJSON_H
#define CHRONICLE_TRACE_FORMAT_UNTRUSTEDJSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace chronicle {

/// How deeply arrays and objects may be nested. LLVM's parser, its values and
/// their destructors recurse, so that 50,000 levels would overflow the stack.
constexpr unsigned MaxJsonDepth = 100;

/// Parses a text that may come from a stranger. Fails if it is not JSON, not
/// UTF-8, or nested too deeply.
llvm::Expected<llvm::json::Value> parseUntrustedJson(llvm::StringRef Text);

} // namespace chronicle

#endif
