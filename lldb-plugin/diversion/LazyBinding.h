// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The dynamic linker of a recorded program on this processor.

#ifndef CHRONICLE_LLDB_PLUGIN_DIVERSION_LAZYBINDING_H
#define CHRONICLE_LLDB_PLUGIN_DIVERSION_LAZYBINDING_H

#include "lldb-plugin/diversion/MomentMemory.h"

namespace chronicle::diversion {

/// When a function is called for the first time, glibc's linker saves the
/// processor's extended registers on the stack. It asked Valgrind for their
/// size, whose processor has fewer registers than most. Saving more than there
/// is room for would overwrite the stack. This corrects the size in the
/// process. Dynamic has the addresses of the modules' dynamic sections.
llvm::Error fitLazyBinding(MomentMemory &Memory,
                           llvm::ArrayRef<uint64_t> Dynamic);

} // namespace chronicle::diversion

#endif
