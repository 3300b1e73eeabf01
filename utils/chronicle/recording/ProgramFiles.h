// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a recording does about the files of the program: keeps copies while it
/// runs, and packs them into the trace at the end.

#ifndef CHRONICLE_UTILS_CHRONICLE_RECORDING_PROGRAMFILES_H
#define CHRONICLE_UTILS_CHRONICLE_RECORDING_PROGRAMFILES_H

#include "query/files/FileKeeper.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace chronicle::recording {

enum class PackWhat { Nothing, Files, Sources };

/// Keeps each file that it is called with, if it is not the system's and not
/// the tool, which Valgrind maps into every program. Keeper must outlive it.
std::function<void(llvm::StringRef)> keepMapped(files::FileKeeper &Keeper,
                                                const std::string &Tool);

/// Packs the program's files. Notes gets sentences about what was done and left
/// out; the recording is good without that.
/// \return how many bytes the trace has grown by.
llvm::Expected<uint64_t> packAtEnd(llvm::StringRef Trace, PackWhat What,
                                   std::vector<std::string> &Notes);

} // namespace chronicle::recording

#endif
