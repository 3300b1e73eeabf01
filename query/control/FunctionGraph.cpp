// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/control/FunctionGraph.h"
#include "query/control/InstructionDecoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::control {

std::optional<uint32_t> FunctionGraph::at(uint64_t Address) const {
  auto It = Known.find(Address);
  if (It == Known.end())
    return std::nullopt;
  return It->second;
}

Expected<FunctionGraph> FunctionGraph::create(uint64_t Entry,
                                              const CodeSource &Source) {
  constexpr size_t MostInstructions = 1 << 20;
  FunctionGraph G;
  const InstructionDecoder Decoder;
  auto NodeAt = [&](uint64_t Address) {
    auto [It, New] = G.Known.try_emplace(Address, uint32_t(G.Nodes.size()));
    if (New)
      G.Nodes.emplace_back().Address = Address;
    return It->second;
  };
  NodeAt(Entry);
  for (uint32_t N = 0; N < G.Nodes.size(); ++N) {
    const uint64_t Address = G.Nodes[N].Address;
    if (N == MostInstructions)
      return createStringError("the function is too large");
    const SmallVector<uint8_t, 16> Bytes = Source.Bytes(Address);
    const std::optional<Decoded> Found = Decoder.decode(Bytes, Address);
    if (!Found)
      return createStringError(
          formatv("the code at {0:x} cannot be decoded", Address));
    const uint64_t Behind = Address + Found->Size;
    SmallVector<uint64_t, 2> To;
    bool Leaves = false;
    switch (Found->What) {
    case Decoded::Plain:
    case Decoded::IndirectCall:
      To = {Behind};
      break;
    case Decoded::Branch:
      To = {Found->Target, Behind};
      break;
    case Decoded::Jump:
      To = {Found->Target};
      break;
    case Decoded::Call:
      G.Nodes[N].Dies = Source.NeverReturns(Found->Target);
      if (!G.Nodes[N].Dies)
        To = {Behind};
      break;
    case Decoded::IndirectJump:
      G.Nodes[N].Indirect = true;
      G.IndirectJumps.push_back(Address);
      for (uint64_t Target : Source.Targets(Address))
        To.push_back(Target);
      Leaves = To.empty();
      break;
    case Decoded::Return:
      Leaves = true;
      break;
    case Decoded::Trap:
      G.Nodes[N].Dies = true;
      break;
    }
    SmallVector<uint32_t, 2> Next;
    for (uint64_t Target : To) {
      const bool Inside = Source.IsInside(Target);
      Leaves |= !Inside;
      Next.push_back(Inside ? NodeAt(Target) : ~0u);
    }
    // Where an indirect jump goes may not be known at all.
    if (Next.empty() && Found->What != Decoded::IndirectJump) {
      Next.push_back(~0u);
      To.push_back(0);
    }
    G.Returns |= Leaves;
    Node &Done = G.Nodes[N];
    Done.Size = Found->Size;
    Done.Next = std::move(Next);
    Done.Addresses = std::move(To);
  }
  for (Node &N : G.Nodes)
    for (uint32_t &Next : N.Next)
      Next = std::min(Next, G.exit());
  G.closeEndlessLoops();
  G.Few = G.postDominators(false);
  G.Many = G.IndirectJumps.empty() ? G.Few : G.postDominators(true);
  return G;
}

/// Marks the jumps back of loops that have no way to a return. The jump back is
/// the edge to a node that is being visited, in a depth-first walk from the
/// entry; of loops inside each other, the outermost is enough.
void FunctionGraph::closeEndlessLoops() {
  Endless.assign(Nodes.size(), false);
  while (true) {
    // What a return can be reached from.
    std::vector<std::vector<uint32_t>> Before(Nodes.size() + 1);
    for (uint32_t N = 0; N < Nodes.size(); ++N) {
      for (uint32_t Next : Nodes[N].Next)
        if (!Nodes[N].Dies)
          Before[Next].push_back(N);
      if (Endless[N])
        Before[exit()].push_back(N);
    }
    std::vector<bool> Leads(Nodes.size() + 1);
    std::vector<uint32_t> Open{exit()};
    Leads[exit()] = true;
    while (!Open.empty()) {
      const uint32_t N = Open.back();
      Open.pop_back();
      for (uint32_t B : Before[N])
        if (!Leads[B]) {
          Leads[B] = true;
          Open.push_back(B);
        }
    }
    // The first jump back to the first node that leads nowhere and is jumped
    // back to, in a walk from the entry.
    std::vector<uint8_t> State(Nodes.size()); // 1: being visited, 2: done
    std::vector<std::pair<uint32_t, size_t>> Walk{{0, 0}};
    std::vector<std::pair<size_t, uint32_t>> Back; // height of header, source
    std::vector<size_t> Height(Nodes.size());
    State[0] = 1;
    while (!Walk.empty()) {
      auto &[N, I] = Walk.back();
      if (I == Nodes[N].Next.size()) {
        State[N] = 2;
        Walk.pop_back();
        continue;
      }
      const uint32_t Next = Nodes[N].Next[I++];
      if (Next == exit())
        continue;
      if (State[Next] == 1 && !Leads[Next])
        Back.emplace_back(Height[Next], N);
      if (State[Next])
        continue;
      State[Next] = 1;
      Height[Next] = Walk.size();
      Walk.emplace_back(Next, 0);
    }
    if (Back.empty())
      return;
    const size_t Outermost = min_element(Back)->first;
    for (const auto &[At, From] : Back)
      if (At == Outermost)
        Endless[From] = true;
  }
}

