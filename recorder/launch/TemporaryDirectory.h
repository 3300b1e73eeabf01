// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The directory that Valgrind writes to when it starts.

#ifndef CHRONICLE_RECORDER_LAUNCH_TEMPORARYDIRECTORY_H
#define CHRONICLE_RECORDER_LAUNCH_TEMPORARYDIRECTORY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace chronicle::launch {

/// Fails if Valgrind could not write its temporary files, of a few bytes each,
/// and so would not start. Makes such a file and removes it.
/// \param Variable the value of TMPDIR; if it is empty, the directory is /tmp.
llvm::Error checkTemporaryDirectory(llvm::StringRef Variable);

} // namespace chronicle::launch

#endif
