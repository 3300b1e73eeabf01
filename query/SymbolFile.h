// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The symbols, lines and inlined calls of one ELF file, together with its
/// separate debug file. Addresses are the file's own, not yet moved to where it
/// was loaded.

#ifndef CHRONICLE_QUERY_SYMBOLFILE_H
#define CHRONICLE_QUERY_SYMBOLFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELFObjectFile.h"
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace chronicle {

/// A function, as source, at a moment.
struct SourceFrame {
  std::string Function;    ///< demangled
  std::string LinkageName; ///< empty if the function has none of its own
  std::string File;
  uint32_t Line = 0, Column = 0;
};

/// An entry of the symbol table.
struct FileSymbol {
  llvm::StringRef Name; ///< the linker's
  uint64_t Address = 0, Size = 0;
  uint8_t Type = 0;    ///< STT_*
  uint8_t Binding = 0; ///< STB_*
  bool isFunction() const;
  bool isVariable() const;
};

/// Consecutive instructions of a source line.
struct LineCode {
  uint64_t Address = 0, Size = 0;
  std::string File;
  uint32_t Line = 0;
};

/// May be used from several threads, one of which is in the debug info at a
/// time.
class SymbolFile {
public:
  using ElfFile = llvm::object::OwningBinary<llvm::object::ObjectFile>;

  /// Either may be empty: a file of which only the debug file is left, or that
  /// has none.
  SymbolFile(ElfFile Binary, ElfFile Debug);
  ~SymbolFile();

  /// Null if only the debug file is there.
  const llvm::object::ELF64LEObjectFile *binary() const;
  bool hasDebugInfo() const { return Dwarf != nullptr; }

  /// The function whose code is at the address.
  std::optional<FileSymbol> function(uint64_t Address) const;
  std::optional<FileSymbol> variable(uint64_t Address) const;
  /// Innermost first, at least one.
  llvm::SmallVector<SourceFrame, 1> frames(uint64_t Address) const;

  std::vector<FileSymbol> functions(llvm::StringRef Name,
                                    bool Unqualified) const;
  std::vector<FileSymbol>
  functionsWhere(llvm::function_ref<bool(llvm::StringRef)> NameFits) const;
  std::vector<FileSymbol> variables(llvm::StringRef Name,
                                    bool Unqualified) const;

  /// The code of the line or, if it has none, of the next one in that file that
  /// has. File is the end of a path.
  std::vector<LineCode> lines(llvm::StringRef File, uint32_t Line) const;

  /// What is wrong with the files' tables, so far; at most a few.
  std::vector<std::string> problems() const;

private:
  void problem(llvm::Error E);
  void readSymbols();
  void readTable(const llvm::object::ELFObjectFileBase &Elf, bool Dynamic);
  void readStubs();
  void readDwarf();
  bool isCode(uint64_t Address) const;

  ElfFile Binary, Debug;
  std::vector<FileSymbol> Functions, Variables; ///< by address, best name first
  std::vector<std::unique_ptr<std::string>> StubNames;
  std::vector<std::pair<uint64_t, uint64_t>> CodeRanges; ///< [first, last)
  mutable std::mutex DwarfLock;
  std::unique_ptr<llvm::DWARFContext> Dwarf;
  std::vector<std::string> Problems;
  /// Searches ask for the same instruction again and again.
  static constexpr size_t MaxKnownFrames = 1 << 16;
  mutable llvm::DenseMap<uint64_t, llvm::SmallVector<SourceFrame, 1>>
      KnownFrames;
};

} // namespace chronicle

#endif
