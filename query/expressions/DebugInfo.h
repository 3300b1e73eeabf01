// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Names that the code at an address can use, from debug info.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_DEBUGINFO_H
#define CHRONICLE_QUERY_EXPRESSIONS_DEBUGINFO_H

#include "query/Trace.h"
#include "query/expressions/Type.h"
#include "query/symbols/Symbols.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"

namespace chronicle::expressions {

/// The debug info of one file. Has a context of its own, because LLVM's reader
/// is for one thread at a time.
class DebugInfo {
public:
  /// Null: the module has none that can be used.
  static std::unique_ptr<DebugInfo> open(const query::Trace &T,
                                         const state::ModuleLoad &Module);

  TypeTable &types() { return Types; }

  /// The function that the code at an address belongs to, or one that was
  /// inlined into it.
  struct Scope {
    llvm::DWARFDie Function; ///< the one that has a frame
    /// The function and its blocks around the address, innermost last.
    std::vector<llvm::DWARFDie> Blocks;
    explicit operator bool() const { return !Blocks.empty(); }
  };
  /// Inside is how many functions were inlined at the address into the one that
  /// is meant.
  Scope scope(uint64_t Address, unsigned Inside);

  /// The variable or parameter of the scope; invalid: there is none, or it is
  /// not clear which.
  static llvm::DWARFDie local(const Scope &S, llvm::StringRef Name);
  /// The variable of the scope's compile unit, or its declaration.
  static llvm::DWARFDie global(const Scope &S, llvm::StringRef Name);
  /// The enumerator of the scope's compile unit.
  static llvm::DWARFDie enumerator(const Scope &S, llvm::StringRef Name);

  /// Where a breakpoint on the function that starts at the address stops: after
  /// its prologue, if it has one.
  uint64_t afterPrologue(uint64_t Function);

private:
  files::ElfFile Debug; ///< a file of its own; empty: the module's
  std::unique_ptr<llvm::DWARFContext> Dwarf;
  TypeTable Types;
};

/// Whether the compiler may have dropped the function's result, so that the
/// register has something else.
bool mayDropResult(const query::Trace &T, const state::ModuleLoad &Module,
                   const llvm::DWARFDie &Function);

} // namespace chronicle::expressions

#endif
