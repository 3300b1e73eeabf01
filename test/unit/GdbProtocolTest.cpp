// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The framing of packets, and registers as debuggers want them.

#include "lldb-plugin/session/PacketChannel.h"
#include "lldb-plugin/session/RegisterLayout.h"
#include "lldb-plugin/session/StopReason.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "gtest/gtest.h"
#include <sys/socket.h>
#include <unistd.h>

using namespace chronicle;
using namespace llvm;

namespace {

/// A channel, and the debugger's end of its socket.
struct Pair {
  int Ends[2];
  std::unique_ptr<session::PacketChannel> Channel;
  Pair() {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, Ends), 0);
    Channel = std::make_unique<session::PacketChannel>(Ends[0]);
  }
  ~Pair() {
    close(Ends[0]);
    hangUp();
  }
  void hangUp() {
    if (Ends[1] >= 0)
      close(Ends[1]);
    Ends[1] = -1;
  }
  void send(StringRef Bytes) {
    EXPECT_EQ(::send(Ends[1], Bytes.data(), Bytes.size(), 0),
              ssize_t(Bytes.size()));
  }
  std::string received() {
    char Buffer[4096];
    ssize_t N = recv(Ends[1], Buffer, sizeof(Buffer), MSG_DONTWAIT);
    return N < 0 ? "" : std::string(Buffer, N);
  }
  /// "-": gone; "!…": an error.
  std::string read() {
    Expected<std::optional<std::string>> Packet = Channel->read();
    if (!Packet)
      return "!" + toString(Packet.takeError());
    return *Packet ? **Packet : "-";
  }
};

TEST(PacketChannel, AnswersEachPacketUntilToldNotTo) {
  Pair P;
  P.send("$qC#b4");
  EXPECT_EQ(P.read(), "qC");
  EXPECT_EQ(P.received(), "+");
  P.Channel->stopAcknowledging();
  P.send("$g#67$?#3f");
  EXPECT_EQ(P.read(), "g");
  EXPECT_EQ(P.read(), "?");
  EXPECT_EQ(P.received(), "");
}

TEST(PacketChannel, AsksAgainForADamagedPacket) {
  Pair P;
  P.send("$g#00$g#67");
  EXPECT_EQ(P.read(), "g");
  EXPECT_EQ(P.received(), "-+");
}

TEST(PacketChannel, SendsAgainWhenAsked) {
  Pair P;
  ASSERT_FALSE(errorToBool(P.Channel->write("OK")));
  EXPECT_EQ(P.received(), "$OK#9a");
  P.send("-$g#67");
  EXPECT_EQ(P.read(), "g");
  EXPECT_EQ(P.received(), "$OK#9a+");
}

TEST(PacketChannel, EscapesWhatFramesArePutTogetherFrom) {
  Pair P;
  ASSERT_FALSE(errorToBool(P.Channel->write("a#b$c}d*e")));
  // Each as '}' and itself xor 0x20; the sum is of what is sent.
  std::string Body = "a}\x03"
                     "b}\x04"
                     "c}]d}\n"
                     "e";
  uint8_t Sum = 0;
  for (unsigned char C : Body)
    Sum += C;
  char Digits[3];
  snprintf(Digits, sizeof(Digits), "%02x", Sum);
  EXPECT_EQ(P.received(), "$" + Body + "#" + Digits);
  P.send("$" + Body + "#" + Digits);
  EXPECT_EQ(P.read(), "a#b$c}d*e");
}

TEST(PacketChannel, PutsPacketsTogetherFromPieces) {
  Pair P;
  P.send("$qSup");
  std::thread Rest([&] { P.send("ported#37"); });
  EXPECT_EQ(P.read(), "qSupported");
  Rest.join();
}

TEST(PacketChannel, SaysWhenTheDebuggerHasGone) {
  Pair P;
  P.send("$half");
  P.hangUp();
  EXPECT_EQ(P.read(), "-");
}

TEST(PacketChannel, AnInterruptCancelsWhatRuns) {
  Pair P;
  answers::Cancellation Cancel;
  {
    session::PacketChannel::InterruptWatch Watch(*P.Channel, Cancel);
    P.send("\x03");
    while (!Cancel.Cancelled) // else the test times out
      std::this_thread::yield();
  }
  // One that comes too late is dropped.
  P.send("\x03$g#67");
  EXPECT_EQ(P.read(), "g");
}

