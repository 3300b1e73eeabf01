// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where is the file of this module? Everything that shows names, lines,
/// variables or sources asks here: Chronicle's own symbols, LLDB, gdb and
/// `chronicle pack`.

#ifndef CHRONICLE_QUERY_FILES_MODULEFINDER_H
#define CHRONICLE_QUERY_FILES_MODULEFINDER_H

#include "query/files/ElfFile.h"
#include "query/files/FileOptions.h"
#include "query/files/PackedTree.h"
#include "query/state/ModuleHistory.h"
#include <memory>

namespace chronicle::files {

/// Where a file was found.
enum class Origin {
  Nowhere,
  Path,    ///< where it was when it was recorded
  Sysroot, ///< below FileOptions::Sysroot
  Kept,    ///< the copy that the recorder made
  Packed,  ///< in the trace
};

/// The file of a module, and its separate debug file. Either may be missing.
struct ModuleFile {
  ElfFile Binary, Debug;
  std::string Path, DebugPath; ///< of these
  Origin From = Origin::Nowhere;
  bool IsRecorded = false;           ///< false: missing, or of another build
  std::vector<std::string> Problems; ///< sentences; none if Binary is recorded
};

/// May be used from several threads.
class ModuleFinder {
public:
  /// Without a trace there are no packed files, and contents are not compared.
  ModuleFinder(const file::TraceReader *Reader, FileOptions Options);

  const FileOptions &options() const { return Options; }
  /// The files that the trace carries, or null.
  const PackedTree *packed() const { return Packed.get(); }

  /// Looks below the sysroot, at the path, among the copies that the recorder
  /// kept, and in the trace, and takes the first file that is the recorded one:
  /// it has the recorded build id or, if there is none, the recorded contents.
  /// With AnyBuild it may be another one if none of these is. Opens the files,
  /// and unpacks them if need be.
  ModuleFile find(const state::ModuleLoad &Load) const;

  /// The directories that have separate debug files, for debuggers that look
  /// there themselves: those of the options, of the sysroot and of the trace.
  std::vector<std::string> debugDirectories() const;

private:
  struct Candidate;
  std::vector<Candidate> candidates(const state::ModuleLoad &Load,
                                    ModuleFile &Result) const;
  void findBinary(const state::ModuleLoad &Load, ModuleFile &Result) const;
  void findDebug(const state::ModuleLoad &Load, ModuleFile &Result) const;
  bool takeDebug(const std::string &Path, llvm::StringRef BuildId,
                 ModuleFile &Result) const;
  std::string difference(const state::ModuleLoad &Load,
                         const llvm::object::ObjectFile &File) const;

  const file::TraceReader *Reader;
  FileOptions Options;
  std::unique_ptr<PackedTree> Packed;
};

} // namespace chronicle::files

#endif
