// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Puts the files of a recorded program into its trace: which ones, and why
/// others are left out.

#ifndef CHRONICLE_QUERY_PACK_TRACEPACKING_H
#define CHRONICLE_QUERY_PACK_TRACEPACKING_H

#include "query/files/FileOptions.h"
#include "trace-format/pieces/PackedFileFormat.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace chronicle::pack {

struct PackOptions {
  bool Sources = false;
  files::FileOptions Files;
};

/// What was done.
struct PackReport {
  struct Packed {
    pieces::PackedKind Kind;
    std::string Path;
    uint64_t Bytes = 0;
  };
  struct LeftOut {
    std::string Path, Why;
  };
  std::vector<Packed> Added;
  std::vector<LeftOut> Missing;
  /// How many of a module's sources are not on this machine as they were: of
  /// most libraries none is. That is no failure.
  std::map<std::string, uint64_t> AbsentSources;
  uint64_t AlreadyThere = 0; ///< files that the trace had before
  uint64_t Grown = 0;        ///< bytes of the trace
};

/// Adds what is missing in the trace. A file that is not the recorded build is
/// never added. Tick is called now and then with the path at hand and the bytes
/// added so far; if it returns false, the trace is left as it was.
llvm::Expected<PackReport>
packTrace(llvm::StringRef Trace, const PackOptions &Options,
          llvm::function_ref<bool(llvm::StringRef, uint64_t)> Tick);

llvm::json::Object toJSON(const PackReport &Report);

} // namespace chronicle::pack

#endif
