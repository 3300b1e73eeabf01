// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/symbols/SymbolFile.h"
#include "llvm/DebugInfo/DWARF/DWARFCompileUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::symbols {

std::vector<SourceFile> SymbolFile::sources() const {
  if (!Dwarf)
    return {};
  std::map<std::string, std::string> Known; // path to MD5
  std::lock_guard<std::mutex> Guard(DwarfLock);
  for (const auto &Unit : Dwarf->compile_units()) {
    const DWARFDebugLine::LineTable *Table =
        Dwarf->getLineTableForUnit(Unit.get());
    std::optional<uint64_t> Last =
        Table ? Table->getLastValidFileIndex() : std::nullopt;
    if (!Last)
      continue;
    const char *Directory = Unit->getCompilationDir();
    for (uint64_t I = 0; I <= *Last; ++I) {
      std::string Name;
      if (!Table->hasFileAtIndex(I) ||
          !Table->getFileNameByIndex(
              I, Directory ? Directory : "",
              DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, Name))
        continue;
      SmallString<128> Path(Name);
      sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
      std::string &Md5 = Known[std::string(Path)];
      if (Table->Prologue.ContentTypes.HasMD5)
        Md5 = Table->Prologue.getFileNameEntry(I).Checksum.digest().str();
    }
  }
  std::vector<SourceFile> Result;
  Result.reserve(Known.size());
  for (auto &[Path, Md5] : Known)
    Result.push_back({Path, Md5});
  return Result;
}

size_t SymbolFile::splitUnits() const {
  if (!Dwarf)
    return 0;
  std::lock_guard<std::mutex> Guard(DwarfLock);
  size_t Count = 0;
  for (const auto &Unit : Dwarf->compile_units())
    Count += Unit->getUnitDIE()
                 .find({dwarf::DW_AT_dwo_name, dwarf::DW_AT_GNU_dwo_name})
                 .has_value();
  return Count;
}

} // namespace chronicle::symbols
