// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/CodePlaces.h"
#include "query/base/UnknownName.h"
#include "query/questions/Place.h"
#include "query/questions/QueryError.h"
#include "query/symbols/ShortName.h"
#include "query/symbols/SymbolNames.h"
#include "query/symbols/Symbols.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::questions {

/// Null: the module was not loaded during that time.
static CodePlace *addPlace(std::vector<CodePlace> &Places,
                           const state::ModuleLoad &Load, uint64_t Address,
                           uint64_t Size, answers::TimeRange When) {
  if (Load.Loaded > When.Last || Load.Unloaded <= When.First)
    return nullptr;
  Places.push_back({{Address, Address + std::max<uint64_t>(Size, 1) - 1},
                    {std::max(When.First, Load.Loaded),
                     std::min(When.Last, Load.Unloaded - 1)}});
  return &Places.back();
}

/// Adds where a function was inlined: its start, or all its code.
static void addInlined(const symbols::InlinedAt &At, bool Whole,
                       answers::TimeRange When,
                       std::vector<CodePlace> &Places) {
  if (!Whole) {
    for (uint64_t Entry : At.Code.Entries)
      if (CodePlace *Place = addPlace(Places, *At.Module, Entry, 1, When))
        Place->Inlined = At.Code;
    return;
  }
  for (auto [First, End] : At.Code.Ranges) {
    // A recursive function may be inlined into itself.
    CodePlace *New = addPlace(Places, *At.Module, First, End - First, When);
    if (New && any_of(ArrayRef(Places).drop_back(), [&](const CodePlace &P) {
          return P.Range.First <= New->Range.First &&
                 New->Range.Last <= P.Range.Last &&
                 P.When.First == New->When.First;
        }))
      Places.pop_back();
  }
}

/// What a run of an ifunc's resolver returned, and when. Nothing: it did not
/// return.
static Expected<std::optional<std::pair<uint64_t, Timestamp>>>
resolvedBy(const query::Trace &T, const answers::Execution &Run) {
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(Run.Thread, Run.Time, 1);
  if (!Stack)
    return Stack.takeError();
  if (Stack->empty() || Stack->front().Entry != Run.Time)
    return std::nullopt;
  Expected<std::optional<Timestamp>> Return = T.returnOf(Stack->front());
  if (!Return)
    return Return.takeError();
  if (!*Return)
    return std::nullopt;
  Expected<answers::Registers> R = T.registers(Run.Thread, **Return);
  if (!R)
    return R.takeError();
  return std::pair(R->word(CH_OFFSET_RAX), **Return);
}

/// Adds the functions that an ifunc's resolver chose.
static Error addResolved(const query::Trace &T,
                         const symbols::SymbolAt &Resolver,
                         answers::TimeRange When,
                         const answers::Cancellation &Cancel,
                         std::vector<CodePlace> &Places) {
  // Each module that uses the function runs the resolver once.
  constexpr size_t MostRuns = 16;
  std::vector<answers::Execution> Runs;
  uint64_t Entry = Resolver.Address;
  Error E = T.executions(
      {Entry, Entry}, {Resolver.Module->Loaded, T.instructions()}, 0,
      /*Backward=*/false,
      [&](const answers::Execution &X) {
        Runs.push_back(X);
        return Runs.size() < MostRuns;
      },
      &Cancel);
  if (E)
    return E;
  for (const answers::Execution &X : Runs) {
    Expected<std::optional<std::pair<uint64_t, Timestamp>>> Resolved =
        resolvedBy(T, X);
    if (!Resolved)
      return Resolved.takeError();
    if (!*Resolved)
      continue;
    auto [Target, Time] = **Resolved;
    if (const state::ModuleLoad *Load = T.symbols().moduleAt(Target, Time))
      addPlace(Places, *Load, Target, 1, When);
  }
  return Error::success();
}

static std::vector<CodePlace>
sortedWithoutDuplicates(std::vector<CodePlace> Places) {
  sort(Places, [](const CodePlace &A, const CodePlace &B) {
    return std::tie(A.Range.First, A.When.First, A.Range.Last) <
           std::tie(B.Range.First, B.When.First, B.Range.Last);
  });
  Places.erase(llvm::unique(Places,
                            [](const CodePlace &A, const CodePlace &B) {
                              return A.Range.First == B.Range.First &&
                                     A.Range.Last == B.Range.Last &&
                                     A.When.First == B.When.First;
                            }),
               Places.end());
  return Places;
}

/// The name without the types of arguments and templates and, unless
/// Qualified, without the class or namespace.
static std::string spokenName(StringRef LinkageName, bool Qualified) {
  std::string Name =
      symbols::shortName(symbols::sourceNameWithoutArguments(LinkageName));
  StringRef Text = Name;
  if (!Text.contains("operator"))
    Text = Text.split('<').first;
  size_t Colons = Qualified ? StringRef::npos : Text.rfind("::");
  return Text.substr(Colons == StringRef::npos ? 0 : Colons + 2).str();
}

