// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Names and source lines for the addresses of a recorded run, and addresses
/// for names and lines.

#ifndef CHRONICLE_QUERY_SYMBOLS_H
#define CHRONICLE_QUERY_SYMBOLS_H

#include "query/ModuleHistory.h"
#include "query/SymbolFile.h"
#include <mutex>

namespace chronicle {

struct SymbolOptions {
  /// Where separate debug files are: <directory>/.build-id/xx/yyyy.debug, and
  /// those that .gnu_debuglink names.
  std::vector<std::string> DebugDirectories = {"/usr/lib/debug"};
};

/// What is at a pc. Frames are innermost first; the last one is the function
/// that the code belongs to, those before it were inlined. Never empty; a
/// frame's function or file is empty if nobody knows it.
struct CodeSymbol {
  const ModuleLoad *Module = nullptr;
  uint64_t FunctionAddress = 0, FunctionSize = 0; ///< 0: unknown
  llvm::SmallVector<SourceFrame, 1> Frames;
};

/// A function or a variable of a module, where that module was loaded.
struct SymbolAt {
  const ModuleLoad *Module = nullptr;
  std::string Name;        ///< as the source has it, with argument types
  std::string LinkageName; ///< as the linker has it
  uint64_t Address = 0;    ///< of a thread-local one: offset in its block
  uint64_t Size = 0;
  bool Indirect = false;    ///< an ifunc: the address is its resolver's
  bool ThreadLocal = false; ///< has no one address
};

/// Code of a source line, where its module was loaded.
struct LineAt {
  const ModuleLoad *Module = nullptr;
  LineCode Code; ///< with the address in the program
};

/// Symbols of all modules of a run. A file is opened when it is first needed,
/// and only used if it is the one that was recorded: its build id is compared
/// or, if it has none, its contents with the recorded ones. What could not be
/// used is said in warnings(). May be called from several threads; two that ask
/// for the same file wait for each other. Costs: opening a file reads its
/// symbol table; the first line asked for in a compile unit reads that unit;
/// lines() reads all line tables of the modules there are.
class Symbols {
public:
  explicit Symbols(const TraceReader &Reader, SymbolOptions Options = {});
  /// For modules without a trace; contents are then not compared.
  explicit Symbols(std::vector<ModuleLoad> Loads, SymbolOptions Options = {});
  ~Symbols();

  llvm::ArrayRef<ModuleLoad> modules() const { return Loads; }
  /// The module in memory there at T, or null.
  const ModuleLoad *moduleAt(uint64_t Address, Timestamp T) const;

  /// Whether the file at the module's path is the one that was recorded. Opens
  /// it.
  bool isRecorded(const ModuleLoad &Load) const;

  /// Nothing: no module is there. To name a caller, ask for the call, not for
  /// the instruction after it.
  std::optional<CodeSymbol> find(uint64_t Pc, Timestamp T) const;
  /// The variable that the address is in.
  std::optional<SymbolAt> findGlobal(uint64_t Address, Timestamp T) const;

  /// The functions of that name, in every module ever loaded: the linker's
  /// name, the source's with or without argument types and template arguments,
  /// and, if there is none, members of any class or namespace.
  std::vector<SymbolAt> functions(llvm::StringRef Name) const;
  /// Those whose name, with or without argument types, fits a pattern of the
  /// shell's kind. Entries of the linkage table ("write@plt") only if the
  /// pattern has an @.
  llvm::Expected<std::vector<SymbolAt>>
  functionsMatching(llvm::StringRef Pattern) const;
  std::vector<SymbolAt> globals(llvm::StringRef Name) const;

  /// Where a line's code starts. File is a path, or the end of one. A line
  /// without code stands for the next one that has some.
  std::vector<LineAt> lines(llvm::StringRef File, uint32_t Line) const;

  /// The file of one of modules(); null: it cannot be used.
  const SymbolFile *fileOf(const ModuleLoad &Load) const;

  /// Sentences about files that could not be used, so far.
  std::vector<std::string> warnings() const;

private:
  struct File;
  std::string compareContents(const ModuleLoad &Load,
                              const SymbolFile &File) const;
  std::vector<SymbolAt>
  collect(llvm::function_ref<std::vector<FileSymbol>(const SymbolFile &)> Ask)
      const;

  const TraceReader *Reader = nullptr;
  SymbolOptions Options;
  std::vector<ModuleLoad> Loads;
  std::vector<File *> FileOfLoad; ///< parallel to Loads
  std::vector<std::unique_ptr<File>> Files;
  mutable std::mutex WarningsLock;
  mutable std::vector<std::string> Warnings;
  mutable std::vector<std::pair<std::string, const SymbolFile *>> Opened;
};

} // namespace chronicle

#endif
