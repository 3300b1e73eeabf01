// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// LLDB's line tables for steps backward, so that they stop where LLDB's own
/// steps forward do.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDBLINES_H
#define CHRONICLE_LLDB_PLUGIN_LLDBLINES_H

#include "lldb-plugin/SourceStep.h"
#include "lldb/API/LLDB.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Regex.h"
#include <unordered_map>

namespace chronicle {

/// Good for one target as its modules are now. The first question about an
/// instruction costs some microseconds, the next ones nothing.
class LldbLines : public LineTable {
public:
  explicit LldbLines(lldb::SBTarget Target);
  const CodePlace &at(uint64_t Pc) override;

private:
  CodePlace find(uint64_t Pc);
  bool isAvoided(const char *Function);
  uint32_t fileNumber(lldb::SBFileSpec File);

  lldb::SBTarget Target;
  std::optional<llvm::Regex> Avoided; ///< functions not stepped into
  std::unordered_map<uint64_t, CodePlace> Known;
  llvm::StringMap<uint32_t> Files;
};

} // namespace chronicle

#endif
