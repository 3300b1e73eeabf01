// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// LLDB's line tables for reverse steps, so that they stop where LLDB's own
/// steps forward do.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_LLDBLINES_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_LLDBLINES_H

#include "lldb-plugin/stepping/SourceStep.h"
#include "lldb/API/LLDB.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Regex.h"
#include <unordered_map>

namespace chronicle::target {

/// Valid for one target while its modules do not change. The first lookup of an
/// instruction costs some microseconds, later ones nothing.
class LldbLines : public stepping::LineTable {
public:
  explicit LldbLines(lldb::SBTarget Target);
  const stepping::CodePlace &at(uint64_t Pc) override;

private:
  stepping::CodePlace find(uint64_t Pc);
  bool isAvoided(const char *Function);
  uint32_t fileNumber(lldb::SBFileSpec File);

  lldb::SBTarget Target;
  std::optional<llvm::Regex> Avoided; ///< functions not stepped into
  std::unordered_map<uint64_t, stepping::CodePlace> Known;
  llvm::StringMap<uint32_t> Files;
};

} // namespace chronicle::target

#endif
