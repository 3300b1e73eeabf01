// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The calls of functions that a debugger makes in a trace.

#ifndef CHRONICLE_LLDB_PLUGIN_DIVERSION_CALLS_H
#define CHRONICLE_LLDB_PLUGIN_DIVERSION_CALLS_H

#include "lldb-plugin/diversion/Diversion.h"

namespace chronicle::diversion {

/// One call at a time. The debugger prepares it by saving registers and
/// changing registers and memory, resumes, and puts the registers back. The
/// first change makes a process of the moment (Diversion). When the registers
/// are back, the thread is in the trace again. The memory stays that of the
/// process until end(), because the result of the call may be in it. Scratch
/// memory outlives calls. Not thread-safe.
class Calls {
public:
  explicit Calls(const query::Trace &T) : T(T), Heap(T, Own) {}

  /// Fills in the registers of a thread of the trace.
  using FillRegisters =
      std::function<llvm::Error(MachineState &, MomentMemory &)>;

  /// A thread of the trace is to make a call at that moment; what was before is
  /// thrown away. Changes nothing yet. Thread is the system's number.
  void prepare(Timestamp Time, uint64_t Thread, FillRegisters Fill);
  /// Whether a call was prepared and the registers are not back.
  bool isPrepared() const { return Prepared; }
  /// Whether the thread is not in the trace, because it has run.
  bool isUnderWay() const { return Prepared && HasRun; }
  /// Whether the memory may differ from that of the trace.
  bool hasMemory() const { return D != nullptr; }
  uint64_t thread() const { return Thread; }

  /// The registers of the call. Only while it is prepared. If no process can be
  /// made, registers() fails, setRegister() changes nothing, and the reason is
  /// what run() returns: a debugger shows the reason of a stop.
  llvm::Expected<MachineState> registers();
  llvm::Error setRegister(llvm::StringRef Name, llvm::ArrayRef<uint8_t> Bytes);
  /// Whether all registers are as they were when the call was prepared.
  llvm::Expected<bool> isRestored();
  /// A number for restore().
  llvm::Expected<unsigned> save();
  /// Puts registers back. False: there is no such number.
  llvm::Expected<bool> restore(unsigned Number);
  /// The registers are back: the thread is in the trace.
  void returned();
  /// Throws the process away.
  void end();
  /// The debugger leaves the moment: frees what calls have allocated, too.
  void leave();

  /// Memory of the debugger's own; nothing: there is no room.
  std::optional<uint64_t> allocate(uint64_t Length, int Protection);
  bool release(uint64_t Address);
  const Scratch &scratch() const { return Own; }
  /// The bytes, if a call has this memory (and if that is wanted) or if it is
  /// scratch memory; nothing: the trace has it.
  llvm::Expected<std::optional<std::vector<uint8_t>>>
  read(uint64_t Address, uint64_t Length, bool OfCall = true);
  /// Only scratch memory can be changed unless a call is prepared.
  llvm::Error write(uint64_t Address, llvm::ArrayRef<uint8_t> Bytes);

  const DivertedStop &run(const Diversion::RunOptions &How);
  /// The stop that run() returned last.
  const DivertedStop &lastStop() const { return Last; }
  /// How long a call may take.
  static std::chrono::milliseconds timeLimit();

private:
  llvm::Error ensure();
  llvm::Error mayRun() const;

  const query::Trace &T;
  Scratch Own;
  KeptHeap Heap;
  bool Prepared = false, HasRun = false;
  Timestamp Time = 0;
  uint64_t Thread = 0;
  FillRegisters Fill;
  std::string Obstacle; ///< why there is no process
  std::unique_ptr<Diversion> D;
  MachineState Before; ///< as the trace has it
  std::vector<MachineState> Saved;
  DivertedStop Last;
};

} // namespace chronicle::diversion

#endif
