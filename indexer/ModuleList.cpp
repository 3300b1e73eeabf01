// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/ModuleList.h"
#include "indexer/model/ElfImage.h"
#include "trace-format/Text.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::indexer {

void ModuleList::mapped(const ch_ev_map &Map, StringRef Path, Timestamp Time) {
  if (!(Map.flags & CH_MAP_FILE))
    return;
  if (Map.offset == 0) {
    Module &M = Modules.emplace_back();
    M.Path = Path.str();
    M.Address = Map.address;
    M.Size = Map.length;
    M.Device = Map.device;
    M.Inode = Map.inode;
    M.Time = Time;
  }
  if (!(Map.protection & CH_PROT_EXEC))
    return;
  if (!is_contained(Executables, Path))
    Executables.push_back(Path.str());
  // The mapping belongs to the last module below it.
  for (Module &M : llvm::reverse(Modules))
    if (M.Device == Map.device && M.Inode == Map.inode &&
        M.Address <= Map.address) {
      M.Executable = true;
      return;
    }
}

void ModuleList::look(const MemoryImage &Image) {
  for (Module &M : llvm::reverse(Modules)) {
    if (M.Looked)
      return;
    M.Looked = true;
    std::optional<model::ElfImage> Found = model::readElfImage(
        M.Address, [&](uint64_t Address, MutableArrayRef<uint8_t> Into) {
          Image.read(Address, Into.data(), Into.size());
          return true;
        });
    if (!Found)
      continue;
    M.Elf = true;
    M.BuildId = Found->BuildId;
    if (Found->Size)
      M.Size = Found->Size;
  }
}

json::Array ModuleList::json() const {
  json::Array Result;
  for (const Module &M : Modules)
    if (M.Elf && M.Executable)
      Result.push_back(json::Object{{"path", shownText(M.Path)},
                                    {"address", M.Address},
                                    {"size", M.Size},
                                    {"build-id", M.BuildId},
                                    {"loaded", M.Time}});
  return Result;
}

} // namespace chronicle::indexer
