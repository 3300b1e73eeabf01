// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// check-steps trace.db log: compares the query engine's registers and memory
// with those that Valgrind's own debugger stub gave for the same program,
// instruction by instruction (test/lib/step.py). Each moment is asked about out
// of order.

#include "Tally.h"
#include "query/replay/operations/ValueTypes.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <random>

using namespace chronicle;
using namespace llvm;

namespace {
struct Line {
  uint64_t Step;
  bool Memory;
  uint64_t Address;
  std::string Bytes;
};
} // namespace

/// Carry, parity, adjust, zero, sign, direction, overflow. The other flags do
/// not belong to the program.
static constexpr uint32_t FlagMask = 0xcd5;

/// Offsets in the remote protocol's packet of registers for amd64 with AVX.
enum Place : unsigned {
  StackPointerAt = 56,
  RipAt = 128,
  FlagsAt = 136,
  SegmentsAt = 140, ///< six selectors, and then x87: 8 registers of 10 bytes,
                    ///< 8 control words of 4
  XmmAt = 276,
  MxcsrAt = 532, ///< and orig_rax
  UpperAt = 544, ///< the upper halves of ymm
  PacketBytes = 800
};

/// The registers as the stub gives them, but zero where they are not compared:
/// - segments, mxcsr and orig_rax: Valgrind's guest state does not have them,
/// so the
///   stub makes them up;
/// - x87: the stub leaves it zero (self-log.test compares it);
/// - the stack pointer before the first instruction, which sets it: the
/// kernel's stack
///   depends on the environment.
static std::string packet(const answers::Registers &R, bool First) {
  std::string P(PacketBytes, '\0');
  static const unsigned General[] = {
      CH_OFFSET_RAX, CH_OFFSET_RBX, CH_OFFSET_RCX, CH_OFFSET_RDX, CH_OFFSET_RSI,
      CH_OFFSET_RDI, CH_OFFSET_RBP, CH_OFFSET_RSP, CH_OFFSET_R8,  CH_OFFSET_R9,
      CH_OFFSET_R10, CH_OFFSET_R11, CH_OFFSET_R12, CH_OFFSET_R13, CH_OFFSET_R14,
      CH_OFFSET_R15, CH_OFFSET_RIP};
  for (unsigned I = 0; I < std::size(General); ++I)
    if (!First || General[I] != CH_OFFSET_RSP)
      operations::storeValue(P.data() + 8 * I, R.word(General[I]));
  operations::storeValue(P.data() + FlagsAt,
                         static_cast<uint32_t>(R.flags()) & FlagMask);
  for (unsigned I = 0; I < 16; ++I) {
    std::memcpy(P.data() + XmmAt + 16 * I, R.ymm(I).data(), 16);
    std::memcpy(P.data() + UpperAt + 16 * I, R.ymm(I).data() + 16, 16);
  }
  return P;
}

/// The stub's packet, with zeros where it is not compared.
static std::string compared(std::string P, bool First) {
  P.resize(PacketBytes);
  operations::storeValue(P.data() + FlagsAt,
                         operations::loadValue<uint32_t>(P.data() + FlagsAt) &
                             FlagMask);
  std::fill(P.begin() + SegmentsAt, P.begin() + XmmAt, '\0');
  std::fill(P.begin() + MxcsrAt, P.begin() + UpperAt, '\0');
  if (First)
    std::fill_n(P.begin() + StackPointerAt, 8, '\0');
  return P;
}

/// The time of each step. Steps follow each other, except that the stub does
/// several iterations of a repeated string instruction at once, each of which
/// has its own timestamp.
static std::vector<Timestamp> timesOf(const query::Trace &T,
                                      const std::vector<Line> &Lines) {
  std::vector<Timestamp> Times;
  Timestamp Next = 0;
  uint64_t Previous = 0;
  for (const Line &L : Lines) {
    if (L.Memory)
      continue;
    const uint64_t Rip =
                       operations::loadValue<uint64_t>(L.Bytes.data() + RipAt),
                   Rcx = operations::loadValue<uint64_t>(L.Bytes.data() + 16);
    while (Next < T.instructions()) {
      Expected<answers::Registers> R = T.registers(1, Next);
      if (!R) {
        failed(toString(R.takeError()));
        break;
      }
      if (R->rip() != Previous ||
          (R->rip() == Rip && R->word(CH_OFFSET_RCX) == Rcx))
        break;
      ++Next;
    }
    Previous = Rip;
    Times.push_back(Next++);
  }
  return Times;
}

int main(int Argc, char **Argv) {
  std::unique_ptr<query::Trace> T =
      openTrace(Argc, Argv, 2, "check-steps trace.db log");
  if (!T)
    return 2;
  ErrorOr<std::unique_ptr<MemoryBuffer>> Log = MemoryBuffer::getFile(Argv[2]);
  if (!Log) {
    errs() << Argv[2] << ": " << Log.getError().message() << '\n';
    return 1;
  }
  std::vector<Line> Lines;
  SmallVector<StringRef, 0> Texts;
  (*Log)->getBuffer().split(Texts, '\n', -1, false);
  for (StringRef Text : Texts) {
    SmallVector<StringRef, 4> Words;
    Text.split(Words, ' ');
    Line L{0, Words[0] == "m", 0, fromHex(Words.back())};
    if (Words[1].getAsInteger(10, L.Step) ||
        (L.Memory && Words[2].getAsInteger(16, L.Address))) {
      errs() << "cannot read '" << Text.take_front(60) << "'\n";
      return 1;
    }
    Lines.push_back(std::move(L));
  }
  std::vector<Timestamp> Times = timesOf(*T, Lines);
  std::mt19937_64 Random(1);
  std::shuffle(Lines.begin(), Lines.end(), Random);
  for (const Line &L : Lines) {
    ++Checks;
    const Timestamp Time = Times[L.Step];
    if (L.Memory) {
      Expected<answers::MemoryContents> M =
          T->memory(L.Address, L.Bytes.size(), Time);
      if (!M)
        failed(toString(M.takeError()));
      else if (toStringRef(ArrayRef(M->Bytes)) != L.Bytes)
        failed(formatv("memory at {0:x} differs at {1}", L.Address, Time));
      continue;
    }
    Expected<answers::Registers> R = T->registers(1, Time);
    if (!R) {
      failed(toString(R.takeError()));
      continue;
    }
    const bool First = L.Step == 0;
    const std::string Mine = packet(*R, First),
                      Theirs = compared(L.Bytes, First);
    if (Mine == Theirs)
      continue;
    size_t At = std::mismatch(Mine.begin(), Mine.end(), Theirs.begin()).first -
                Mine.begin();
    failed(formatv("registers differ at {0}, byte {1} of the packet: {2}, the "
                   "stub has {3}; rip {4:x} and {5:x}",
                   Time, At, toHex(StringRef(Mine).substr(At & ~7, 8)),
                   toHex(StringRef(Theirs).substr(At & ~7, 8)), R->rip(),
                   operations::loadValue<uint64_t>(Theirs.data() + RipAt)));
  }
  return finish(utostr(T->instructions() - Times.size()) +
                " moments without a step");
}
