// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/processes/RunDirectory.h"
#include "trace-format/Text.h"
#include "trace-format/file/TraceReader.h"
#include "trace-format/file/TraceWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <csignal>

using namespace llvm;

namespace chronicle::processes {

constexpr size_t MostNameBytes = 40;
/// How many processes a message lists.
constexpr size_t MostListed = 8;

StringRef RunProcess::name() const { return sys::path::filename(Program); }

bool RunProcess::crashed() const {
  switch (End.signal().value_or(0)) {
  case SIGSEGV:
  case SIGBUS:
  case SIGILL:
  case SIGFPE:
  case SIGABRT:
  case SIGTRAP:
  case SIGSYS:
    return true;
  default:
    return false;
  }
}

bool RunProcess::failed() const {
  using Kind = answers::RunEnd::Kind;
  return End.signal() || (End.How == Kind::Exit && End.Code != 0) ||
         End.How == Kind::Killed || End.How == Kind::RecorderFailed;
}

std::string traceFileName(uint32_t Number, StringRef Program) {
  std::string Name =
      sys::path::filename(Program).take_front(MostNameBytes).str();
  for (char &C : Name)
    if (!isAlnum(C) && !StringRef("._+-").contains(C))
      C = '_';
  return (Twine(Number) + "-" + Name + ".db").str();
}

/// The number in the name of a trace, or 0 if it is not the name of one.
static uint32_t numberOf(StringRef FileName) {
  uint32_t Number = 0;
  if (!FileName.consume_back(".db") || FileName.consumeInteger(10, Number) ||
      !FileName.starts_with("-"))
    return 0;
  return Number;
}

/// What is kept beside a trace, by the suffix of its name: what the user wrote
/// down, and indexes that were made later.
static constexpr StringLiteral BesideSuffixes[] = {".bookmarks", ".reads"};

static bool isBesideTrace(StringRef FileName) {
  return any_of(BesideSuffixes, [&](StringRef Suffix) {
    return FileName.ends_with(Suffix) &&
           numberOf(FileName.drop_back(Suffix.size()));
  });
}

/// The traces in a directory, by number; empty if there is anything else.
static std::vector<std::pair<uint32_t, std::string>> traces(StringRef Path) {
  std::vector<std::pair<uint32_t, std::string>> Found;
  std::error_code EC;
  for (sys::fs::directory_iterator Entry(Path, EC), End; !EC && Entry != End;
       Entry.increment(EC)) {
    const StringRef Name = sys::path::filename(Entry->path());
    if (const uint32_t Number = numberOf(Name))
      Found.emplace_back(Number, Entry->path());
    else if (!isBesideTrace(Name))
      return {};
  }
  llvm::sort(Found);
  return Found;
}

void removeBesideTrace(StringRef Trace) {
  for (StringRef Suffix : BesideSuffixes)
    (void)sys::fs::remove(Trace + Suffix);
}

bool isRunDirectory(StringRef Path) {
  return sys::fs::is_directory(Path) && !traces(Path).empty();
}

Error removeRun(StringRef Path) {
  for (const auto &[Number, File] : traces(Path))
    if (Error E = file::checkNotBeingWritten(File))
      return E;
  for (const auto &[Number, File] : traces(Path)) {
    removeBesideTrace(File);
    if (std::error_code EC = sys::fs::remove(File))
      return createStringError("cannot remove '" + File + "': " + EC.message());
  }
  SmallString<128> Real;
  std::error_code EC = sys::fs::real_path(Path, Real);
  if (!EC)
    EC = sys::fs::remove(Real);
  if (EC)
    return createStringError("cannot remove '" + Path.str() +
                             "': " + EC.message());
  return Error::success();
}

std::optional<ForkOrigin> forkOrigin(const json::Object &Run) {
  const json::Object *Process = Run.getObject("process");
  if (!Process || Process->getString("how") != "fork")
    return std::nullopt;
  ForkOrigin O;
  O.Parent = uint32_t(Process->getInteger("parent").value_or(0));
  O.Process = Process->getInteger("parent-pid").value_or(0);
  O.Time = uint64_t(Process->getInteger("forked-at").value_or(0));
  O.Thread = uint32_t(Process->getInteger("forked-by").value_or(0));
  O.AuxiliaryVector =
      uint64_t(Process->getInteger("auxiliary-vector").value_or(0));
  return O;
}

Expected<std::string> traceBeside(StringRef Other, uint32_t Number) {
  StringRef Directory = sys::path::parent_path(Other);
  for (const auto &[Found, File] :
       traces(Directory.empty() ? StringRef(".") : Directory))
    if (Found == Number)
      return File;
  return createStringError("the trace of its parent, #" + Twine(Number) +
                           " of the run, is not beside it");
}

static void readFacts(RunProcess &P, const json::Object &Run) {
  P.Program = Run.getString("program").value_or("").str();
  P.Started = Run.getNumber("started");
  if (const json::Array *Arguments = Run.getArray("arguments"))
    for (const json::Value &A : *Arguments)
      P.Arguments.push_back(A.getAsString().value_or("").str());
  const json::Object *Process = Run.getObject("process");
  if (!Process)
    return;
  P.Number = uint32_t(Process->getInteger("number").value_or(P.Number));
  P.Process = Process->getInteger("pid");
  P.ParentProcess = Process->getInteger("parent-pid");
  P.Parent = uint32_t(Process->getInteger("parent").value_or(0));
  P.Replaced = Process->getString("how") == "exec";
  if (std::optional<ForkOrigin> Origin = forkOrigin(Run))
    P.ForkedAt = Origin->Time;
}

static RunProcess readProcess(uint32_t Number, const std::string &File) {
  RunProcess P;
  P.Trace = File;
  P.Number = Number;
  Expected<std::unique_ptr<file::TraceReader>> T =
      file::TraceReader::open(File);
  if (!T) {
    P.Unreadable = toString(T.takeError());
    return P;
  }
  readFacts(P, (*T)->run());
  P.Number = Number;
  P.Instructions = (*T)->instructions();
  P.Bytes = (*T)->fileSize();
  P.End = answers::RunEnd::of((*T)->end());
  if (const json::Object *End = (*T)->end()) {
    P.Seconds = End->getNumber("seconds");
    if (!P.Process)
      P.Process = End->getInteger("pid");
  }
  return P;
}

Expected<std::vector<RunProcess>> readRun(StringRef Path) {
  std::vector<RunProcess> Result;
  if (!sys::fs::is_directory(Path)) {
    RunProcess P = readProcess(1, Path.str());
    if (!P.Unreadable.empty())
      return createStringError(P.Unreadable);
    Result.push_back(std::move(P));
    return Result;
  }
  for (const auto &[Number, File] : traces(Path))
    Result.push_back(readProcess(Number, File));
  if (Result.empty())
    return createStringError("'" + Path.str() +
                             "' is a directory, but not one of a recorded run");
  return Result;
}

static std::string named(const RunProcess &P) {
  return ("#" + Twine(P.Number) + " " + P.name() +
          (P.Process ? " (" + Twine(*P.Process) + ")" : Twine()))
      .str();
}

static std::string list(ArrayRef<const RunProcess *> Processes) {
  std::string Text;
  ListSeparator Comma;
  for (const RunProcess *P : Processes.take_front(MostListed)) {
    Text += StringRef(Comma);
    Text += named(*P);
  }
  if (Processes.size() > MostListed)
    Text += " and " + utostr(Processes.size() - MostListed) + " more";
  return Text;
}

static bool matches(const RunProcess &P, StringRef Wanted) {
  uint64_t Number;
  StringRef Digits = Wanted;
  if (Digits.consume_front("#"))
    return !Digits.getAsInteger(10, Number) && P.Number == Number;
  if (!Wanted.getAsInteger(10, Number))
    return P.Process && uint64_t(*P.Process) == Number;
  return P.name() == Wanted || P.Program == Wanted;
}

/// The process that is asked for by name or number.
static Expected<const RunProcess *> findWanted(ArrayRef<RunProcess> All,
                                               StringRef Wanted) {
  std::vector<const RunProcess *> Found, Everything;
  for (const RunProcess &P : All) {
    Everything.push_back(&P);
    if (matches(P, Wanted))
      Found.push_back(&P);
  }
  if (Found.empty())
    return createStringError("the run has no process '" + Wanted.str() +
                             "'; it has " + list(Everything));
  // A process that became several programs is asked about its last one.
  const bool Same = all_of(Found, [&](const RunProcess *P) {
    return P->Process && P->Process == Found.front()->Process;
  });
  if (Found.size() > 1 && !Same)
    return createStringError("several processes are '" + Wanted.str() + "': " +
                             list(Found) + "; name one by --process '#N'");
  return Found.back();
}

static double endOf(const RunProcess &P) {
  return P.Started.value_or(0) + P.Seconds.value_or(0);
}

/// The first one by the time of its end that has the property, or null.
static const RunProcess *earliest(ArrayRef<RunProcess> All,
                                  bool (RunProcess::*Property)() const) {
  const RunProcess *Best = nullptr;
  for (const RunProcess &P : All)
    if ((P.*Property)() && (!Best || endOf(P) < endOf(*Best)))
      Best = &P;
  return Best;
}

/// The program that the command became in the end.
static const RunProcess *command(ArrayRef<RunProcess> All) {
  const RunProcess *Last = &All.front();
  for (const RunProcess &P : All)
    if (P.Replaced && P.Parent == Last->Number)
      Last = &P;
  return Last;
}

Expected<ChosenTrace> chooseTrace(StringRef Path, StringRef Wanted) {
  if (!sys::fs::is_directory(Path) && Wanted.empty())
    return ChosenTrace{Path.str(), ""};
  Expected<std::vector<RunProcess>> All = readRun(Path);
  if (!All)
    return All.takeError();
  if (!Wanted.empty()) {
    Expected<const RunProcess *> Found = findWanted(*All, Wanted);
    if (!Found)
      return Found.takeError();
    return ChosenTrace{(*Found)->Trace, ""};
  }
  if (All->size() == 1)
    return ChosenTrace{All->front().Trace, ""};
  StringRef Why = "which crashed";
  const RunProcess *Chosen = earliest(*All, &RunProcess::crashed);
  if (!Chosen) {
    Chosen = earliest(*All, &RunProcess::failed);
    Why = "the first that failed";
  }
  if (!Chosen) {
    Chosen = command(*All);
    Why = "since none failed";
  }
  return ChosenTrace{Chosen->Trace,
                     (named(*Chosen) + " of " + Twine(All->size()) +
                      " processes, " + Why + "; choose another by --process")
                         .str()};
}

} // namespace chronicle::processes
