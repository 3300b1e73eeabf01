// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/WrittenMembers.h"
#include "lldb-plugin/values/ValueText.h"
#include "query/symbols/Symbols.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::values {

static constexpr size_t MostMembers = 256, MostDepth = 16;

bool hasMembers(lldb::SBValue Value) {
  return Value.GetError().Success() && !Value.GetValue() &&
         !Value.GetSummary() && !Value.IsSynthetic() &&
         Value.MightHaveChildren() && Value.GetNumChildren() > 0;
}

namespace {
class MemberWalk {
public:
  MemberWalk(answers::AddressRange Written,
             function_ref<std::string(lldb::SBValue)> VtableText)
      : Written(Written), VtableText(VtableText) {}

  void visit(lldb::SBValue V, const std::string &Path, unsigned Depth) {
    if (Found.size() == MostMembers)
      return;
    if (Depth == MostDepth || !hasMembers(V)) {
      Found.push_back({Path, valueText(V)});
      return;
    }
    auto [First, Last] = indices(V);
    bool AtStart = false; // whether a member begins where the value does
    for (uint64_t I = First; I <= Last && Found.size() < MostMembers; ++I) {
      // A pointer that has the type of its object has no address.
      lldb::SBValue Member = V.GetChildAtIndex(
          uint32_t(I), lldb::eNoDynamicValues, /*can_create_synthetic=*/false);
      AtStart |= Member.GetLoadAddress() == V.GetLoadAddress();
      if (touches(V, Member))
        visit(Member, pathOf(V, Member, Path), Depth + 1);
    }
    lldb::SBType Type = V.GetType();
    if (!AtStart && Type.IsPolymorphicClass() &&
        touches(V.GetLoadAddress(), sizeof(uint64_t)))
      Found.push_back(
          {Path + (Path.empty() ? "" : ".") + "_vptr", VtableText(V)});
  }

  std::vector<MemberText> Found;

private:
  bool touches(uint64_t Address, uint64_t Size) const {
    return Address != LLDB_INVALID_ADDRESS && Size && Address <= Written.Last &&
           Address + (Size - 1) >= Written.First;
  }

  bool touches(lldb::SBValue Whole, lldb::SBValue Member) const {
    if (Member.GetLoadAddress() != LLDB_INVALID_ADDRESS)
      return touches(Member.GetLoadAddress(), Member.GetByteSize());
    // A bit-field has no address; the structure's type has its bits.
    lldb::SBType Type = Whole.GetType().GetCanonicalType();
    StringRef Name = Member.GetName() ? Member.GetName() : "";
    for (uint32_t I = 0, N = Type.GetNumberOfFields(); I < N; ++I) {
      lldb::SBTypeMember Field = Type.GetFieldAtIndex(I);
      if (!Field.IsBitfield() || !Field.GetName() || Name != Field.GetName())
        continue;
      uint64_t First = Field.GetOffsetInBits();
      uint64_t Last = First + Field.GetBitfieldSizeInBits() - 1;
      return touches(Whole.GetLoadAddress() + First / 8,
                     Last / 8 - First / 8 + 1);
    }
    return false;
  }

  /// The members that may be touched. An array may have many.
  std::pair<uint64_t, uint64_t> indices(lldb::SBValue V) const {
    const uint64_t Count = V.GetNumChildren();
    lldb::SBType Type = V.GetType().GetCanonicalType();
    const uint64_t Start = V.GetLoadAddress();
    const uint64_t Size =
        Type.IsArrayType() ? Type.GetArrayElementType().GetByteSize() : 0;
    if (!Size || Start == LLDB_INVALID_ADDRESS || Written.Last < Start)
      return {0, Count - 1};
    uint64_t First = Written.First > Start ? (Written.First - Start) / Size : 0;
    return {First, std::min((Written.Last - Start) / Size, Count - 1)};
  }

  static std::string pathOf(lldb::SBValue Whole, lldb::SBValue Member,
                            const std::string &Path) {
    StringRef Name = Member.GetName() ? Member.GetName() : "";
    // A base class, or a structure without a name, adds nothing to the path.
    lldb::SBType Type = Whole.GetType().GetCanonicalType();
    bool IsBase = false;
    for (uint32_t I = 0, N = Type.GetNumberOfDirectBaseClasses(); I < N; ++I) {
      const char *Base = Type.GetDirectBaseClassAtIndex(I).GetName();
      IsBase |= Base && Name == Base;
    }
    if (IsBase || Name.empty())
      return Path;
    bool IsElement = Name.starts_with("[");
    return Path + (Path.empty() || IsElement ? "" : ".") + Name.str();
  }

  answers::AddressRange Written;
  function_ref<std::string(lldb::SBValue)> VtableText;
};
} // namespace

std::vector<MemberText>
writtenMembers(lldb::SBValue Value, answers::AddressRange Written,
               function_ref<std::string(lldb::SBValue)> VtableText) {
  MemberWalk Walk(Written, VtableText);
  Walk.visit(Value, "", 0);
  return std::move(Walk.Found);
}

std::vector<MemberChange> changedMembers(std::vector<MemberText> Old,
                                         std::vector<MemberText> New) {
  std::vector<MemberChange> All, Changed;
  for (auto &&[Before, After] : zip(Old, New))
    All.push_back({Before.Name, Before.Text, After.Text});
  copy_if(All, std::back_inserter(Changed),
          [](const MemberChange &C) { return C.Old != C.New; });
  return Changed.empty() ? All : Changed;
}

static std::string
membersText(const std::vector<MemberChange> &Changes,
            function_ref<const std::string &(const MemberChange &)> Side) {
  constexpr size_t MostShown = 8;
  std::string Text = "{";
  for (const MemberChange &C : ArrayRef(Changes).take_front(MostShown)) {
    Text += Text.size() > 1 ? ", " : "";
    Text += (C.Name.empty() ? "" : C.Name + " = ") + Side(C);
  }
  return Text + (Changes.size() > MostShown ? ", ...}" : "}");
}

std::string oldText(const std::vector<MemberChange> &Changes) {
  return membersText(Changes, [](const MemberChange &C) -> const std::string & {
    return C.Old;
  });
}
std::string newText(const std::vector<MemberChange> &Changes) {
  return membersText(Changes, [](const MemberChange &C) -> const std::string & {
    return C.New;
  });
}

Expected<std::string> vtableNameAt(const query::Trace &T, uint64_t Address,
                                   Timestamp At) {
  Expected<answers::MemoryContents> M = T.memory(Address, 8, At);
  if (!M)
    return M.takeError();
  const uint64_t Pointer = support::endian::read64le(M->Bytes.data());
  std::optional<symbols::SymbolAt> Symbol = T.symbols().findGlobal(Pointer, At);
  if (!Symbol || !StringRef(Symbol->Name).contains("vtable for "))
    return "";
  return formatv("{0} + {1}", Symbol->Name, Pointer - Symbol->Address).str();
}

} // namespace chronicle::values
