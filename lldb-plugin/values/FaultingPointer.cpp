// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/FaultingPointer.h"
#include "lldb-plugin/values/ValueText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

using namespace llvm;

namespace chronicle::values {

namespace {
/// Looks for pointers to an address, from a frame's variables on.
class PointerSearch {
public:
  explicit PointerSearch(uint64_t Address) : Address(Address) {}

  void visit(lldb::SBValue Value, unsigned Depth) {
    if (!Left)
      return;
    --Left;
    Value = Value.GetNonSyntheticValue();
    lldb::SBType Type = Value.GetType().GetCanonicalType();
    const bool IsPointer = Type.IsPointerType();
    if (IsPointer && pointsThere(Value, Type)) {
      lldb::SBStream Path;
      if (Value.GetExpressionPath(Path))
        Found.push_back({Path.GetData(), isInMemory(Value)});
      return; // what it points to cannot be read
    }
    constexpr uint32_t Lists =
        lldb::eTypeClassStruct | lldb::eTypeClassClass | lldb::eTypeClassUnion;
    lldb::SBType Members =
        IsPointer ? Type.GetPointeeType().GetCanonicalType() : Type;
    if (Depth && (Members.GetTypeClass() & Lists))
      for (uint32_t I = 0, N = std::min(Value.GetNumChildren(), MostMembers);
           I < N; ++I)
        visit(Value.GetChildAtIndex(I), Depth - 1);
  }

  std::vector<FaultingPointer> Found;

private:
  static constexpr uint32_t MostMembers = 32;

  bool pointsThere(lldb::SBValue Value, lldb::SBType Type) const {
    lldb::SBError Failed;
    const uint64_t Pointer = Value.GetValueAsUnsigned(Failed);
    const uint64_t Size = Type.GetPointeeType().GetByteSize();
    return Failed.Success() && Address >= Pointer &&
           Address - Pointer < std::max<uint64_t>(Size, 1);
  }

  const uint64_t Address;
  unsigned Left = 500;
};
} // namespace

/// The text of the line that the frame is at; empty if there is no source.
static std::string lineOf(lldb::SBFrame Frame) {
  lldb::SBLineEntry Line = Frame.GetLineEntry();
  if (!Line.IsValid())
    return "";
  lldb::SBStream Text;
  Frame.GetThread()
      .GetProcess()
      .GetTarget()
      .GetSourceManager()
      .DisplaySourceLinesWithLineNumbers(Line.GetFileSpec(), Line.GetLine(), 0,
                                         0, "", Text);
  return Text.GetData() ? Text.GetData() : "";
}

/// Whether the line has the expression, and not only as a part of a longer
/// name.
static bool mentions(StringRef Line, StringRef Expression) {
  auto IsName = [](char C) { return isAlnum(C) || C == '_'; };
  for (size_t At = 0; (At = Line.find(Expression, At)) != StringRef::npos;
       ++At) {
    const size_t End = At + Expression.size();
    if ((At == 0 || !IsName(Line[At - 1])) &&
        (End == Line.size() || !IsName(Line[End])))
      return true;
  }
  return false;
}

std::optional<FaultingPointer> faultingPointer(lldb::SBFrame Frame,
                                               uint64_t Address) {
  PointerSearch Search(Address);
  lldb::SBValueList Variables =
      Frame.GetVariables(/*arguments=*/true, /*locals=*/true,
                         /*statics=*/false, /*in_scope_only=*/true);
  for (uint32_t I = 0, N = Variables.GetSize(); I < N; ++I)
    Search.visit(Variables.GetValueAtIndex(I), /*Depth=*/3);
  const std::string Line = lineOf(Frame);
  std::optional<FaultingPointer> Best;
  bool Several = false;
  for (const FaultingPointer &Each : Search.Found) {
    const size_t Longest = Best ? Best->Expression.size() : 0;
    if (!mentions(Line, Each.Expression) || Each.Expression.size() < Longest)
      continue;
    Several = Each.Expression.size() == Longest &&
              Each.Expression != Best->Expression;
    Best = Each;
  }
  return Several ? std::nullopt : Best;
}

} // namespace chronicle::values
