// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/TraceFiles.h"
#include "query/symbols/Symbols.h"
#include "trace-format/RunPiece.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::target {

Expected<SourceMapping> parseSourceMapping(StringRef Text) {
  auto [From, To] = Text.split('=');
  if (From.empty() || To.empty())
    return createStringError("invalid source mapping '" + Text +
                             "': expected FROM=TO, two directories");
  return SourceMapping(From.str(), To.str());
}

std::string programFile(const query::Trace &T) {
  std::string Program = programPath(T.reader().run());
  const state::ModuleLoad *Load = T.symbols().program(Program);
  if (!Load)
    return "";
  const symbols::ModulePlace &Place = T.symbols().placeOf(*Load);
  // LLDB shows the name by which it was started, if that still leads there.
  return sys::fs::equivalent(Place.Path, Program) ? Program : Place.Path;
}

/// "a", "a and b", "a, b and 5 more".
static std::string listText(ArrayRef<std::string> Paths) {
  constexpr size_t Shown = 3;
  std::string Text;
  for (size_t I = 0; I < std::min(Paths.size(), Shown); ++I)
    Text += (I == 0                                           ? ""
             : I + 1 == Paths.size() && Paths.size() <= Shown ? " and "
                                                              : ", ") +
            Paths[I];
  if (Paths.size() > Shown)
    Text += formatv(" and {0} more", Paths.size() - Shown);
  return Text;
}

void checkFiles(const query::Trace &T, Timestamp Time,
                std::vector<std::string> &Warnings) {
  Expected<std::vector<answers::Module>> Modules = T.modules(Time);
  if (!Modules) {
    Warnings.push_back(toString(Modules.takeError()));
    return;
  }
  if (const files::PackedTree *Packed = T.symbols().finder().packed();
      Packed && !Packed->problem().empty())
    Warnings.push_back(Packed->problem().str());
  std::vector<std::string> Missing, Others;
  for (const answers::Module &M : *Modules) {
    if (!sys::path::is_absolute(M.Path)) // [vdso]
      continue;
    const state::ModuleLoad *Load = T.symbols().moduleAt(M.Address, Time);
    if (!Load)
      continue;
    const symbols::ModulePlace &Place = T.symbols().placeOf(*Load);
    if (Place.IsRecorded)
      continue;
    if (!Place.Path.empty())
      Warnings.push_back(M.Path +
                         " is not the build that was recorded: what LLDB says "
                         "of its names, lines and variables may be wrong");
    else
      (sys::fs::exists(M.Path) ? Others : Missing).push_back(M.Path);
  }
  if (!Missing.empty())
    Warnings.push_back(formatv(
        "{0}, which {1} recorded, {2} not there, so LLDB has no names for "
        "{3} code: run 'chronicle pack' on the machine that recorded, or load "
        "with --sysroot and a copy of its files",
        listText(Missing), Missing.size() == 1 ? "was" : "were",
        Missing.size() == 1 ? "is" : "are",
        Missing.size() == 1 ? "its" : "their"));
  if (Others.size() == 1)
    Warnings.push_back(Others[0] +
                       " is not the build that was recorded, so LLDB does "
                       "not use it: put the recorded build back, or load "
                       "with --any-build");
  if (Others.size() > 1)
    Warnings.push_back(formatv(
        "{0} are not the builds that were recorded, so LLDB does not use them: "
        "run 'chronicle pack' on the machine that recorded, or load with "
        "--sysroot and a copy of its files, or with --any-build",
        listText(Others)));
}

/// The text as one word of an LLDB command.
static std::string quoted(StringRef Text) {
  std::string Result = "\"";
  for (char C : Text) {
    if (C == '"' || C == '\\' || C == '`')
      Result += '\\';
    Result += C;
  }
  return Result + "\"";
}

static Error runCommand(lldb::SBDebugger Debugger, lldb::SBTarget Target,
                        const std::string &Command) {
  lldb::SBCommandReturnObject Done;
  lldb::SBExecutionContext Context(Target);
  Debugger.GetCommandInterpreter().HandleCommand(Command.c_str(), Context,
                                                 Done);
  if (Done.Succeeded())
    return Error::success();
  return createStringError(Twine("LLDB refuses '") + Command +
                           "': " + Done.GetError());
}

Error addDebugDirectories(lldb::SBDebugger Debugger, const query::Trace &T) {
  constexpr const char *Setting = "target.debug-file-search-paths";
  lldb::SBStringList Known = lldb::SBDebugger::GetInternalVariableValue(
      Setting, Debugger.GetInstanceName());
  for (const std::string &Directory : T.symbols().finder().debugDirectories()) {
    bool IsKnown = Directory == "/usr/lib/debug"; // LLDB's own default
    for (uint32_t I = 0, N = Known.GetSize(); I < N; ++I)
      IsKnown |= Directory == Known.GetStringAtIndex(I);
    if (IsKnown)
      continue;
    if (Error E = runCommand(Debugger, lldb::SBTarget(),
                             std::string("settings append ") + Setting + " " +
                                 quoted(Directory)))
      return E;
  }
  return Error::success();
}

Error addSourceMap(lldb::SBTarget Target, const query::Trace &T,
                   ArrayRef<SourceMapping> Mappings) {
  std::vector<SourceMapping> All = Mappings.vec();
  const files::PackedTree *Packed = T.symbols().finder().packed();
  Error Failed = Error::success();
  if (Packed && Packed->has(pieces::PackedKind::Source)) {
    Expected<std::string> Root = Packed->root();
    if (!Root)
      return joinErrors(std::move(Failed), Root.takeError());
    All.emplace_back("/", *Root + "/");
    // What could be unpacked is shown.
    Failed = joinErrors(std::move(Failed),
                        Packed->extractAll(pieces::PackedKind::Source));
  }
  for (const auto &[From, To] : All)
    Failed = joinErrors(std::move(Failed),
                        runCommand(Target.GetDebugger(), Target,
                                   "settings append target.source-map " +
                                       quoted(From) + " " + quoted(To)));
  return Failed;
}

} // namespace chronicle::target
