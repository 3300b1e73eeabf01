// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/SequenceCoder.h"

using namespace llvm;

namespace chronicle {

Error decodeSequence(ArrayRef<uint8_t> Bytes, uint64_t Executions,
                     ArrayRef<uint32_t> First, SequenceScratch &Scratch,
                     std::vector<uint32_t> &Symbols) {
  // More than any block holds; a wrong count must not eat the memory.
  constexpr uint64_t MaxExecutions = 1u << 28;
  if (Executions > MaxExecutions)
    return createStringError("a block with an impossible number of executions");
  Symbols.clear();
  Symbols.reserve(Executions);
  Scratch.Exits.resize(First.size());
  if (++Scratch.Epoch == 0) {
    std::fill(Scratch.Exits.begin(), Scratch.Exits.end(),
              SequenceScratch::Exit{0, 0});
    Scratch.Epoch = 1;
  }

  ByteReader R(Bytes);
  uint32_t Previous = NoSymbol;
  auto Predict = [&]() -> uint32_t {
    if (Previous == NoSymbol)
      return 0;
    SequenceScratch::Exit &E = Scratch.Exits[Previous];
    if (E.Epoch == Scratch.Epoch)
      return E.Last;
    return First[Previous] == NoSymbol ? 0 : First[Previous];
  };
  auto Take = [&](uint64_t Symbol) {
    if (Symbol >= First.size() || Symbols.size() == Executions)
      return false;
    if (Previous != NoSymbol)
      Scratch.Exits[Previous] = {uint32_t(Symbol), Scratch.Epoch};
    Previous = uint32_t(Symbol);
    Symbols.push_back(Previous);
    return true;
  };
  bool Sound = true;
  while (Sound && !R.atEnd()) {
    uint64_t Hits = R.v();
    for (; Sound && Hits; --Hits)
      Sound = Take(Predict());
    if (!Sound || R.atEnd())
      break;
    uint64_t Miss = R.v();
    Sound = !R.failed() && Miss && Take(Miss - 1);
  }
  if (!Sound || R.failed() || Symbols.size() != Executions)
    return createStringError("the superblock sequence is damaged");
  return Error::success();
}

} // namespace chronicle