/// Cooper, Harvey and Kennedy's algorithm on the reversed graph.
FunctionGraph::Tree FunctionGraph::postDominators(bool UnknownIsExit) const {
  const uint32_t Exit = exit(), None = ~0u;
  std::vector<SmallVector<uint32_t, 3>> Next(Nodes.size() + 1);
  std::vector<SmallVector<uint32_t, 3>> Before(Nodes.size() + 1);
  for (uint32_t N = 0; N < Nodes.size(); ++N) {
    Next[N].assign(Nodes[N].Next.begin(), Nodes[N].Next.end());
    if (Endless[N] || (UnknownIsExit && Nodes[N].Indirect))
      Next[N].push_back(Exit);
    for (uint32_t To : Next[N])
      Before[To].push_back(N);
  }
  // In postorder of the reversed graph, from the exit.
  std::vector<uint32_t> Order, Number(Nodes.size() + 1, None);
  std::vector<bool> Seen(Nodes.size() + 1);
  std::vector<std::pair<uint32_t, size_t>> Walk{{Exit, 0}};
  Seen[Exit] = true;
  while (!Walk.empty()) {
    auto &[N, I] = Walk.back();
    if (I == Before[N].size()) {
      Number[N] = uint32_t(Order.size());
      Order.push_back(N);
      Walk.pop_back();
      continue;
    }
    const uint32_t B = Before[N][I++];
    if (!Seen[B]) {
      Seen[B] = true;
      Walk.emplace_back(B, 0);
    }
  }
  Tree Parent(Nodes.size() + 1, None);
  Parent[Exit] = Exit;
  auto Meet = [&](uint32_t A, uint32_t B) {
    while (A != B) {
      while (Number[A] < Number[B])
        A = Parent[A];
      while (Number[B] < Number[A])
        B = Parent[B];
    }
    return A;
  };
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (uint32_t N : reverse(Order)) {
      if (N == Exit)
        continue;
      uint32_t New = None;
      for (uint32_t To : Next[N])
        if (Parent[To] != None)
          New = New == None ? To : Meet(New, To);
      if (New != Parent[N]) {
        Parent[N] = New;
        Changed = true;
      }
    }
  }
  return Parent;
}

bool FunctionGraph::isOnWay(const Tree &Of, uint32_t Node, uint32_t From) {
  const auto Exit = uint32_t(Of.size() - 1);
  for (uint32_t N = From; N != ~0u; N = Of[N]) {
    if (N == Node)
      return true;
    if (N == Exit)
      return false;
  }
  return true; // from there no way leads to the exit
}

std::optional<bool> FunctionGraph::isAlwaysAfter(uint32_t Node,
                                                 uint32_t From) const {
  // Fewer ways: more is on all of them.
  if (isOnWay(Many, Node, From))
    return true;
  if (!isOnWay(Few, Node, From))
    return false;
  return std::nullopt;
}

std::optional<bool> FunctionGraph::depends(uint32_t Node, uint32_t Branch,
                                           uint32_t Next) const {
  if (Next == exit())
    return false;
  const std::optional<bool> FromNext = isAlwaysAfter(Node, Next);
  const std::optional<bool> FromBranch =
      Node == Branch ? std::optional(false) : isAlwaysAfter(Node, Branch);
  if (FromNext == false || FromBranch == true)
    return false;
  if (FromNext && FromBranch)
    return true;
  return std::nullopt;
}

} // namespace chronicle::control
