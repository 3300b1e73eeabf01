// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Who wrote to memory, with names and system calls, and who read it.

#ifndef CHRONICLE_QUERY_QUESTIONS_WRITEQUESTIONS_H
#define CHRONICLE_QUERY_QUESTIONS_WRITEQUESTIONS_H

#include "query/answers/Memory.h"
#include "query/questions/Place.h"
#include "query/questions/Search.h"
#include "query/questions/SystemCallQuestions.h"

namespace chronicle::questions {

/// A write. All writes of one string instruction (rep movsb, rep stosq …) to
/// the range are one answer, although each repetition has a time of its own:
/// Write.Time is that of the first repetition, and Write has the bytes of all.
struct WriteAnswer {
  answers::Write Write;
  answers::AddressRange Asked; ///< the range of the question
  Place Where;
  /// If Where is the system's code: the innermost frame outside of it.
  std::optional<Place> Caller;
  std::optional<SystemCall> Call; ///< of a write by a system call
  uint64_t Count = 1;             ///< of repetitions that wrote to the range
  Timestamp Last = 0;             ///< the time of the last one
  /// Whether the range asked for is mapped, at least in part, before the write
  /// and after it. Where it is not, it has no value. Only a change of the
  /// memory map and the start of the run make a difference.
  bool HasOld = true, HasNew = true;
  /// Of a change of the memory map: what the range is mapped from afterwards.
  std::optional<answers::Mapping> MappedFrom;

  /// The first moment at which all new bytes are in memory.
  Timestamp visibleFrom() const {
    return Write.visibleFrom() + (Last - Write.Time);
  }
};

/// The last write that is visible at At, or the first one that is not yet.
/// Of a string instruction, the repetitions up to At, or from At on, are one.
/// Costs as Trace::writes(), a call stack if the system's code wrote, and a
/// search for two events if a system call did.
llvm::Expected<std::optional<WriteAnswer>>
lastWrite(const query::Trace &T, answers::AddressRange Range, Timestamp At,
          const answers::Cancellation &Cancel);
llvm::Expected<std::optional<WriteAnswer>>
nextWrite(const query::Trace &T, answers::AddressRange Range, Timestamp At,
          const answers::Cancellation &Cancel);

llvm::Expected<SearchEnd> searchWrites(const query::Trace &T,
                                       answers::AddressRange Range,
                                       const SearchOptions &Options,
                                       Visitor<WriteAnswer> Visit,
                                       const answers::Cancellation &Cancel);

/// A read by one instruction. Each repetition of a string instruction is a read
/// of its own. What the kernel reads for a system call is not recorded.
struct ReadAnswer {
  answers::Read Read;
  answers::AddressRange Asked; ///< the range of the question
  Place Where;
  /// If Where is the system's code: the innermost frame outside of it.
  std::optional<Place> Caller;
};

/// The last read before At, or the first one from At on. Costs as
/// Trace::reads(), and a call stack if the system's code read.
llvm::Expected<std::optional<ReadAnswer>>
lastRead(const query::Trace &T, answers::AddressRange Range, Timestamp At,
         const answers::Cancellation &Cancel);
llvm::Expected<std::optional<ReadAnswer>>
nextRead(const query::Trace &T, answers::AddressRange Range, Timestamp At,
         const answers::Cancellation &Cancel);

llvm::Expected<SearchEnd> searchReads(const query::Trace &T,
                                      answers::AddressRange Range,
                                      const SearchOptions &Options,
                                      Visitor<ReadAnswer> Visit,
                                      const answers::Cancellation &Cancel);

} // namespace chronicle::questions

#endif
