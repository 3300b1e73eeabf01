// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Looks at other moments with LLDB's eyes while the user stays where they are.

#ifndef CHRONICLE_LLDB_PLUGIN_SCOUT_H
#define CHRONICLE_LLDB_PLUGIN_SCOUT_H

#include "lldb-plugin/LoadedTrace.h"

namespace chronicle {

/// A second process on the same trace, in a debugger of its own that nobody
/// sees, for values that LLDB must read and format at another moment: the
/// arguments of a call long ago, a string that was. Its modules and formatters
/// are those of the user's debugger, which LLDB shares between all. Costs as
/// much as loading the trace once, when it is first needed, and a stop of LLDB
/// (milliseconds) a move.
class Scout {
public:
  /// The scout of a loaded trace, made when it is first asked for. Lives until
  /// a later call finds the trace gone.
  static llvm::Expected<Scout *> of(LoadedTrace &Loaded);

  /// Thread 0: the one that runs then.
  llvm::Error go(Timestamp Time, uint32_t Thread);
  /// Of the thread it went to.
  lldb::SBThread thread() const;
  lldb::SBTarget target() const { return Inner->process().GetTarget(); }

  ~Scout();

private:
  Scout(lldb::SBDebugger Debugger, std::shared_ptr<LoadedTrace> Inner)
      : Debugger(Debugger), Inner(std::move(Inner)) {}

  lldb::SBDebugger Debugger;
  std::shared_ptr<LoadedTrace> Inner;
};

} // namespace chronicle

#endif
