// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A definitions piece, entry by entry.
///
///   definitions := entry*
///   entry := tag:u8=1 id:v size:v definition    a superblock
///          | tag:u8=2 reason:v size:v name      an opaque reason's name
///          | tag:u8=3 exit:v successor:v        the first successor ever seen

#ifndef CHRONICLE_TRACE_FORMAT_PIECES_DEFINITIONFORMAT_H
#define CHRONICLE_TRACE_FORMAT_PIECES_DEFINITIONFORMAT_H

#include "trace-format/Bytes.h"
#include "trace-format/FileFormat.h"
#include <optional>

namespace chronicle::pieces {

struct DefinitionEntry {
  uint8_t Tag;
  uint64_t Number;               ///< id, reason or exit
  uint64_t Successor;            ///< tag 3
  llvm::ArrayRef<uint8_t> Bytes; ///< definition or name
};

class DefinitionsReader {
public:
  explicit DefinitionsReader(llvm::ArrayRef<uint8_t> Raw) : R(Raw) {}
  /// Returns nothing at the end, and where the bytes are damaged: see failed().
  std::optional<DefinitionEntry> next() {
    if (R.atEnd())
      return std::nullopt;
    DefinitionEntry E = {R.u8(), R.v(), 0, {}};
    if (E.Tag == SuccessorTag)
      E.Successor = R.v();
    else if (E.Tag == DefinitionTag || E.Tag == ReasonNameTag)
      E.Bytes = R.bytes(R.v());
    else
      R.fail();
    if (R.failed())
      return std::nullopt;
    return E;
  }
  bool failed() const { return R.failed(); }

private:
  ByteReader R;
};

} // namespace chronicle::pieces

#endif
