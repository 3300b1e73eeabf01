// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/pack/TracePacking.h"
#include "query/Trace.h"
#include "query/files/KeptFiles.h"
#include "query/symbols/Symbols.h"
#include "trace-format/Text.h"
#include "trace-format/file/TracePacker.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::pack {

using pieces::PackedFile;
using pieces::PackedKind;

namespace {

/// One pass over the modules of a trace.
class Packing {
public:
  Packing(const query::Trace &T, file::TracePacker &Packer,
          function_ref<bool(StringRef, uint64_t)> Tick)
      : T(T), Packer(Packer), Tick(Tick) {
    if (const files::PackedTree *Carried = T.symbols().finder().packed())
      for (const PackedFile &F : Carried->files())
        Before.insert(keyOf(F));
  }

  Error addModule(const state::ModuleLoad &Load);
  Error addSources(const state::ModuleLoad &Load);

  PackReport Report;

private:
  /// Two builds of a program have one path; sources have no build id.
  static std::string keyOf(const PackedFile &F) {
    return formatv("{0} {1} {2}", uint8_t(F.Kind), F.BuildId, F.Path);
  }
  /// Whether the file is to be added; counts those that are there.
  bool isNew(const PackedFile &F) {
    if (!Known.insert(keyOf(F)).second)
      return false;
    if (!Before.contains(keyOf(F)))
      return true;
    ++Report.AlreadyThere;
    return false;
  }
  void leaveOut(StringRef Path, const Twine &Why) {
    if (LeftOut.insert(Path).second)
      Report.Missing.push_back({Path.str(), Why.str()});
  }
  Error add(PackedFile File, StringRef From);
  Error addDebugInfo(const files::ElfFile &File, StringRef Path);
  Error addSource(const symbols::SourceFile &Source, sys::TimePoint<> Built,
                  StringRef Module);

  const query::Trace &T;
  file::TracePacker &Packer;
  function_ref<bool(StringRef, uint64_t)> Tick;
  StringSet<> Before; ///< in the trace
  StringSet<> Known;  ///< seen in this packing
  StringSet<> LeftOut;
  uint64_t Bytes = 0;
};

} // namespace

/// Adds the bytes of the file at From.
Error Packing::add(PackedFile File, StringRef From) {
  if (!isNew(File))
    return Error::success();
  int Descriptor = ::open(From.str().c_str(), O_RDONLY | O_CLOEXEC);
  struct stat Status;
  if (Descriptor < 0 || ::fstat(Descriptor, &Status) < 0 ||
      !S_ISREG(Status.st_mode)) {
    leaveOut(File.Path,
             "it cannot be read: " +
                 (Descriptor < 0 ? sys::StrError() : "it is not a file"));
    if (Descriptor >= 0)
      ::close(Descriptor);
    return Error::success();
  }
  const PackReport::Packed Entry{File.Kind, File.Path, 0};
  Packer.beginFile(std::move(File));
  std::vector<uint8_t> Buffer(pieces::PackedPartSize);
  Error E = Error::success();
  while (!E) {
    if (!Tick(Entry.Path, Bytes)) {
      E = joinErrors(std::move(E), createStringError("interrupted: the trace "
                                                     "is as it was before"));
      break;
    }
    ssize_t N = ::read(Descriptor, Buffer.data(), Buffer.size());
    if (N < 0 && errno == EINTR)
      continue;
    if (N < 0)
      E = joinErrors(std::move(E), createStringError("cannot read '" + From +
                                                     "': " + sys::StrError()));
    if (N <= 0)
      break;
    Bytes += uint64_t(N);
    E = joinErrors(std::move(E),
                   Packer.addBytes(ArrayRef(Buffer).take_front(N)));
  }
  ::close(Descriptor);
  if (E)
    return E;
  Report.Added.push_back(Entry);
  Report.Added.back().Bytes = Packer.endFile();
  return Error::success();
}

