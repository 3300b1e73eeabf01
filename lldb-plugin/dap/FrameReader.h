// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Reads and writes the frames of the Debug Adapter Protocol.
///
///   frame  := header* "\r\n" body
///   header := name ":" value "\r\n"      Content-Length or Content-Type
///   body   := a JSON object of Content-Length bytes

#ifndef CHRONICLE_LLDB_PLUGIN_DAP_FRAMEREADER_H
#define CHRONICLE_LLDB_PLUGIN_DAP_FRAMEREADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace chronicle::dap {

/// One message as it arrived. Both strings point into the reader's buffer.
struct Frame {
  llvm::StringRef Whole; ///< headers and body
  llvm::StringRef Body;
};

/// Splits a stream of bytes into frames. Frames may have any size and arrive in
/// any pieces. Each byte is copied once.
class FrameReader {
public:
  /// \return a buffer for up to \p Size bytes of the stream; added() must be
  /// called with the number of bytes stored there. Invalidates the frames that
  /// next() returned.
  char *room(size_t Size);
  void added(size_t Size) { Filled += Size; }
  /// \return the next complete frame, if there is one. It is valid until the
  /// next room(). After an error the stream cannot be read any further.
  llvm::Expected<std::optional<Frame>> next();
  /// Whether the stream is between two frames, so that it may end here.
  bool atBoundary() const { return Taken == Filled; }

private:
  std::string Buffer;
  size_t Taken = 0, Filled = 0;
  /// Where the incomplete frame's body starts and ends in the buffer, or 0.
  /// Kept so that its header is parsed only once, however many pieces arrive.
  size_t BodyAt = 0, FrameEnd = 0;
};

/// Appends a message with its header.
void appendFrame(std::string &Out, llvm::json::Value Message);
/// Appends a message with one number replaced: \p Digits, which must be a part
/// of \p Body.
void appendRenumbered(std::string &Out, llvm::StringRef Body,
                      llvm::StringRef Digits, int64_t Number);

} // namespace chronicle::dap

#endif
