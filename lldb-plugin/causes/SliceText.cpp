// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lldb-plugin/causes/SliceText.h"
#include "lldb-plugin/causes/StepText.h"
#include "lldb-plugin/target/Describe.h"
#include "trace-format/Text.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::causes {

using answers::OriginKind;
using answers::SliceEdge;
using variables::SliceLine;
using variables::SliceNodeAnswer;

/// The edges to what is shown below a node: those of a node that is not shown
/// are those of the node above.
static void visibleEdges(const variables::SliceAnswer &A,
                         ArrayRef<SliceEdge> Edges, bool All,
                         std::vector<bool> &Hidden,
                         std::vector<SliceEdge> &To) {
  std::vector<std::pair<SliceEdge, SliceEdge::Kind>> Open;
  for (const SliceEdge &E : reverse(Edges))
    Open.emplace_back(E, E.What);
  while (!Open.empty()) {
    auto [E, Kind] = Open.back();
    Open.pop_back();
    const SliceNodeAnswer &N = A.Nodes[E.Node];
    if (All || !N.Carries) {
      E.What = Kind;
      if (none_of(To, [&](const SliceEdge &Other) {
            return Other.Node == E.Node && Other.What == E.What;
          }))
        To.push_back(E);
      continue;
    }
    Hidden[E.Node] = true;
    for (const SliceEdge &Next : reverse(N.From)) {
      SliceEdge Further = Next;
      if (!variables::isOfFlags(E.Read) && E.Read.Size)
        Further.Read = E.Read;
      Open.emplace_back(Further, Kind == SliceEdge::Part ? Next.What : Kind);
    }
  }
}

SliceTree sliceTree(const query::Trace &T, lldb::SBTarget Target,
                    const variables::SliceAnswer &A, bool All,
                    const target::Style &How,
                    function_ref<std::string(ArrayRef<uint8_t>)> ValueText) {
  SliceTree Result{target::Table({{"time", target::Table::Role::Time},
                                  "thread",
                                  "value",
                                  {"how", target::Table::Role::Place}}),
                   0};
  std::vector<bool> Shown(A.Nodes.size()), Hidden(A.Nodes.size());
  struct Row {
    SliceEdge Edge;
    unsigned Indent;
  };
  std::vector<Row> Open;
  auto Add = [&](ArrayRef<SliceEdge> From, unsigned Indent, bool Computed) {
    std::vector<SliceEdge> Edges;
    visibleEdges(A, From, All, Hidden, Edges);
    if (Computed || Edges.size() > 1)
      ++Indent;
    for (const SliceEdge &E : reverse(Edges))
      Open.push_back({E, Indent});
  };
  Add(A.Roots, 0, false);
  for (Row &R : Open) // several parts of the value are not below anything
    R.Indent = 0;
  while (!Open.empty()) {
    const auto [E, Indent] = Open.back();
    Open.pop_back();
    const SliceNodeAnswer &N = A.Nodes[E.Node];
    std::string Text(2 * size_t(Indent), ' ');
    if (E.What == SliceEdge::Condition)
      Text += "chosen by ";
    if (E.What != SliceEdge::Part && E.Read.Size)
      Text += placeName(T, E.Read, N.Step.Time) + ": ";
    Text += Shown[E.Node] ? "as above, at time " + groupedDigits(N.Step.Time)
                          : stepText(T, Target, N, How);
    if (N.Cut && !Shown[E.Node])
      Text += " (not followed)";
    Result.Rows.add(
        {groupedDigits(N.Step.Time),
         N.Step.Thread ? std::to_string(N.Step.Thread) : "",
         N.Depth ? target::valueText(N.Step.Value) : ValueText(N.Step.Value),
         std::move(Text)});
    if (!Shown[E.Node])
      Add(N.From, Indent, N.Step.Made == OriginKind::Computed);
    Shown[E.Node] = true;
  }
  Result.Folded = size_t(count(Hidden, true));
  return Result;
}

std::string sliceLines(lldb::SBDebugger Debugger,
                       const variables::SliceAnswer &A,
                       const target::Style &How) {
  constexpr uint32_t Gap = 3; // lines between two of the slice that are shown
  std::string Result;
  const SliceLine *Before = nullptr;
  auto Show = [&](StringRef File, uint32_t Line, const SliceLine *Marked) {
    const std::optional<std::string> Text = sourceText(Debugger, File, Line);
    if (!Text && !Marked)
      return;
    Result += formatv("{0} {1,-5}{2}", Marked ? "->" : "  ", Line,
                      Text ? *Text : std::string("(no source)"));
    if (Marked && Marked->Count > 1)
      Result += formatv("    // {0} instructions, last at {1}", Marked->Count,
                        How.time(Marked->Last));
    else if (Marked)
      Result += formatv("    // at {0}", How.time(Marked->Last));
    Result += '\n';
  };
  for (const SliceLine &L : A.Lines) {
    if (!Before || Before->File != L.File || Before->Function != L.Function) {
      Result += formatv("{0} at {1}:\n", How.name(L.Function),
                        sys::path::filename(L.File));
    } else if (L.Line - Before->Line > Gap) {
      Result += "   ...\n";
    } else {
      for (uint32_t Line = Before->Line + 1; Line < L.Line; ++Line)
        Show(L.File, Line, nullptr);
    }
    Show(L.File, L.Line, &L);
    Before = &L;
  }
  return Result;
}

} // namespace chronicle::causes
