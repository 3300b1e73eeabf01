// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The registers of a process, by their names in target.xml.

#ifndef CHRONICLE_LLDB_PLUGIN_DIVERSION_MACHINESTATE_H
#define CHRONICLE_LLDB_PLUGIN_DIVERSION_MACHINESTATE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <sys/user.h>
#include <vector>

namespace chronicle::diversion {

/// As the kernel keeps them: the general registers, and an XSAVE area for the
/// rest.
struct MachineState {
  user_regs_struct General = {};
  std::vector<uint8_t> Extended;

  /// The register's bytes, as the processor would store them; empty if there is
  /// no such register.
  llvm::SmallVector<uint8_t, 32> get(llvm::StringRef Name) const;
  /// Bytes that are too many are cut off. False: there is no such register, or
  /// it cannot be changed.
  bool set(llvm::StringRef Name, llvm::ArrayRef<uint8_t> Bytes);

  bool operator==(const MachineState &Other) const;

private:
  llvm::MutableArrayRef<uint8_t> find(llvm::StringRef Name);
};

} // namespace chronicle::diversion

#endif
