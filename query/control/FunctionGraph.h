// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The control flow of a function, from its machine code.

#ifndef CHRONICLE_QUERY_CONTROL_FUNCTIONGRAPH_H
#define CHRONICLE_QUERY_CONTROL_FUNCTIONGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace chronicle::control {

/// What the graph needs to know about the program.
struct CodeSource {
  /// The bytes of the instruction at the address, up to 15; empty: there are
  /// none.
  llvm::function_ref<llvm::SmallVector<uint8_t, 16>(uint64_t)> Bytes;
  /// Whether the address belongs to the function.
  llvm::function_ref<bool(uint64_t)> IsInside;
  /// Whether a call of that function never returns.
  llvm::function_ref<bool(uint64_t)> NeverReturns;
  /// Where the indirect jump at the address went, as far as is known.
  llvm::function_ref<llvm::SmallVector<uint64_t, 8>(uint64_t)> Targets;
};

/// The instructions of a function that can be reached from its entry, by jumps,
/// branches and the next instruction. A call goes on behind it, unless it never
/// returns. What leaves the function (returns, jumps to other functions, calls
/// that do not return) goes to the exit. A loop that is never left, or only by
/// what ends the program or throws, counts as left where it jumps back.
///
/// Indirect jumps have more targets than are known. Questions about what lies
/// on all ways are answered for two graphs: one without the unknown targets,
/// and one in which they are the exit. If both agree, the answer is right
/// whatever the targets are.
class FunctionGraph {
public:
  /// An instruction; its number is its index.
  struct Node {
    uint64_t Address = 0;
    uint8_t Size = 0;
    bool Indirect = false; ///< an indirect jump
    bool Dies = false;     ///< a call that does not return, or a trap
    llvm::SmallVector<uint32_t, 2> Next; ///< exit() for the exit
    /// Where each of Next is; that of the exit may be in another function.
    llvm::SmallVector<uint64_t, 2> Addresses;
  };

  /// Decodes the function. Fails if there is code that cannot be decoded.
  static llvm::Expected<FunctionGraph> create(uint64_t Entry,
                                              const CodeSource &Source);

  llvm::ArrayRef<Node> nodes() const { return Nodes; }
  uint32_t exit() const { return uint32_t(Nodes.size()); }
  std::optional<uint32_t> at(uint64_t Address) const;
  /// Indirect jumps, of which not all targets are known.
  llvm::ArrayRef<uint64_t> indirectJumps() const { return IndirectJumps; }
  /// Whether a return or a jump to another function can be reached.
  bool returns() const { return Returns; }

  /// Whether every way from From to the exit has Node on it. Nothing: that
  /// depends on targets that are not known.
  std::optional<bool> isAlwaysAfter(uint32_t Node, uint32_t From) const;
  /// Whether Node depends on the branch going to its successor Next: from there
  /// every way leads to Node, from the branch not every one does. Nothing: that
  /// depends on targets that are not known.
  std::optional<bool> depends(uint32_t Node, uint32_t Branch,
                              uint32_t Next) const;

private:
  FunctionGraph() = default;
  void closeEndlessLoops();
  /// By node, the first one that is on every way from it to the exit.
  using Tree = std::vector<uint32_t>;
  Tree postDominators(bool UnknownIsExit) const;
  static bool isOnWay(const Tree &Of, uint32_t Node, uint32_t From);

  std::vector<Node> Nodes;
  llvm::DenseMap<uint64_t, uint32_t> Known;
  std::vector<uint64_t> IndirectJumps;
  bool Returns = false;
  Tree Few, Many; ///< without and with ways by unknown targets
  /// Nodes that also go to the exit because their loop never ends.
  std::vector<bool> Endless;
};

} // namespace chronicle::control

#endif
