// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/origins/ByteFlow.h"
#include "query/origins/SuperblockRun.h"
#include "trace-format/bytecode/OperationTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <random>

using namespace llvm;

namespace chronicle::origins {

/// Whether the name is of an operation that moves bytes: conversions
/// ("32Uto64", "64HLtoV128", "V256to64_1", "ReinterpF64asI64"), shuffles, and
/// those on the lowest lane of a vector ("Add64F0x2"), which keep the other
/// lanes.
static bool movesBytes(StringRef Name) {
  return isDigit(Name[0]) || Name.starts_with("V128") ||
         Name.starts_with("V256") || Name.starts_with("Reinterp") ||
         Name.starts_with("SetV128") || Name.starts_with("Interleave") ||
         Name.starts_with("CatOdd") || Name.starts_with("CatEven") ||
         Name.starts_with("NarrowBin") || Name.contains("F0x");
}

/// Whether it is "8Sto32" and the like. A single bit has no byte to copy.
static bool extendsSign(StringRef Name) {
  return isDigit(Name[0]) && Name.contains("Sto") && !Name.starts_with("1S");
}

/// Computes the operation on random operands and keeps what is always so.
static void probe(unsigned Operation, MutableArrayRef<ByteSource> Flow) {
  constexpr unsigned Trials = 64;
  const bytecode::OperationInfo &Info = bytecode::operationInfo(Operation);
  const bool ByZeros = StringRef(Info.Name).contains("Uto");
  std::mt19937_64 Random(Operation);
  std::vector<TempValue> Operands(Info.Arity);
  std::vector<TempValue> All; // of all trials: operands, then the result
  for (unsigned Trial = 0; Trial < Trials; ++Trial) {
    for (unsigned I = 0; I < Info.Arity; ++I) {
      Operands[I] = {};
      for (unsigned B = 0; B < bytecode::typeSize(Info.Operands[I]); ++B)
        Operands[I][B] =
            Info.Operands[I] == CH_I1 ? Random() & 1 : uint8_t(Random());
      All.push_back(Operands[I]);
    }
    All.push_back(computeOperation(Operation, Operands));
  }
  const unsigned Stride = Info.Arity + 1;
  auto Always = [&](unsigned R, auto Byte) {
    for (unsigned Trial = 0; Trial < Trials; ++Trial)
      if (All[Trial * Stride + Info.Arity][R] != Byte(&All[Trial * Stride]))
        return false;
    return true;
  };
  for (unsigned R = 0; R < Flow.size(); ++R) {
    for (unsigned I = 0; I < Info.Arity; ++I)
      for (unsigned B = 0; B < bytecode::typeSize(Info.Operands[I]); ++B)
        if (Flow[R].What == ByteSource::Computed &&
            Always(R, [&](const TempValue *V) { return V[I][B]; }))
          Flow[R] = {ByteSource::Copy, uint8_t(I), uint8_t(B)};
    if (ByZeros && Flow[R].What == ByteSource::Computed &&
        Always(R, [](const TempValue *) { return uint8_t(0); }))
      Flow[R].What = ByteSource::Zero;
  }
}

static std::vector<ByteSource> makeFlow(unsigned Operation) {
  const bytecode::OperationInfo &Info = bytecode::operationInfo(Operation);
  std::vector<ByteSource> Flow(bytecode::typeSize(Info.Result));
  if (extendsSign(Info.Name)) {
    const unsigned From = bytecode::typeSize(Info.Operands[0]);
    for (unsigned R = 0; R < Flow.size(); ++R)
      Flow[R] = {R < From ? ByteSource::Copy : ByteSource::Sign, 0,
                 uint8_t(std::min(R, From - 1))};
  } else if (movesBytes(Info.Name)) {
    probe(Operation, Flow);
  }
  return Flow;
}

ArrayRef<ByteSource> byteFlow(unsigned Operation) {
  static const std::vector<std::vector<ByteSource>> Flows = [] {
    std::vector<std::vector<ByteSource>> All;
    All.reserve(bytecode::operationCount());
    for (unsigned N = 0; N < bytecode::operationCount(); ++N)
      All.push_back(makeFlow(N));
    return All;
  }();
  return Flows[Operation];
}

} // namespace chronicle::origins
