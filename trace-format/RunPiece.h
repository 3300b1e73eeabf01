// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the run piece of a trace says (docs/format.md, "JSON pieces").

#ifndef CHRONICLE_TRACE_FORMAT_RUNPIECE_H
#define CHRONICLE_TRACE_FORMAT_RUNPIECE_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace chronicle {

/// The path of the recorded program, with its exact bytes, which "program" does
/// not have if they are not UTF-8.
inline std::string programPath(const llvm::json::Object &Run) {
  std::string Exact;
  if (llvm::tryGetFromHex(Run.getString("program-bytes").value_or(""), Exact) &&
      !Exact.empty())
    return Exact;
  return Run.getString("program").value_or("").str();
}

} // namespace chronicle

#endif
