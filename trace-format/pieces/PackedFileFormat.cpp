// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/pieces/PackedFileFormat.h"
#include "llvm/ADT/StringExtras.h"
#include <cassert>
#include <climits>

using namespace llvm;

namespace chronicle::pieces {

/// The longest build id that is believed; linkers make 8 to 20 bytes.
static constexpr uint64_t MaxBuildId = 64;

StringRef packedKindName(PackedKind Kind) {
  static constexpr const char *Names[] = {"unknown", "module", "debug",
                                          "supplementary", "source"};
  return uint8_t(Kind) <= LastPackedKind ? Names[uint8_t(Kind)] : Names[0];
}

bool isPackedPath(StringRef Path) {
  if (Path.size() >= PATH_MAX || Path.contains('\0') ||
      !Path.consume_front("/") || Path.empty())
    return false;
  while (!Path.empty()) {
    auto [Name, Rest] = Path.split('/');
    // A slash at the end is an empty name.
    if (Name.empty() || Name == "." || Name == ".." || Name.size() > NAME_MAX ||
        (Rest.empty() && Path.ends_with("/")))
      return false;
    Path = Rest;
  }
  return true;
}

void encodePackedFile(ByteWriter &Out, const PackedFile &File) {
  assert(isPackedPath(File.Path) && "readers would refuse the path");
  std::string Id;
  if (!tryGetFromHex(File.BuildId, Id))
    Id.clear();
  Out.u8(uint8_t(File.Kind));
  Out.v(Id.size());
  Out.bytes(StringRef(Id));
  Out.v(File.Path.size());
  Out.bytes(StringRef(File.Path));
  Out.v(File.Offset);
  Out.v(File.Size);
  Out.bytes(ArrayRef<uint8_t>(File.Digest));
}

Error decodePackedFiles(ArrayRef<uint8_t> Raw, std::vector<PackedFile> &Into) {
  ByteReader R(Raw);
  while (!R.atEnd()) {
    PackedFile F;
    const uint8_t Kind = R.u8();
    F.Kind = PackedKind(Kind);
    F.BuildId = toHex(R.bytes(R.v()), /*LowerCase=*/true);
    F.Path = toStringRef(R.bytes(R.v())).str();
    F.Offset = R.v();
    F.Size = R.v();
    ArrayRef<uint8_t> Digest = R.bytes(F.Digest.size());
    if (R.failed() || Kind == 0 || Kind > LastPackedKind ||
        F.BuildId.size() > 2 * MaxBuildId || !isPackedPath(F.Path) ||
        F.Size > MaxPackedFile || F.Size > UINT64_MAX - F.Offset)
      return createStringError("a damaged table of packed files");
    llvm::copy(Digest, F.Digest.begin());
    Into.push_back(std::move(F));
  }
  return Error::success();
}

} // namespace chronicle::pieces
