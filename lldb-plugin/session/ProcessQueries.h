// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Packets that ask what kind of process this is: features, threads, memory
/// regions, the program's files.

#ifndef CHRONICLE_LLDB_PLUGIN_SESSION_PROCESSQUERIES_H
#define CHRONICLE_LLDB_PLUGIN_SESSION_PROCESSQUERIES_H

#include "lldb-plugin/session/DebuggerTraits.h"
#include "lldb-plugin/session/ProcessImage.h"
#include "lldb-plugin/session/TimeTravel.h"
#include "query/files/Utf8Names.h"

namespace chronicle::state {
struct ModuleLoad;
}

namespace chronicle::session {

/// Every recorded program is of this kind.
inline constexpr const char *TargetTriple = "x86_64-pc-linux-gnu";

/// Answers from the trace, at the present position. Not thread-safe.
class ProcessQueries {
public:
  /// None of these is owned.
  ProcessQueries(const query::Trace &T, const TimeTravel &Travel,
                 const DebuggerTraits &Debugger)
      : T(T), Travel(Travel), Debugger(Debugger), Image(T) {}

  /// The reply to a `q` packet, by its name and what follows it. Empty if the
  /// packet is unknown, which is also how the protocol says so.
  std::string answer(llvm::StringRef Name, llvm::StringRef Rest);

  /// The threads that are alive now; at least the present one.
  llvm::Expected<std::vector<answers::ThreadInfo>> threads() const;
  /// The thread with the debugger's name for it; 0: there is none.
  uint32_t threadNumber(llvm::StringRef OsThread) const;

  /// Whether the last resume led backward, on which modules() depends.
  void setDirection(bool Backward) { CameBackward = Backward; }
  /// The modules that the debugger should know now.
  llvm::Expected<llvm::ArrayRef<LinkedModule>> modules();
  /// How often the debugger must ask for the modules: not at all if they are
  /// those that it knows, from the call before or from the list that it read
  /// since; else once; LLDB twice if some of them went and others came. LLDB
  /// adds modules before it removes others, and forgets a new one that is where
  /// an old one was. So it first gets those that stay.
  llvm::Expected<unsigned> moduleReads();

private:
  std::string answerLinker();
  std::string answerThreads();
  std::string answerRegion(llvm::StringRef Packet);
  llvm::Expected<std::string> regionName(const answers::Mapping &M);
  std::string answerThreadLocal(llvm::StringRef Packet);
  std::string answerTransfer(llvm::StringRef Packet);
  llvm::Expected<std::string> document(llvm::StringRef Object,
                                       llvm::StringRef Annex);
  /// The file that the debugger is to use for a module: where it is now, if
  /// that is not where it was, and a name that no file has if it is nowhere.
  std::string fileName(llvm::StringRef Recorded,
                       const state::ModuleLoad *Load) const;
  std::string nameFor(const LinkedModule &M);
  llvm::Expected<std::string> librariesDocument();
  llvm::Expected<std::string> signalDocument() const;

  const query::Trace &T;
  const TimeTravel &Travel;
  const DebuggerTraits &Debugger;
  ProcessImage Image;
  files::Utf8Names Names;
  bool CameBackward = false;
  std::vector<LinkedModule> Reported; ///< what the debugger knows
  /// What the next question for the modules gets, if not all of them.
  std::optional<std::vector<LinkedModule>> Staying;
  bool AskedForLinker = false; ///< what is mapped at the linker's base
};

} // namespace chronicle::session

#endif
