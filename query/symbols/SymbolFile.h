// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The symbols, lines and inlined calls of one ELF file, together with its
/// separate debug file. Addresses are the file's own, not yet moved to where it
/// was loaded.

#ifndef CHRONICLE_QUERY_SYMBOLS_SYMBOLFILE_H
#define CHRONICLE_QUERY_SYMBOLS_SYMBOLFILE_H

#include "query/files/ElfFile.h"
#include "query/symbols/FunctionFacts.h"
#include "query/symbols/InlinedCode.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELFObjectFile.h"
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace chronicle::symbols {

/// A place in the source: a function, and a line of it.
struct SourceFrame {
  std::string Function;    ///< demangled
  std::string LinkageName; ///< empty if the function has none of its own
  std::string File;
  uint32_t Line = 0, Column = 0;
};

/// An entry of the symbol table.
struct FileSymbol {
  llvm::StringRef Name; ///< as the linker has it
  uint64_t Address = 0, Size = 0;
  uint8_t Type = 0;    ///< STT_*
  uint8_t Binding = 0; ///< STB_*
  bool isFunction() const;
  bool isVariable() const;
  bool isLabel() const; ///< of code or of data; the assembler did not say
};

/// Consecutive instructions that belong to a source line.
struct LineCode {
  uint64_t Address = 0, Size = 0;
  std::string File;
  uint32_t Line = 0;
};

/// A source file that the line tables name.
struct SourceFile {
  std::string Path; ///< without "." and ".."; may be relative
  std::string Md5;  ///< of its contents, in hexadecimal; empty: unknown
};

/// May be used from several threads at once; only one of them reads debug info
/// at a time.
class SymbolFile {
public:
  using ElfFile = files::ElfFile;

  /// Either may be empty: the file may be gone, or have no separate debug file.
  SymbolFile(ElfFile Binary, ElfFile Debug);
  ~SymbolFile();

  /// Null if there is only the debug file.
  const llvm::object::ELF64LEObjectFile *binary() const;
  bool hasDebugInfo() const { return Dwarf != nullptr; }

  /// The function whose code is at the address. Code that belongs to none may
  /// have a label, as the linker's `_start` is: then it is that, up to the next
  /// symbol.
  std::optional<FileSymbol> function(uint64_t Address) const;
  std::optional<FileSymbol> variable(uint64_t Address) const;
  /// The function at the address and the calls inlined there, innermost first.
  /// At least one.
  llvm::SmallVector<SourceFrame, 1> frames(uint64_t Address) const;

  std::vector<FileSymbol> functions(llvm::StringRef Name,
                                    bool Unqualified) const;
  std::vector<FileSymbol>
  functionsWhere(llvm::function_ref<bool(llvm::StringRef)> NameFits) const;
  std::vector<FileSymbol> variables(llvm::StringRef Name,
                                    bool Unqualified) const;
  /// Where functions of that name were inlined. The first question for a name
  /// reads all debug info.
  std::vector<InlinedCode> inlined(llvm::StringRef Name,
                                   bool Unqualified) const;
  /// About the function that starts at the address. Nothing: it has no debug
  /// info.
  std::optional<FunctionFacts> facts(uint64_t Address) const;

  /// The code of the line or, if it has none, of the next line in that file
  /// that has. File is the end of a path.
  std::vector<LineCode> lines(llvm::StringRef File, uint32_t Line) const;

  /// The files that the line tables name, by path. Reads all line tables.
  std::vector<SourceFile> sources() const;
  /// How many units have their debug info in files of their own (.dwo, or all
  /// of them in a .dwp), as -gsplit-dwarf makes them. Reads the head of each
  /// unit.
  size_t splitUnits() const;

  /// What was found wrong with the files' tables so far, limited to a few
  /// messages.
  std::vector<std::string> problems() const;

private:
  void problem(llvm::Error E) const;
  void readSymbols();
  void readTable(const llvm::object::ELFObjectFileBase &Elf, bool Dynamic);
  void readStubs();
  void readDwarf();
  std::unique_ptr<llvm::DWARFContext> openDwarf(const ElfFile &File) const;
  bool isCode(uint64_t Address) const;
  std::optional<FileSymbol> label(uint64_t Address) const;

  ElfFile Binary, Debug;
  /// By address, best name first.
  std::vector<FileSymbol> Functions, Variables, Labels;
  std::vector<std::unique_ptr<std::string>> StubNames;
  std::vector<std::pair<uint64_t, uint64_t>> CodeRanges; ///< [first, last)
  mutable std::mutex DwarfLock;
  std::unique_ptr<llvm::DWARFContext> Dwarf;
  const ElfFile *DwarfFile = nullptr; ///< that it is of
  mutable std::vector<std::string> Problems;
  /// Kept because searches ask for the same instruction again and again.
  static constexpr size_t MaxKnownFrames = 1 << 16;
  mutable llvm::DenseMap<uint64_t, llvm::SmallVector<SourceFrame, 1>>
      KnownFrames;
  /// By name and Unqualified.
  mutable std::map<std::pair<std::string, bool>, std::vector<InlinedCode>>
      KnownInlined;
};

} // namespace chronicle::symbols

#endif
