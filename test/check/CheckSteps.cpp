// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// check-steps trace.db log: compares the query engine's registers and memory
// with those that Valgrind's own debugger stub gave for the same program,
// instruction by instruction (test/lib/step.py). Each moment is asked about out
// of order.

#include "query/Trace.h"
#include "query/Values.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <random>

using namespace chronicle;
using namespace llvm;

static uint64_t Failures, Checks;

static void failed(const Twine &What) {
  if (++Failures <= 20)
    errs() << "FAILED: " << What << '\n';
}

namespace {
struct Line {
  uint64_t Step;
  bool Memory;
  uint64_t Address;
  std::string Bytes;
};
} // namespace

/// The registers in the order of the remote protocol for amd64 with AVX.
static std::string packet(const Registers &R, uint64_t FlagMask) {
  std::string P;
  auto Add = [&](const void *From, size_t Size) {
    P.append(static_cast<const char *>(From), Size);
  };
  static const unsigned General[] = {
      CH_OFFSET_RAX, CH_OFFSET_RBX, CH_OFFSET_RCX, CH_OFFSET_RDX, CH_OFFSET_RSI,
      CH_OFFSET_RDI, CH_OFFSET_RBP, CH_OFFSET_RSP, CH_OFFSET_R8,  CH_OFFSET_R9,
      CH_OFFSET_R10, CH_OFFSET_R11, CH_OFFSET_R12, CH_OFFSET_R13, CH_OFFSET_R14,
      CH_OFFSET_R15, CH_OFFSET_RIP};
  for (unsigned Offset : General)
    Add(R.State.data() + Offset, 8);
  uint32_t Flags = static_cast<uint32_t>(R.flags() & FlagMask);
  Add(&Flags, 4);
  P.append(24, '\0'); // segments: not in the guest state
  for (unsigned I = 0; I < 8; ++I) {
    // The stub turns Valgrind's doubles into the 10 bytes of the processor.
    const unsigned Top = R.State[CH_OFFSET_FTOP];
    long double Value =
        loadValue<double>(R.State.data() + CH_OFFSET_FPREG + (Top + I) % 8 * 8);
    Add(&Value, 10);
  }
  P.append(32, '\0'); // control words: the stub makes them up
  for (unsigned I = 0; I < 16; ++I)
    Add(R.ymm(I).data(), 16);
  P.append(12, '\0'); // mxcsr, orig_rax
  for (unsigned I = 0; I < 16; ++I)
    Add(R.ymm(I).data() + 16, 16);
  return P;
}

/// The same without what the guest state does not have.
static std::string known(std::string P, uint64_t FlagMask) {
  P.resize(800);
  uint32_t Flags = loadValue<uint32_t>(P.data() + 136) & FlagMask;
  storeValue(P.data() + 136, Flags);
  std::fill_n(P.begin() + 140, 24, '\0');
  std::fill_n(P.begin() + 244, 32, '\0');
  std::fill_n(P.begin() + 532, 12, '\0');
  return P;
}

/// The time of each step. One after the other, but that the stub does some
/// iterations of a repeated string instruction at once, each of which has a
/// timestamp of its own.
static std::vector<Timestamp> timesOf(const Trace &T,
                                      const std::vector<Line> &Lines) {
  std::vector<Timestamp> Times;
  Timestamp Next = 0;
  uint64_t Previous = 0;
  for (const Line &L : Lines) {
    if (L.Memory)
      continue;
    const uint64_t Rip = loadValue<uint64_t>(L.Bytes.data() + 128),
                   Rcx = loadValue<uint64_t>(L.Bytes.data() + 16);
    while (Next < T.instructions()) {
      Expected<Registers> R = T.registers(1, Next);
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
  if (Argc != 3) {
    errs() << "usage: check-steps trace.db log\n";
    return 2;
  }
  Expected<std::unique_ptr<Trace>> T = Trace::open(Argv[1]);
  if (!T) {
    errs() << toString(T.takeError()) << '\n';
    return 1;
  }
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
  std::vector<Timestamp> Times = timesOf(**T, Lines);
  // Carry, parity, adjust, zero, sign, direction, overflow.
  const uint64_t Mask = 0xcd5;
  std::mt19937_64 Random(1);
  std::shuffle(Lines.begin(), Lines.end(), Random);
  for (const Line &L : Lines) {
    ++Checks;
    const Timestamp Time = Times[L.Step];
    if (L.Memory) {
      Expected<MemoryContents> M =
          (*T)->memory(L.Address, L.Bytes.size(), Time);
      if (!M)
        failed(toString(M.takeError()));
      else if (toStringRef(ArrayRef(M->Bytes)) != L.Bytes)
        failed(formatv("memory at {0:x} differs at {1}", L.Address, Time));
      continue;
    }
    Expected<Registers> R = (*T)->registers(1, Time);
    if (!R) {
      failed(toString(R.takeError()));
      continue;
    }
    std::string Mine = packet(*R, Mask), Theirs = known(L.Bytes, Mask);
    if (Mine == Theirs)
      continue;
    size_t At = std::mismatch(Mine.begin(), Mine.end(), Theirs.begin()).first -
                Mine.begin();
    failed(formatv("registers differ at {0}, byte {1} of the packet: {2}, the "
                   "stub has {3}; rip {4:x} and {5:x}",
                   Time, At, toHex(StringRef(Mine).substr(At & ~7, 8)),
                   toHex(StringRef(Theirs).substr(At & ~7, 8)), R->rip(),
                   loadValue<uint64_t>(Theirs.data() + 128)));
  }
  outs() << Checks << " checks, " << Failures << " failures; "
         << (*T)->instructions() - Times.size() << " moments without a step\n";
  return Failures != 0;
}
