// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the kernel and the dynamic linker told the recorded program about
/// itself, read back from its memory.

#ifndef CHRONICLE_LLDB_PLUGIN_PROCESSIMAGE_H
#define CHRONICLE_LLDB_PLUGIN_PROCESSIMAGE_H

#include "query/Trace.h"

namespace chronicle {

/// One entry of the dynamic linker's list.
struct LinkedModule {
  uint64_t Entry = 0; ///< address of the link_map; 0: it has none yet
  uint64_t Bias = 0, Dynamic = 0;
  std::string Name; ///< empty: the program itself
  bool operator==(const LinkedModule &) const = default;
};

/// The program's modules as a debugger of the living program knows them. The
/// dynamic linker calls a function of its own, where debuggers have a
/// breakpoint, whenever its list is in order again; until the next such call
/// that list counts. What the list was is read at that call, so what became of
/// the linker's memory later does not matter. Not thread-safe.
class ProcessImage {
public:
  explicit ProcessImage(const Trace &T) : T(T) {}

  /// The auxiliary vector, from the first thread's initial stack.
  llvm::Expected<llvm::ArrayRef<uint8_t>> auxiliaryVector();
  /// Where the program's dynamic section (DT_DEBUG) says where the dynamic
  /// linker keeps its list; 0 in a static program.
  llvm::Expected<uint64_t> debugSlot();
  /// The list after the last notification before Time; the first is the
  /// program. Before any it is what the kernel loaded. Nothing in a static
  /// program. Costs nothing as long as no notification is between the moments
  /// that are asked about, else two searches and the list's memory.
  llvm::Expected<llvm::ArrayRef<LinkedModule>> modules(Timestamp Time);

private:
  /// The linker's structure that debuggers read.
  struct Rendezvous {
    uint64_t Address = 0; ///< 0: there is none
    uint64_t Function = 0;
  };
  llvm::Expected<Rendezvous> rendezvous();
  llvm::Expected<std::optional<Timestamp>> notification(TimeRange When,
                                                        bool Backward);
  llvm::Expected<std::vector<LinkedModule>> listAt(Timestamp Time);
  llvm::Expected<std::vector<LinkedModule>>
  loadedByKernel(std::optional<Timestamp> First);

  const Trace &T;
  std::vector<uint8_t> Auxiliary;
  std::optional<uint64_t> Slot;
  std::optional<Rendezvous> Linker;
  std::vector<LinkedModule> Known;
  TimeRange KnownFor{1, 0}; ///< when Known is the list
};

} // namespace chronicle

#endif
