// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The files of a recorded program, for LLDB: which ones are missing, and where
/// the others are.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_TRACEFILES_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_TRACEFILES_H

#include "lldb/API/LLDB.h"
#include "query/Trace.h"

namespace chronicle::target {

/// The directory of the recorded sources, and where they are now.
using SourceMapping = std::pair<std::string, std::string>;

/// `FROM=TO`.
llvm::Expected<SourceMapping> parseSourceMapping(llvm::StringRef Text);

/// Where the program's file is; empty if LLDB must not use any.
std::string programFile(const query::Trace &T);

/// Adds sentences about modules at Time whose files are missing or not those
/// recorded.
void checkFiles(const query::Trace &T, Timestamp Time,
                std::vector<std::string> &Warnings);

/// Adds the directories of separate debug files to LLDB's setting, which all
/// its targets share. Before a target is made.
llvm::Error addDebugDirectories(lldb::SBDebugger Debugger,
                                const query::Trace &T);

/// Adds to the target's source map: first the mappings of the user, then the
/// sources that the trace carries, which are unpacked.
llvm::Error addSourceMap(lldb::SBTarget Target, const query::Trace &T,
                         llvm::ArrayRef<SourceMapping> Mappings);

} // namespace chronicle::target

#endif
