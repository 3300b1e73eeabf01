// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the program did that Valgrind or the recorder does not support, and
/// when it did so first. `chronicle info` shows it.

#ifndef CHRONICLE_INDEXER_LIMITS_H
#define CHRONICLE_INDEXER_LIMITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <map>
#include <string>

namespace chronicle::indexer {

class Limits {
public:
  /// A system call returned.
  void systemCall(uint32_t Number, int64_t Result, uint64_t Now);
  /// The instruction that begins with these bytes raised SIGILL.
  void illegalInstruction(uint64_t Address, llvm::ArrayRef<uint8_t> Bytes,
                          uint64_t Now);
  /// For the end piece, earliest first.
  llvm::json::Array json() const;

private:
  struct Met {
    llvm::json::Object What;
    uint64_t First, Count;
  };
  void add(std::string Key, llvm::json::Object What, uint64_t Now);
  /// By what was met. Programs that try many things are cut off.
  std::map<std::string, Met> All;
};

} // namespace chronicle::indexer

#endif
