// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds LLDB and Chronicle's plugin for it.

#ifndef CHRONICLE_LLDB_PLUGIN_PLACES_LLDBPLACES_H
#define CHRONICLE_LLDB_PLUGIN_PLACES_LLDBPLACES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace chronicle::places {

/// The path of lldb-22, or of lldb if that has the right version. Checking the
/// version starts the program once.
llvm::Expected<std::string> findLldb();
/// The path of liblldbChronicle.so in the same installation or build as this
/// program.
llvm::Expected<std::string> findLldbPlugin();
/// Quotes one word of an LLDB command.
std::string quoteForLldb(llvm::StringRef Word);
/// The LLDB command that loads the plugin.
std::string pluginLoadLine(llvm::StringRef Plugin);

} // namespace chronicle::places

#endif
