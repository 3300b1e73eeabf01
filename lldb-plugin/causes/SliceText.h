// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The slice of a value as text: a tree, or source lines.

#ifndef CHRONICLE_LLDB_PLUGIN_CAUSES_SLICETEXT_H
#define CHRONICLE_LLDB_PLUGIN_CAUSES_SLICETEXT_H

#include "lldb-plugin/target/Table.h"
#include "query/variables/OriginQuestions.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace chronicle::causes {

struct SliceTree {
  target::Table Rows;
  size_t Folded = 0; ///< nodes that only carry a value within a line
};

/// A row for each node. What a node was computed from is indented below it; a
/// node that several others need is shown below the first of them, and named
/// below the others. ValueText makes text of what the question's value was
/// copied from.
SliceTree
sliceTree(const query::Trace &T, lldb::SBTarget Target,
          const variables::SliceAnswer &A, bool All, const target::Style &How,
          llvm::function_ref<std::string(llvm::ArrayRef<uint8_t>)> ValueText);

/// The source of the slice, with an arrow at each of its lines, how often it
/// had a part in the value, and when last. A line whose source is not there is
/// shown without its text.
std::string sliceLines(lldb::SBDebugger Debugger,
                       const variables::SliceAnswer &A,
                       const target::Style &How);

} // namespace chronicle::causes

#endif
