// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Names and source lines for the addresses of a recorded run, and addresses
/// for names and lines.

#ifndef CHRONICLE_QUERY_SYMBOLS_SYMBOLS_H
#define CHRONICLE_QUERY_SYMBOLS_SYMBOLS_H

#include "query/files/ModuleFinder.h"
#include "query/state/ModuleHistory.h"
#include "query/symbols/SymbolFile.h"
#include <mutex>

namespace chronicle::symbols {

/// Which files are used, and where they are.
using SymbolOptions = files::FileOptions;

/// Where the file of a module is.
struct ModulePlace {
  std::string Path; ///< empty: there is no file that may be used
  files::Origin From = files::Origin::Nowhere;
  bool IsRecorded = false; ///< false: missing, or of another build
  std::string DebugPath;   ///< of its separate debug file, if it has one
};

/// What is at a pc. Frames are innermost first: the last one is the function
/// that the code belongs to, and those before it were inlined. There is at
/// least one; its function or file is empty if it is not known.
struct CodeSymbol {
  const state::ModuleLoad *Module = nullptr;
  uint64_t FunctionAddress = 0, FunctionSize = 0; ///< 0: unknown
  llvm::SmallVector<SourceFrame, 1> Frames;
};

/// A function or a variable of a module, where that module was loaded.
struct SymbolAt {
  const state::ModuleLoad *Module = nullptr;
  std::string Name;        ///< as the source has it, with argument types
  std::string LinkageName; ///< as the linker has it
  uint64_t Address = 0;    ///< if thread-local: offset in its block
  uint64_t Size = 0;
  bool Indirect = false;    ///< an ifunc: the address is its resolver's
  bool ThreadLocal = false; ///< has an address in each thread
};

/// Code of an inlined function, where its module was loaded.
struct InlinedAt {
  const state::ModuleLoad *Module = nullptr;
  InlinedCode Code; ///< with addresses in the program
};

/// All code of the functions of a name.
struct FunctionCode {
  std::vector<SymbolAt> Functions; ///< that can be called
  std::vector<InlinedAt> Inlined;  ///< put into other functions
};

/// Code of a source line, where its module was loaded.
struct LineAt {
  const state::ModuleLoad *Module = nullptr;
  LineCode Code; ///< with the address in the program
};

/// Symbols of all modules of a run. A file is looked for (ModuleFinder.h) and
/// opened when it is first needed, and used only if it is the one that was
/// recorded, unless the options say otherwise. warnings() reports files that
/// could not be used. May be called from several threads; two that ask for the
/// same file wait for each other. Opening a file reads its symbol table; the
/// first line asked for in a compile unit reads that unit; lines() reads all
/// line tables of all modules.
class Symbols {
public:
  explicit Symbols(const file::TraceReader &Reader, SymbolOptions Options = {});
  /// For modules without a trace: contents are not compared.
  explicit Symbols(std::vector<state::ModuleLoad> Loads,
                   SymbolOptions Options = {});
  ~Symbols();

  const state::ModuleHistory &history() const { return History; }
  llvm::ArrayRef<state::ModuleLoad> modules() const { return History.loads(); }
  /// The module in memory there at T, or null.
  const state::ModuleLoad *moduleAt(uint64_t Address, Timestamp T) const {
    return History.find(Address, T);
  }

  /// The program itself, which the trace says was started by Path, or null. A
  /// script is run by another program.
  const state::ModuleLoad *program(llvm::StringRef Path) const;

  /// Finds files; its packed() are what the trace carries.
  const files::ModuleFinder &finder() const { return Finder; }
  /// Where the module's file is. Opens it.
  const ModulePlace &placeOf(const state::ModuleLoad &Load) const;

  /// Nothing: there is no module. To name a caller, ask for the call
  /// instruction, not for the one after it.
  std::optional<CodeSymbol> find(uint64_t Pc, Timestamp T) const;
  /// The variable that contains the address.
  std::optional<SymbolAt> findGlobal(uint64_t Address, Timestamp T) const;

  /// The functions of that name in every module ever loaded: by the linker's
  /// name or by the source's, with or without argument types and template
  /// arguments. If there is none, members of that name of any class or
  /// namespace.
  std::vector<SymbolAt> functions(llvm::StringRef Name) const;
  /// The same, and where they were inlined. The first question for a name reads
  /// all debug info of all modules.
  FunctionCode functionCode(llvm::StringRef Name) const;
  /// What debug info says of the calls of the function that starts at the
  /// address. Nothing: it has none.
  std::optional<FunctionFacts> functionFacts(uint64_t Address,
                                             Timestamp T) const;
  /// The functions whose name, with or without argument types, matches a shell
  /// pattern. Entries of the linkage table ("write@plt") match only if the
  /// pattern has an @.
  llvm::Expected<std::vector<SymbolAt>>
  functionsMatching(llvm::StringRef Pattern) const;
  std::vector<SymbolAt> globals(llvm::StringRef Name) const;

  /// The places where a line's code starts. File is a path, or the end of one.
  /// A line without code stands for the next line that has some.
  std::vector<LineAt> lines(llvm::StringRef File, uint32_t Line) const;

  /// The file of one of modules(), or null if it cannot be used.
  const SymbolFile *fileOf(const state::ModuleLoad &Load) const;

  /// Sentences about the files that could not be used so far.
  std::vector<std::string> warnings() const;

private:
  struct File;
  Symbols(const file::TraceReader *Reader, state::ModuleHistory History,
          SymbolOptions Options);
  File &open(const state::ModuleLoad &Load) const;
  /// Calls Visit with each module whose file can be used and what Ask found in
  /// the file. Asks each file once, however often it was loaded.
  template <typename Answer>
  void
  visitFiles(llvm::function_ref<Answer(const SymbolFile &)> Ask,
             llvm::function_ref<void(const state::ModuleLoad &, const Answer &)>
                 Visit) const;
  std::vector<SymbolAt>
  collect(llvm::function_ref<std::vector<FileSymbol>(const SymbolFile &)> Ask)
      const;

  files::ModuleFinder Finder;
  state::ModuleHistory History;
  std::vector<File *> FileOfLoad; ///< parallel to modules()
  std::vector<std::unique_ptr<File>> Files;
  mutable std::mutex WarningsLock;
  mutable std::vector<std::string> Warnings;
  mutable std::vector<std::pair<std::string, const SymbolFile *>> Opened;
};

} // namespace chronicle::symbols

#endif