/// The path that a debug directory has for a build, below the root.
static std::string debugPath(StringRef BuildId) {
  return "/usr/lib/debug/" + files::debugFileName(BuildId);
}

/// Adds what the debug info in the file shares with other files.
Error Packing::addDebugInfo(const files::ElfFile &File, StringRef Path) {
  std::optional<files::SupplementaryLink> Link =
      files::supplementaryLinkOf(*File.getBinary());
  if (!Link || files::debugFileName(Link->BuildId).empty())
    return Error::success();
  PackedFile Entry;
  Entry.Kind = PackedKind::Supplementary;
  Entry.BuildId = Link->BuildId;
  Entry.Path = debugPath(Link->BuildId);
  std::vector<std::string> Places;
  SmallString<256> Linked(Link->Path);
  if (!sys::path::is_absolute(Linked)) {
    Linked = sys::path::parent_path(Path);
    sys::path::append(Linked, Link->Path);
  }
  Places.push_back(std::string(Linked));
  for (const std::string &Directory : T.symbols().finder().debugDirectories())
    Places.push_back(Directory + "/" + files::debugFileName(Link->BuildId));
  for (const std::string &Place : Places) {
    Expected<files::ElfFile> Found = files::openElf(Place);
    if (!Found) {
      consumeError(Found.takeError()); // the next place may have it
      continue;
    }
    if (files::buildIdOf(*Found->getBinary()) == Link->BuildId)
      return add(std::move(Entry), Place);
  }
  leaveOut(Link->Path, "it has debug info of " + Path +
                           " and is not there, or is of another build");
  return Error::success();
}

Error Packing::addModule(const state::ModuleLoad &Load) {
  if (!sys::path::is_absolute(Load.Info.Path)) // [vdso]
    return Error::success();
  // Not from what is kept of it by the symbols: those have let go of the file.
  files::ModuleFile File = T.symbols().finder().find(Load);
  if (!File.IsRecorded) {
    leaveOut(Load.Info.Path,
             File.Problems.empty() ? "it is not there" : File.Problems.front());
    return Error::success();
  }
  PackedFile Entry;
  Entry.Kind = PackedKind::Module;
  Entry.BuildId = Load.Info.BuildId;
  Entry.Path = Load.Info.Path;
  if (!pieces::isPackedPath(Entry.Path)) {
    leaveOut(Load.Info.Path, "its path is too long, or not in order");
    return Error::success();
  }
  if (Error E = add(std::move(Entry), File.Path))
    return E;
  if (Error E = addDebugInfo(File.Binary, File.Path))
    return E;
  if (const symbols::SymbolFile *Symbols = T.symbols().fileOf(Load))
    if (size_t Split = Symbols->splitUnits())
      leaveOut(Load.Info.Path + " (.dwo, .dwp)",
               formatv("the debug info of {0} is in files of its own, and such "
                       "files are not packed: compile without -gsplit-dwarf",
                       Split == 1 ? "one of its units"
                                  : formatv("{0} of its units", Split).str()));
  const std::string Id = files::buildIdOf(*File.Binary.getBinary());
  if (!File.Debug.getBinary() || files::debugFileName(Id).empty())
    return Error::success();
  PackedFile Debug;
  Debug.Kind = PackedKind::Debug;
  Debug.BuildId = Id;
  Debug.Path = debugPath(Id);
  if (Error E = add(std::move(Debug), File.DebugPath))
    return E;
  return addDebugInfo(File.Debug, File.DebugPath);
}

