// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a debugger knows about the source of an instruction.

#ifndef CHRONICLE_LLDB_PLUGIN_STEPPING_LINETABLE_H
#define CHRONICLE_LLDB_PLUGIN_STEPPING_LINETABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace chronicle::stepping {

/// The source of one instruction.
struct CodePlace {
  /// The function, or a function inlined into the scope before it.
  struct Scope {
    uint64_t Start = 0;   ///< where its code starts: identifies the scope
    uint32_t File = 0;    ///< a number for the file
    uint32_t Line = 0;    ///< in an outer scope, of the inlined call; 0: none
    bool Begins = false;  ///< inlined, and a piece of its code begins here
    bool Avoided = false; ///< the user does not want to step into it
  };
  llvm::SmallVector<Scope, 2> Scopes; ///< outermost first; empty: unknown code
  /// A row of the line table begins here. A debugger that comes from another
  /// line of the same file into the middle of a row runs to the end of the row.
  bool RowStart = false;
  /// Sets up the frame, before the function's body. It belongs to the call.
  bool Prologue = false;
  /// Code of the dynamic linker, which may run between a call and its callee.
  bool Linker = false;
  /// Code of the linkage table, which leads to a function, perhaps through the
  /// dynamic linker.
  bool Stub = false;

  bool hasLine() const { return !Scopes.empty() && Scopes.back().Line; }
};

/// The number of scopes, from the outermost one, that both have.
size_t commonScopes(llvm::ArrayRef<CodePlace::Scope> A,
                    llvm::ArrayRef<CodePlace::Scope> B);

/// A debugger's line table. The places that it returns live as long as it does.
class LineTable {
public:
  virtual ~LineTable();
  virtual const CodePlace &at(uint64_t Pc) = 0;
};

} // namespace chronicle::stepping

#endif
