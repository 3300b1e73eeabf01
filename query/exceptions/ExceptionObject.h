// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The object that a C++ exception throws: its type and its message, from
/// recorded memory and symbols alone.

#ifndef CHRONICLE_QUERY_EXCEPTIONS_EXCEPTIONOBJECT_H
#define CHRONICLE_QUERY_EXCEPTIONS_EXCEPTIONOBJECT_H

#include "query/Trace.h"

namespace chronicle::exceptions {

/// An exception in memory at a moment. The layout is that of the Itanium C++
/// ABI, which libstdc++ and libc++ share.
class ExceptionObject {
public:
  /// Header: the _Unwind_Exception that the unwinder gets. Nothing: it is not
  /// an exception of C++.
  static llvm::Expected<std::optional<ExceptionObject>>
  at(const query::Trace &T, uint64_t Header, Timestamp At);

  uint64_t address() const { return Object; }
  /// Demangled; empty: it could not be read.
  llvm::StringRef typeName() const { return Name; }

  /// What memory says of its value: the message of classes that use what() of
  /// std::runtime_error or std::logic_error, a text, a string or a number.
  llvm::Expected<std::optional<std::string>> message() const;
  /// The function that the object's what() is, and the object it is called for.
  /// Nothing: not a class derived from std::exception.
  struct WhatFunction {
    uint64_t Code, This;
  };
  llvm::Expected<std::optional<WhatFunction>> whatFunction() const;

private:
  ExceptionObject(const query::Trace &T, Timestamp At) : T(T), At(At) {}
  llvm::Expected<std::optional<uint64_t>> baseOffset(uint64_t Info,
                                                     unsigned Depth) const;

  const query::Trace &T;
  Timestamp At;
  uint64_t Object = 0, TypeInfo = 0;
  std::string Mangled, Name;
};

/// A text in memory that a zero byte ends. Nothing: it is not mapped, or longer
/// than 4096 bytes.
llvm::Expected<std::optional<std::string>>
textAt(const query::Trace &T, uint64_t Address, Timestamp At);

} // namespace chronicle::exceptions

#endif
