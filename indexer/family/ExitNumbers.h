// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The exits of a forked process: its recorder goes on with its parent's
/// numbers, its trace has numbers of its own.

#ifndef CHRONICLE_INDEXER_FAMILY_EXITNUMBERS_H
#define CHRONICLE_INDEXER_FAMILY_EXITNUMBERS_H

#include "indexer/family/DefinitionArchive.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Compiler.h"

namespace chronicle::family {

/// Costs one lookup per execution, and four bytes per exit of the parent. A
/// superblock of the parent is defined in the trace when it first runs, so that
/// a process that does little has a small trace.
class ExitNumbers {
public:
  ExitNumbers() = default;
  explicit ExitNumbers(InheritedDefinitions Inherited)
      : Inherited(std::move(Inherited)), Next(this->Inherited.Exits + 1) {}

  /// Whether the two kinds of numbers differ.
  bool differ() const { return bool(Inherited.From); }

  /// Adds a definition of the parent to the trace, and calls add().
  using Define = llvm::function_ref<void(uint32_t FirstExit,
                                         llvm::ArrayRef<uint8_t> Definition)>;
  /// The run word of the trace for one of the stream. A word that names no exit
  /// becomes one that no trace has.
  uint32_t translate(uint32_t Word, Define New) {
    if (LLVM_LIKELY(Word < Own.size() && Own[Word]))
      return Own[Word];
    return Word & CH_RUN_FAULT ? Word : inherit(Word, New);
  }
  /// A definition whose first exit has the number Recorders in the stream has
  /// the number Traces in the trace.
  void add(uint32_t Recorders, uint32_t Traces, uint32_t Exits);
  /// The run word of the stream for one of the trace.
  uint32_t recorders(uint32_t Traces) const {
    if (!differ())
      return Traces;
    return Traces < Recorder.size() ? Recorder[Traces] : 0;
  }
  /// The number of the next exit that the stream defines.
  uint32_t next() const { return Next; }

private:
  uint32_t inherit(uint32_t Word, Define New);

  InheritedDefinitions Inherited;
  uint32_t Next = 1;
  std::vector<uint32_t> Own; ///< by the recorder's number; 0: not known yet
  std::vector<uint32_t> Recorder; ///< by the trace's number
};

} // namespace chronicle::family

#endif
