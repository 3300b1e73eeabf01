// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The message about a command or an argument that does not exist.

#ifndef CHRONICLE_QUERY_BASE_UNKNOWNNAME_H
#define CHRONICLE_QUERY_BASE_UNKNOWNNAME_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace chronicle::base {

/// The one of \p Names that takes fewest edits, at most \p MostEdits, to be
/// \p Name; empty if there is none.
llvm::StringRef nearestName(llvm::StringRef Name,
                            llvm::ArrayRef<llvm::StringRef> Names,
                            unsigned MostEdits);

/// "unknown command 'recrod'; did you mean 'record'?" If none of \p Names is
/// similar, \p Otherwise follows the semicolon; without it the message ends
/// there.
/// \param Kind what is named: "command".
std::string unknownName(llvm::StringRef Kind, llvm::StringRef Name,
                        llvm::ArrayRef<llvm::StringRef> Names,
                        llvm::StringRef Otherwise = "");

} // namespace chronicle::base

#endif