TEST(PacketChannel, AnotherPacketIsNoInterrupt) {
  Pair P;
  P.send("$g#67");
  answers::Cancellation Cancel;
  {
    session::PacketChannel::InterruptWatch Watch(*P.Channel, Cancel);
  }
  EXPECT_FALSE(Cancel.Cancelled);
  EXPECT_EQ(P.read(), "g");
}

unsigned numberOf(StringRef Name) {
  ArrayRef<session::RegisterDescription> Layout = session::registerLayout();
  auto It = find_if(Layout, [&](const session::RegisterDescription &R) {
    return R.Name == Name;
  });
  EXPECT_NE(It, Layout.end()) << Name.str();
  return It - Layout.begin();
}

TEST(RegisterLayout, ValuesHaveTheirSizeAndPlace) {
  answers::Registers R;
  R.State.fill(0);
  support::endian::write64le(&R.State[CH_OFFSET_R9], 0x1122334455667788);
  support::endian::write64le(&R.State[CH_OFFSET_RIP], 0x401000);
  for (unsigned I = 0; I < 32; ++I)
    R.State[CH_OFFSET_YMM0 + 32 * 3 + I] = I;
  for (unsigned I = 0; I < session::registerLayout().size(); ++I)
    EXPECT_EQ(session::registerValue(R, I).size(),
              session::registerLayout()[I].Bytes)
        << session::registerLayout()[I].Name;
  EXPECT_EQ(support::endian::read64le(
                session::registerValue(R, numberOf("r9")).data()),
            0x1122334455667788u);
  EXPECT_EQ(support::endian::read64le(
                session::registerValue(R, numberOf("rip")).data()),
            0x401000u);
  EXPECT_EQ(session::registerValue(R, numberOf("xmm3"))[15], 15);
  EXPECT_EQ(session::registerValue(R, numberOf("ymm3h"))[0], 16);
}

TEST(RegisterLayout, X87RegistersCountFromTheTop) {
  answers::Registers R;
  R.State.fill(0);
  R.State[CH_OFFSET_FTOP] = 6;
  double Value = -2.5;
  memcpy(&R.State[CH_OFFSET_FPREG + 8 * 7], &Value, 8);
  R.State[CH_OFFSET_FPTAG + 7] = 1;
  // 80 bits: sign and exponent 16383 + 1, then 1.25 with its integer bit.
  const uint8_t Stored[] = {0, 0, 0, 0, 0, 0, 0, 0xa0, 0x00, 0xc0};
  EXPECT_EQ(ArrayRef<uint8_t>(session::registerValue(R, numberOf("st1"))),
            ArrayRef<uint8_t>(Stored));
}

TEST(RegisterLayout, NumbersInTheDescriptionAreThoseOfThePackets) {
  for (unsigned I = 0; I < session::registerLayout().size(); ++I) {
    std::string Number = " regnum=\"" + std::to_string(I) + "\"";
    size_t At = session::targetDescription().find(
        "<reg name=\"" + session::registerLayout()[I].Name + "\"");
    ASSERT_NE(At, StringRef::npos) << session::registerLayout()[I].Name;
    StringRef Element = session::targetDescription().substr(At).take_until(
        [](char C) { return C == '>'; });
    EXPECT_TRUE(Element.contains(Number)) << Element.str();
  }
}

TEST(StopReason, HasWordsForStopsOfCommands) {
  using session::StopKind;
  for (StopKind Kind :
       {StopKind::Begin, StopKind::End, StopKind::Goto, StopKind::BeforeWrite,
        StopKind::AfterWrite, StopKind::Execution, StopKind::ReverseStepIn,
        StopKind::ReverseStepOver, StopKind::ReverseStepOut,
        StopKind::ReverseStepInstruction}) {
    std::string Words = session::describe({.Kind = Kind, .Time = 42});
    EXPECT_FALSE(Words.empty());
  }
  EXPECT_EQ(session::describe({.Kind = StopKind::BeforeWrite, .Time = 42}),
            "before the write at time 42");
}

TEST(StopReason, LeavesTheDebuggerItsOwnWords) {
  EXPECT_EQ(session::describe({session::StopKind::Breakpoint}), "");
}

} // namespace
