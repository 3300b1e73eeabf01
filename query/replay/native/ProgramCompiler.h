// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Compiles replay programs to native code.

#ifndef CHRONICLE_QUERY_REPLAY_NATIVE_PROGRAMCOMPILER_H
#define CHRONICLE_QUERY_REPLAY_NATIVE_PROGRAMCOMPILER_H

#include "query/replay/program/ReplayProgram.h"

namespace chronicle::native {

/// Writes the code of one program after the other into memory that the caller
/// provides, which must be writable and executable. Making a compiler costs
/// some microseconds. One thread at a time.
class ProgramCompiler {
public:
  /// MarksReads: loads mark the granules that they read.
  ProgramCompiler(llvm::MutableArrayRef<uint8_t> Room, bool MarksReads);
  ~ProgramCompiler();

  /// Returns where the code begins, or null if there is no room for it. The
  /// code refers to Ops, which must outlive it.
  const uint8_t *compile(llvm::ArrayRef<program::ReplayOp> Ops);

private:
  /// Hidden here, because Xbyak's headers take long to compile.
  class Writer;
  std::unique_ptr<Writer> W;
};

} // namespace chronicle::native

#endif
