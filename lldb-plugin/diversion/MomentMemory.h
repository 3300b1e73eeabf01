// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The memory of a moment of a trace, in a process.

#ifndef CHRONICLE_LLDB_PLUGIN_DIVERSION_MOMENTMEMORY_H
#define CHRONICLE_LLDB_PLUGIN_DIVERSION_MOMENTMEMORY_H

#include "lldb-plugin/diversion/Scratch.h"
#include "lldb-plugin/diversion/Tracee.h"
#include "query/Trace.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace chronicle::diversion {

/// Makes the process's memory what it was at the moment, page by page as the
/// process touches it, so that a large program costs no more than a small one.
/// Pages that the process has not touched are inaccessible to it; when it
/// faults there, populate() fills them. What the process changes stays in it.
/// Used on the process's thread.
class MomentMemory {
public:
  /// None of these is owned. The process must be new; it also gets the
  /// debugger's scratch memory.
  static llvm::Expected<std::unique_ptr<MomentMemory>>
  create(Tracee &P, const query::Trace &T, Timestamp Time, Scratch &Own);

  /// Called when the process faulted at an address. True: the memory is there
  /// now, and the instruction can run again. False: the fault is the program's.
  llvm::Expected<bool> populate(uint64_t Address);
  /// As many bytes as can be read.
  llvm::Expected<std::vector<uint8_t>> read(uint64_t Address, uint64_t Length);
  /// Permissions do not matter.
  llvm::Error write(uint64_t Address, llvm::ArrayRef<uint8_t> Bytes);
  /// Whether the process has the page: what was recorded there, or its own.
  bool has(uint64_t Address);
  /// Called with each page that populate() has filled.
  std::function<llvm::Error(uint64_t Page)> Filled;

  /// The system calls. Like them, these return a negative error number.
  llvm::Expected<int64_t> map(llvm::ArrayRef<uint64_t> Arguments);
  llvm::Expected<int64_t> unmap(uint64_t Address, uint64_t Length);
  llvm::Expected<int64_t> protect(uint64_t Address, uint64_t Length,
                                  uint64_t Protection);
  llvm::Expected<int64_t> advise(uint64_t Address, uint64_t Length,
                                 uint64_t Advice);
  llvm::Expected<int64_t> setBreak(uint64_t Address);

  /// Gives the process an area that the debugger has allocated since.
  llvm::Error addScratch(uint64_t Start);
  /// Copies back what the process did to the debugger's scratch memory. Areas
  /// that it has unmapped stay as they were.
  void saveScratch();

private:
  struct Region {
    uint64_t End = 0;
    int Protection = 0;
    bool Recorded = false; ///< else the process made it
    bool Stack = false, Heap = false;
  };
  using Regions = std::map<uint64_t, Region>; ///< by where they begin

  MomentMemory(Tracee &P, const query::Trace &T, Timestamp Time, Scratch &Own)
      : P(P), T(T), Time(Time), Own(Own) {}
  llvm::Error start();
  llvm::Error choosePlace();
  Regions::iterator find(uint64_t Address);
  /// The region in which a stack grows to the address, or the end.
  Regions::iterator growing(uint64_t Address);
  bool isFree(uint64_t Start, uint64_t End) const;
  /// Splits regions so that none crosses an end of the range.
  void split(uint64_t Start, uint64_t End);
  bool covers(uint64_t Start, uint64_t End);
  bool isPopulated(uint64_t Address) const;
  void erase(uint64_t Start, uint64_t End);
  llvm::Expected<int64_t> call(SystemCall Call);

  Tracee &P;
  const query::Trace &T;
  const Timestamp Time;
  Scratch &Own;
  uint64_t Control = 0;
  uint64_t Added = 0; ///< bytes that the process mapped
  Regions Map;
  llvm::DenseSet<uint64_t> Populated; ///< recorded pages that the process has
};

} // namespace chronicle::diversion

#endif
