// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Reads values with LLDB at other moments, while the user's process stays
/// where it is.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_SCOUT_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_SCOUT_H

#include "lldb-plugin/target/LoadedTrace.h"

namespace chronicle::target {

/// A second process on the same trace, in a hidden debugger of its own, for
/// values that LLDB must read and format at another moment, such as the
/// arguments of an earlier call. LLDB shares modules and formatters between
/// debuggers, so that they are those of the user. The first use costs as much
/// as loading the trace, and every move costs a stop of LLDB (milliseconds).
class Scout {
public:
  /// The scout of a loaded trace, made on first use. Lives until a later call
  /// of this function finds that the trace has gone.
  static llvm::Expected<Scout *> of(LoadedTrace &Loaded);

  /// Thread 0: the one that runs then.
  llvm::Error go(Timestamp Time, uint32_t Thread);
  /// The thread it went to.
  lldb::SBThread thread() const;
  lldb::SBTarget target() const { return Inner->process().GetTarget(); }

  ~Scout();

private:
  Scout(lldb::SBDebugger Debugger, std::shared_ptr<LoadedTrace> Inner)
      : Debugger(Debugger), Inner(std::move(Inner)) {}

  lldb::SBDebugger Debugger;
  std::shared_ptr<LoadedTrace> Inner;
};

} // namespace chronicle::target

#endif
