// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A system call and the memory that its arguments point to.

#ifndef CHRONICLE_QUERY_SYSTEMCALLS_CALLVIEW_H
#define CHRONICLE_QUERY_SYSTEMCALLS_CALLVIEW_H

#include "query/Trace.h"
#include "query/answers/SystemCall.h"
#include <cstring>

namespace chronicle::systemcalls {

/// Which memory of a system call: what the kernel read, or what it left.
enum class Side { In, Out };

/// Reads memory as it was before the call and after it. An error is kept until
/// takeError(), so that the text of an argument need not handle it.
class CallView {
public:
  CallView(const query::Trace &T, const answers::SystemCall &Call)
      : T(T), Call(Call) {}

  uint32_t number() const { return Call.Number; }
  uint64_t argument(unsigned I) const { return (*Call.Arguments)[I]; }
  bool returned() const { return Call.Returned && Call.Result; }
  bool succeeded() const { return returned() && !failed(*Call.Result); }
  /// Only if it returned.
  int64_t result() const { return *Call.Result; }
  static bool failed(int64_t Result) { return Result < 0 && Result >= -4095; }

  /// Nothing: some of it is not mapped, or the call did not return, or reading
  /// failed.
  std::optional<std::vector<uint8_t>> bytes(uint64_t Address, uint64_t Length,
                                            Side S);
  /// A structure or a number.
  template <class Type> std::optional<Type> value(uint64_t Address, Side S) {
    std::optional<std::vector<uint8_t>> Bytes = bytes(Address, sizeof(Type), S);
    if (!Bytes)
      return std::nullopt;
    Type Value;
    std::memcpy(&Value, Bytes->data(), sizeof(Type));
    return Value;
  }
  /// What is before the first zero byte.
  std::optional<std::string> string(uint64_t Address, Side S);

  /// What went wrong first.
  llvm::Error takeError();

private:
  const query::Trace &T;
  const answers::SystemCall &Call;
  std::optional<llvm::Error> Failure;
};

/// "NULL" or "0x1000".
std::string pointerText(uint64_t Address);
/// In quotes, with escapes as in C; at most 32 bytes, followed by dots if there
/// are more, unless Whole.
std::string quoted(llvm::StringRef Bytes, bool Whole = false);
/// "[a, b, ...]": Text of each of at most 32 of Count elements.
std::string
listText(uint64_t Count,
         llvm::function_ref<std::optional<std::string>(uint64_t)> Text);

} // namespace chronicle::systemcalls

#endif
