// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where LLDB and Chronicle's plugin for it are.

#ifndef CHRONICLE_LLDBPLUGIN_LLDBPLACES_H
#define CHRONICLE_LLDBPLUGIN_LLDBPLACES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace chronicle {

/// lldb-22, or lldb if it is of that version. The latter costs a start of it.
llvm::Expected<std::string> findLldb();
/// liblldbChronicle.so of this very installation or build.
llvm::Expected<std::string> findLldbPlugin();
/// A word of an LLDB command.
std::string quoteForLldb(llvm::StringRef Word);
/// The command that loads the plugin.
std::string pluginLoadLine(llvm::StringRef Plugin);

} // namespace chronicle

#endif
