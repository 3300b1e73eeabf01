// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The Debug Adapter Protocol's bytes: frames, and what a message is about.
///
///   frame  := header* "\r\n" body
///   header := name ":" value "\r\n"      one of them Content-Length
///   body   := a JSON object of Content-Length bytes

#ifndef CHRONICLE_LLDBPLUGIN_DAP_FRAME_H
#define CHRONICLE_LLDBPLUGIN_DAP_FRAME_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace chronicle::dap {

/// One message as it came. Both point into the reader's buffer.
struct Frame {
  llvm::StringRef Whole; ///< headers and body
  llvm::StringRef Body;
};

/// Cuts a stream of bytes into frames. Frames may be of any size and arrive in
/// any pieces; each byte is copied once.
class FrameReader {
public:
  /// Room for up to \p Size bytes; say how many came with added(). Frames that
  /// were handed out before are gone.
  char *room(size_t Size);
  void added(size_t Size) { Filled += Size; }
  /// The next complete frame. It stays until the next room(). An error says
  /// what is wrong with the stream; there is no going on after it.
  llvm::Expected<std::optional<Frame>> next();
  /// Whether the stream may end here.
  bool atBoundary() const { return Taken == Filled; }

private:
  std::string Buffer;
  size_t Taken = 0, Filled = 0;
  /// Where the frame under way ends in the buffer, once its header was read:
  /// not to be read again for each piece that comes.
  size_t BodyAt = 0, FrameEnd = 0;
};

/// What a message says about itself, found without parsing the rest: one scan
/// of its bytes, nothing is copied.
struct Peek {
  llvm::StringRef Type, Command, Event;
  std::optional<int64_t> Seq, RequestSeq;
  /// Where the digits of the numbers are in the body.
  llvm::StringRef SeqText, RequestSeqText;

  /// Nothing if the body is no JSON object or has no type. What is nested is
  /// only skipped, so it may still be malformed.
  static std::optional<Peek> at(llvm::StringRef Body);
};

/// Appends a message with its header.
void appendFrame(std::string &Out, llvm::json::Value Message);
/// Appends a message of which one number (a piece of \p Body) is replaced.
void appendRenumbered(std::string &Out, llvm::StringRef Body,
                      llvm::StringRef Digits, int64_t Number);

} // namespace chronicle::dap

#endif
