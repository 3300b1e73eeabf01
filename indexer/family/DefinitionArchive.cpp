// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/family/DefinitionArchive.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::family {

void DefinitionArchive::add(uint32_t FirstExit, uint32_t Exits,
                            ArrayRef<uint8_t> Definition) {
  std::lock_guard Lock(Mutex);
  Entries.push_back({FirstExit, Exits, Bytes.size()});
  llvm::append_range(Bytes, Definition);
}

void DefinitionArchive::addFork(uint32_t Number, ForkPoint Point) {
  std::lock_guard Lock(Mutex);
  Point.Exits = Entries.empty()
                    ? Inherited.Exits
                    : Entries.back().FirstExit + Entries.back().Exits - 1;
  Forks[Number] = std::move(Point);
  // Fork by fork. What a child that died early did not take is not needed.
  while (Forks.size() > 16)
    Forks.erase(Forks.begin());
  Changed.notify_all();
}

void DefinitionArchive::close() {
  std::lock_guard Lock(Mutex);
  Closed = true;
  Changed.notify_all();
}

std::optional<ForkPoint> DefinitionArchive::takeFork(uint32_t Number) {
  std::unique_lock Lock(Mutex);
  Changed.wait(Lock, [&] {
    return Closed || (!Forks.empty() && Forks.rbegin()->first >= Number);
  });
  auto Found = Forks.find(Number);
  if (Found == Forks.end())
    return std::nullopt;
  ForkPoint Point = std::move(Found->second);
  Forks.erase(Found);
  return Point;
}

std::optional<DefinitionArchive::Found>
DefinitionArchive::find(uint32_t Exit) const {
  if (Exit <= Inherited.Exits)
    return Inherited.From ? Inherited.From->find(Exit) : std::nullopt;
  std::lock_guard Lock(Mutex);
  auto Behind =
      llvm::upper_bound(Entries, Exit, [](uint32_t Number, const Entry &E) {
        return Number < E.FirstExit;
      });
  if (Behind == Entries.begin())
    return std::nullopt;
  const Entry &E = Behind[-1];
  if (Exit - E.FirstExit >= E.Exits)
    return std::nullopt;
  const size_t End = Behind == Entries.end() ? Bytes.size() : Behind->Offset;
  return Found{E.FirstExit,
               std::vector(Bytes.begin() + E.Offset, Bytes.begin() + End)};
}

} // namespace chronicle::family
