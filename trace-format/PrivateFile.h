// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Files that only their owner may read.

#ifndef CHRONICLE_TRACE_FORMAT_PRIVATEFILE_H
#define CHRONICLE_TRACE_FORMAT_PRIVATEFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace chronicle {

/// The permissions of traces and of what is kept beside them: a trace holds the
/// memory and the environment of a program.
constexpr unsigned PrivateMode = 0600;

/// Writes a file as a whole: another file of the same directory is written and
/// renamed, so that readers see the old contents or the new. A symbolic link
/// stays, and the file that it leads to is replaced. An existing file keeps its
/// permissions; a new one gets \p Mode.
llvm::Error replaceFile(llvm::StringRef Path, unsigned Mode,
                        llvm::function_ref<void(llvm::raw_ostream &)> Write);

} // namespace chronicle

#endif