/// A source is the one that was compiled if it has the compiler's checksum or,
/// if there is none, if it is not newer than what was built from it.
Error Packing::addSource(const symbols::SourceFile &Source,
                         sys::TimePoint<> Built, StringRef Module) {
  PackedFile Entry;
  Entry.Kind = PackedKind::Source;
  Entry.Path = Source.Path;
  if (!pieces::isPackedPath(Entry.Path)) {
    // Relative to nobody knows what, or "<built-in>".
    ++Report.AbsentSources[Module.str()];
    return Error::success();
  }
  std::string From = T.symbols().finder().options().Sysroot + Source.Path;
  if (!sys::fs::exists(From))
    From = Source.Path;
  sys::fs::file_status Status;
  if (sys::fs::status(From, Status) || !sys::fs::is_regular_file(Status)) {
    if (!isNew(Entry) || LeftOut.contains(Source.Path))
      return Error::success(); // in the trace, or seen before
    LeftOut.insert(Source.Path);
    ++Report.AbsentSources[Module.str()];
    return Error::success();
  }
  if (!Source.Md5.empty()) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Bytes = MemoryBuffer::getFile(
        From, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (Bytes && MD5::hash(arrayRefFromStringRef((*Bytes)->getBuffer()))
                         .digest()
                         .str() != Source.Md5) {
      leaveOut(Source.Path, "it is not what " + Module +
                                " was compiled from (another checksum)");
      return Error::success();
    }
  } else if (Status.getLastModificationTime() > Built) {
    // Of a library that comes with the system, headers often are.
    if (files::isSystemPath(Module)) {
      ++Report.AbsentSources[Module.str()];
      return Error::success();
    }
    leaveOut(Source.Path,
             "it is newer than " + Module + ", so that it was changed since");
    return Error::success();
  }
  return add(std::move(Entry), From);
}

Error Packing::addSources(const state::ModuleLoad &Load) {
  const symbols::SymbolFile *File = T.symbols().fileOf(Load);
  const symbols::ModulePlace &Place = T.symbols().placeOf(Load);
  sys::fs::file_status Status;
  if (!File || !Place.IsRecorded || sys::fs::status(Place.Path, Status))
    return Error::success();
  for (const symbols::SourceFile &Source : File->sources())
    if (Error E =
            addSource(Source, Status.getLastModificationTime(), Load.Info.Path))
      return E;
  return Error::success();
}

Expected<PackReport> packTrace(StringRef Trace, const PackOptions &Options,
                               function_ref<bool(StringRef, uint64_t)> Tick) {
  Expected<std::unique_ptr<file::TracePacker>> Packer =
      file::TracePacker::open(Trace);
  if (!Packer)
    return Packer.takeError();
  query::TraceOptions How;
  How.Files = Options.Files;
  Expected<std::unique_ptr<query::Trace>> T =
      query::Trace::open(Trace, std::move(How));
  if (!T)
    return T.takeError();
  Packing P(**T, **Packer, Tick);
  for (const state::ModuleLoad &Load : (*T)->symbols().modules())
    if (Error E = P.addModule(Load))
      return E;
  if (Options.Sources)
    for (const state::ModuleLoad &Load : (*T)->symbols().modules())
      if (Error E = P.addSources(Load))
        return E;
  if (Error E = (*Packer)->finish().moveInto(P.Report.Grown))
    return E;
  return std::move(P.Report);
}

json::Object toJSON(const PackReport &Report) {
  json::Array Added, Missing;
  for (const PackReport::Packed &P : Report.Added)
    Added.push_back(json::Object{{"kind", pieces::packedKindName(P.Kind)},
                                 {"path", shownText(P.Path)},
                                 {"size", P.Bytes}});
  for (const PackReport::LeftOut &L : Report.Missing)
    Missing.push_back(json::Object{{"path", shownText(L.Path)},
                                   {"reason", shownText(L.Why)}});
  json::Object Absent;
  for (const auto &[Module, Count] : Report.AbsentSources)
    Absent[shownText(Module)] = Count;
  return json::Object{{"packed", std::move(Added)},
                      {"absent-sources", std::move(Absent)},
                      {"left-out", std::move(Missing)},
                      {"already-packed", Report.AlreadyThere},
                      {"grown", Report.Grown}};
}

} // namespace chronicle::pack
