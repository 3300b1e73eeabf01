// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Answers as text, for the tables that commands print.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_DESCRIBE_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_DESCRIBE_H

#include "lldb-plugin/target/Style.h"
#include "query/questions/Place.h"

namespace chronicle::target {

/// "function at file:line", as far as it is known; empty if nothing is.
std::string placeOf(const questions::Place &Place, const Style &How);
/// The same, followed by who called if it is the system's code: "tcache_put at
/// malloc.c:3012 <- Server::disconnect at server.cpp:15".
std::string placeOf(const questions::Place &Place,
                    const std::optional<questions::Place> &Caller,
                    const Style &How);
/// "at file:line", or "in module".
std::string sourceOf(const questions::Place &Place);

/// Text for one cell: no line ends, no control characters.
std::string escapedText(llvm::StringRef Text);

/// Bytes of an unknown type: as a number if they are few.
std::string valueText(llvm::ArrayRef<uint8_t> Bytes);

} // namespace chronicle::target

#endif