std::string unknownFunction(const query::Trace &T, StringRef Name) {
  std::string Text = ("no function is called '" + Name +
                      "' in the modules whose symbols could be read")
                         .str();
  Expected<std::vector<symbols::SymbolAt>> All =
      T.symbols().functionsMatching("*");
  if (!All) {
    consumeError(All.takeError()); // it only means no suggestion
    return Text;
  }
  // The program's own functions are more likely to be meant than the thousands
  // of the system's libraries.
  std::vector<std::string> Own, System;
  for (const symbols::SymbolAt &S : *All) {
    std::string Spoken = spokenName(S.LinkageName, Name.contains("::"));
    // Names that begin so are the compiler's and the linker's.
    if (Name.starts_with("_") || !StringRef(Spoken).starts_with("_"))
      (isSystemLibrary(S.Module->Info.Path) ? System : Own)
          .push_back(std::move(Spoken));
  }
  for (const std::vector<std::string> &Names : {Own, System}) {
    StringRef Meant = base::nearestName(
        Name, std::vector<StringRef>(Names.begin(), Names.end()),
        std::max<size_t>(Name.size() / 3, 1));
    if (!Meant.empty())
      return (Text + "; did you mean '" + Meant + "'?").str();
  }
  return Text;
}

static Expected<std::vector<CodePlace>>
functionPlaces(const query::Trace &T, const FunctionName &Function,
               answers::TimeRange When, const answers::Cancellation &Cancel) {
  symbols::FunctionCode Found = T.symbols().functionCode(Function.Name);
  if (Found.Functions.empty() && Found.Inlined.empty() &&
      Function.Name.find_first_of("*?[") != std::string::npos) {
    if (Error E = T.symbols()
                      .functionsMatching(Function.Name)
                      .moveInto(Found.Functions))
      return queryError("bad-argument", toString(std::move(E)));
    erase_if(Found.Functions, [](const symbols::SymbolAt &S) {
      return symbols::isFunctionPart(S.LinkageName);
    });
  }
  if (Found.Functions.empty() && Found.Inlined.empty())
    return queryError("not-found", unknownFunction(T, Function.Name));
  std::vector<CodePlace> Places;
  for (const symbols::SymbolAt &S : Found.Functions) {
    if (!S.Indirect)
      addPlace(Places, *S.Module, S.Address, Function.Whole ? S.Size : 1, When);
    else if (Error E = addResolved(T, S, When, Cancel, Places))
      return E;
  }
  for (const symbols::InlinedAt &At : Found.Inlined)
    addInlined(At, Function.Whole, When, Places);
  return sortedWithoutDuplicates(std::move(Places));
}

static Expected<std::vector<CodePlace>> linePlaces(const query::Trace &T,
                                                   const SourceLine &Line,
                                                   answers::TimeRange When) {
  std::vector<symbols::LineAt> Found = T.symbols().lines(Line.File, Line.Line);
  if (Found.empty())
    return queryError("not-found",
                      "no code of " + Line.File + ", line " + Twine(Line.Line) +
                          " or later, is in the modules whose debug info "
                          "could be read");
  std::vector<CodePlace> Places;
  for (const symbols::LineAt &L : Found)
    addPlace(Places, *L.Module, L.Code.Address, 1, When);
  return sortedWithoutDuplicates(std::move(Places));
}

Expected<CodeSelector> parseCode(StringRef Text) {
  uint64_t Number;
  if (!Text.getAsInteger(0, Number))
    return answers::AddressRange{Number, Number};
  auto [File, Line] = Text.rsplit(':');
  if (File.empty() || File.ends_with(":") || Line.empty() ||
      Line.getAsInteger(10, Number))
    return FunctionName{Text.str()};
  if (!Number || Number > UINT32_MAX)
    return createStringError("invalid line '" + Line.str() +
                             "': expected a number from 1 to 2^32 - 1");
  return SourceLine{File.str(), uint32_t(Number)};
}

Expected<std::vector<CodePlace>> findCode(const query::Trace &T,
                                          const CodeSelector &Code,
                                          answers::TimeRange When,
                                          const answers::Cancellation &Cancel) {
  if (const auto *Function = std::get_if<FunctionName>(&Code))
    return functionPlaces(T, *Function, When, Cancel);
  if (const auto *Line = std::get_if<SourceLine>(&Code))
    return linePlaces(T, *Line, When);
  return std::vector<CodePlace>{{std::get<answers::AddressRange>(Code), When}};
}

} // namespace chronicle::questions
