// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/LldbLines.h"

using namespace llvm;

namespace chronicle::target {

LldbLines::LldbLines(lldb::SBTarget Target) : Target(Target) {
  // "^std::" unless the user has set something else.
  lldb::SBStringList Values = lldb::SBDebugger::GetInternalVariableValue(
      "target.process.thread.step-avoid-regexp",
      Target.GetDebugger().GetInstanceName());
  StringRef Pattern =
      Values.GetSize() ? StringRef(Values.GetStringAtIndex(0)) : "";
  if (!Pattern.empty())
    Avoided.emplace(Pattern);
}

const stepping::CodePlace &LldbLines::at(uint64_t Pc) {
  auto [It, New] = Known.try_emplace(Pc);
  if (New)
    It->second = find(Pc);
  return It->second;
}

uint32_t LldbLines::fileNumber(lldb::SBFileSpec File) {
  char Path[4096];
  if (!File.GetPath(Path, sizeof(Path)))
    return 0;
  return Files.try_emplace(Path, Files.size() + 1).first->second;
}

/// The name without the return type, which names of templates begin with, and
/// without the parameters: LLDB matches this to decide what to step into.
static StringRef bareName(StringRef Name) {
  unsigned Depth = 0;
  size_t Start = 0, End = Name.size();
  for (size_t I = 0; I < Name.size(); ++I) {
    if (Name.substr(I).starts_with("operator"))
      break; // an operator's name may contain any of these characters
    char C = Name[I];
    if (C == '(' && !Depth && I > Start &&
        !Name.substr(I).starts_with("(anonymous")) {
      End = I;
      break;
    }
    if (C == '<' || C == '(' || C == '{')
      ++Depth;
    else if ((C == '>' || C == ')' || C == '}') && Depth)
      --Depth;
    else if (C == ' ' && !Depth)
      Start = I + 1;
  }
  return Name.slice(Start, End);
}

bool LldbLines::isAvoided(const char *Name) {
  return Avoided && Name && Avoided->match(bareName(Name));
}

stepping::CodePlace LldbLines::find(uint64_t Pc) {
  stepping::CodePlace Place;
  lldb::SBAddress Address = Target.ResolveLoadAddress(Pc);
  lldb::SBSymbolContext Context = Target.ResolveSymbolContextForAddress(
      Address, lldb::eSymbolContextFunction | lldb::eSymbolContextBlock |
                   lldb::eSymbolContextLineEntry | lldb::eSymbolContextModule);
  const char *Section = Address.GetSection().GetName(); // .plt, .plt.sec, ...
  const char *File = Context.GetModule().GetFileSpec().GetFilename();
  Place.Stub = Section && StringRef(Section).starts_with(".plt");
  Place.Linker = File && StringRef(File).starts_with("ld-");
  lldb::SBFunction Function = Context.GetFunction();
  lldb::SBLineEntry Entry = Context.GetLineEntry();
  if (!Function.IsValid() || !Entry.IsValid())
    return Place;

  Place.RowStart = Entry.GetStartAddress() == Address;
  // From the inside out: a scope's line is its own, then that of the call of
  // what is inlined in it.
  stepping::CodePlace::Scope Inner;
  Inner.File = fileNumber(Entry.GetFileSpec());
  Inner.Line = Entry.GetLine();
  lldb::SBBlock Block = Context.GetBlock();
  if (Block.IsValid() && !Block.IsInlined())
    Block = Block.GetContainingInlinedBlock();
  for (; Block.IsValid();
       Block = Block.GetParent().IsInlined()
                   ? Block.GetParent()
                   : Block.GetParent().GetContainingInlinedBlock()) {
    Inner.Start = Block.GetRangeStartAddress(0).GetLoadAddress(Target);
    Inner.Begins = Block.GetRangeStartAddress(
                       Block.GetRangeIndexForBlockAddress(Address)) == Address;
    Inner.Avoided = isAvoided(Block.GetInlinedName());
    Place.Scopes.push_back(Inner);
    Inner.File = fileNumber(Block.GetInlinedCallSiteFile());
    Inner.Line = Block.GetInlinedCallSiteLine();
  }
  uint64_t Start = Function.GetStartAddress().GetLoadAddress(Target);
  Inner.Start = Start;
  Inner.Begins = false;
  Inner.Avoided = isAvoided(Function.GetName());
  Place.Scopes.push_back(Inner);
  std::reverse(Place.Scopes.begin(), Place.Scopes.end());

  Place.Prologue =
      Place.Scopes.size() == 1 && Pc - Start < Function.GetPrologueByteSize();
  return Place;
}

} // namespace chronicle::target
