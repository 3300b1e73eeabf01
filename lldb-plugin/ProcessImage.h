// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the kernel and the dynamic linker told the recorded program about
/// itself, read back from its memory.

#ifndef CHRONICLE_LLDB_PLUGIN_PROCESSIMAGE_H
#define CHRONICLE_LLDB_PLUGIN_PROCESSIMAGE_H

#include "query/Trace.h"

namespace chronicle {

/// The auxiliary vector, from the first thread's initial stack.
llvm::Expected<std::vector<uint8_t>> auxiliaryVector(const Trace &T);

/// Where the program's dynamic section (DT_DEBUG) says where the dynamic linker
/// keeps its list; 0 in a static program.
llvm::Expected<uint64_t> debugSlot(const Trace &T,
                                   llvm::ArrayRef<uint8_t> AuxiliaryVector,
                                   Timestamp Time);

/// One entry of the dynamic linker's list.
struct LinkedModule {
  uint64_t Entry = 0; ///< address of the link_map
  uint64_t Bias = 0, Dynamic = 0;
  std::string Name; ///< empty: the program itself
};

/// The list at T; empty while the dynamic linker has not made it, and in a
/// static program.
llvm::Expected<std::vector<LinkedModule>>
linkedModules(const Trace &T, llvm::ArrayRef<uint8_t> AuxiliaryVector,
              Timestamp Time);

} // namespace chronicle

#endif
