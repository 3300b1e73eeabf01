// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The registers by name, and where they are in the guest state.

#ifndef CHRONICLE_QUERY_REGISTERS_REGISTERNAMES_H
#define CHRONICLE_QUERY_REGISTERS_REGISTERNAMES_H

#include "query/answers/RegisterWrite.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace chronicle::registers {

/// A register, or a part of one: "rax", "eax", "ah", "xmm3", "rflags".
struct Register {
  std::string Name;
  answers::StateRange Bytes;
  /// Valgrind keeps the flags as the operation that set them and its operands:
  /// the value is not that of the bytes.
  bool Flags = false;

  /// Its value.
  std::vector<uint8_t> valueIn(const answers::Registers &R) const;
};

/// The register of that name, with or without a dollar sign. Fails, and says
/// why, for names of no register and for registers whose writes cannot be
/// followed: the program counter and those of the x87.
llvm::Expected<Register> registerNamed(llvm::StringRef Name);
/// The general or vector register that DWARF gives the number; nothing: another
/// one.
std::optional<Register> registerNumbered(uint64_t DwarfNumber);
/// "rax", "eax", "xmm3": the smallest register that has these bytes. Empty: no
/// register has them.
std::string nameOf(answers::StateRange Bytes);

} // namespace chronicle::registers

#endif
