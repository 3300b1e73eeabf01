// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a message of the Debug Adapter Protocol is about.

#ifndef CHRONICLE_LLDB_PLUGIN_DAP_MESSAGEPEEK_H
#define CHRONICLE_LLDB_PLUGIN_DAP_MESSAGEPEEK_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace chronicle::dap {

/// The top-level members that say what a message is. They are found in one scan
/// of the bytes (about 1 ns per byte), without parsing or copying the rest.
struct MessagePeek {
  llvm::StringRef Type, Command, Event;
  std::optional<int64_t> Seq, RequestSeq;
  /// The digits of the numbers, as parts of the body.
  llvm::StringRef SeqText, RequestSeqText;

  /// \return nothing if the body is not a JSON object in UTF-8, is nested more
  /// than MaxJsonDepth levels deep, or has no type. Nested values are skipped,
  /// so they may still be malformed.
  static std::optional<MessagePeek> at(llvm::StringRef Body);
};

} // namespace chronicle::dap

#endif
