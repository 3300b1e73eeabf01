// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the kernel and the dynamic linker wrote into the memory of the recorded
/// program about the program itself.

#ifndef CHRONICLE_LLDB_PLUGIN_SESSION_PROCESSIMAGE_H
#define CHRONICLE_LLDB_PLUGIN_SESSION_PROCESSIMAGE_H

#include "query/Trace.h"

namespace chronicle::session {

/// One entry of the dynamic linker's list.
struct LinkedModule {
  uint64_t Entry = 0; ///< address of the link_map; 0: it has none yet
  uint64_t Bias = 0, Dynamic = 0;
  std::string Name; ///< empty: the program itself
  bool operator==(const LinkedModule &) const = default;
};

/// The program's modules as a debugger of the live program knows them. Whenever
/// the dynamic linker has updated its list it calls a function of its own,
/// where debuggers have a breakpoint. This class calls that a notification; the
/// list is valid until the next one. It is read as it was at the notification,
/// so later damage to the linker's memory does not matter. Not thread-safe.
class ProcessImage {
public:
  explicit ProcessImage(const query::Trace &T) : T(T) {}

  /// The auxiliary vector, from the first thread's initial stack.
  llvm::Expected<llvm::ArrayRef<uint8_t>> auxiliaryVector();
  /// The address of the entry (DT_DEBUG) of the program's dynamic section that
  /// points to the dynamic linker's list; 0 in a static program.
  llvm::Expected<uint64_t> debugSlot();
  /// Where the kernel loaded the dynamic linker; 0: it loaded none.
  llvm::Expected<uint64_t> linkerBase();
  /// The list after the last notification before Time; its first module is the
  /// program. Before the first notification, the list is what the kernel
  /// loaded. Empty in a static program. A call costs nothing if no notification
  /// lies between its moment and that of the call before; else two searches and
  /// reading the list.
  llvm::Expected<llvm::ArrayRef<LinkedModule>> modules(Timestamp Time);

private:
  /// The linker's structure that debuggers read.
  struct Rendezvous {
    uint64_t Address = 0; ///< 0: there is none
    uint64_t Function = 0;
  };
  llvm::Expected<Rendezvous> rendezvous();
  llvm::Expected<std::optional<Timestamp>> notification(answers::TimeRange When,
                                                        bool Backward);
  llvm::Expected<std::vector<LinkedModule>> listAt(Timestamp Time);
  llvm::Expected<std::vector<LinkedModule>>
  loadedByKernel(std::optional<Timestamp> First);

  const query::Trace &T;
  std::vector<uint8_t> Auxiliary;
  std::optional<uint64_t> Slot;
  std::optional<Rendezvous> Linker;
  std::vector<LinkedModule> Known;
  answers::TimeRange KnownFor{1, 0}; ///< when Known is the list
};

} // namespace chronicle::session

#endif
