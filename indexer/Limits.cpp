// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/Limits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cerrno>
#include <sys/syscall.h>
#include <vector>

using namespace llvm;

namespace chronicle::indexer {

/// More kinds are left out.
static constexpr size_t MostKinds = 32;

void Limits::add(std::string Key, json::Object What, uint64_t Now) {
  if (auto Found = All.find(Key); Found != All.end())
    ++Found->second.Count;
  else if (All.size() < MostKinds)
    All.emplace(std::move(Key), Met{std::move(What), Now, 1});
}

void Limits::systemCall(uint32_t Number, int64_t Result, uint64_t Now) {
  switch (Number) {
  case SYS_rseq:
  case SYS_clone3:
    // libc tries them in every program, and does without.
    return;
  case SYS_io_uring_setup:
    if (Result >= 0)
      add("io_uring", json::Object{{"kind", "io-uring"}}, Now);
    break;
  default:
    break;
  }
  if (Result == -ENOSYS)
    add("system call " + std::to_string(Number),
        json::Object{{"kind", "system-call"}, {"number", Number}}, Now);
}

/// Whether it is one of the instructions that every processor refuses.
static bool isUndefinedByDesign(ArrayRef<uint8_t> Bytes) {
  return Bytes.size() >= 2 && Bytes[0] == 0x0f &&
         (Bytes[1] == 0x0b || Bytes[1] == 0xb9 || Bytes[1] == 0xff);
}

void Limits::illegalInstruction(uint64_t Address, ArrayRef<uint8_t> Bytes,
                                uint64_t Now) {
  if (!isUndefinedByDesign(Bytes))
    add("instruction " + utohexstr(Address),
        json::Object{{"kind", "instruction"},
                     {"address", Address},
                     {"bytes", toHex(Bytes, /*LowerCase=*/true)}},
        Now);
}

json::Array Limits::json() const {
  std::vector<const Met *> Sorted;
  Sorted.reserve(All.size());
  for (const auto &[Key, M] : All)
    Sorted.push_back(&M);
  llvm::stable_sort(
      Sorted, [](const Met *A, const Met *B) { return A->First < B->First; });
  json::Array Result;
  for (const Met *M : Sorted) {
    json::Object What = M->What;
    What["first"] = M->First;
    What["count"] = M->Count;
    Result.push_back(std::move(What));
  }
  return Result;
}

} // namespace chronicle::indexer
