// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/systemcalls/PointedText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <array>
#include <cerrno>

using namespace llvm;

namespace chronicle::systemcalls {

using answers::ArgumentKind;

template <class Number>
static MaybeText numberAt(CallView &Call, uint64_t Address, Side S) {
  std::optional<Number> N = Call.value<Number>(Address, S);
  if (!N)
    return std::nullopt;
  return std::to_string(*N);
}

MaybeText numberText(CallView &Call, uint64_t Address, Side S) {
  MaybeText Number = numberAt<int32_t>(Call, Address, S);
  return Number ? MaybeText("[" + *Number + "]") : std::nullopt;
}

/// A number that the call may change: "[16]", or "[16" Between "5]".
template <class Number>
static MaybeText changedNumber(CallView &Call, uint64_t Address,
                               const char *Between) {
  MaybeText Before = numberAt<Number>(Call, Address, Side::In);
  if (!Before)
    return std::nullopt;
  MaybeText After = Call.succeeded()
                        ? numberAt<Number>(Call, Address, Side::Out)
                        : std::nullopt;
  return "[" + *Before + (After && *After != *Before ? Between + *After : "") +
         "]";
}

static MaybeText inText(CallView &Call, uint64_t Address, uint64_t Length) {
  // Only the beginning is shown, and how long it is.
  std::optional<std::vector<uint8_t>> Bytes =
      Call.bytes(Address, std::min<uint64_t>(Length, 33), Side::In);
  if (!Bytes)
    return std::nullopt;
  return quoted(toStringRef(*Bytes));
}

static MaybeText outText(CallView &Call, uint64_t Address) {
  std::optional<std::vector<uint8_t>> Bytes = Call.bytes(
      Address, std::min<uint64_t>(uint64_t(Call.result()), 33), Side::Out);
  if (!Bytes)
    return std::nullopt;
  return quoted(toStringRef(*Bytes));
}

static MaybeText hexBytesText(CallView &Call, uint64_t Address) {
  uint64_t Length = uint64_t(Call.result());
  std::optional<std::vector<uint8_t>> Bytes =
      Call.bytes(Address, std::min<uint64_t>(Length, 32), Side::Out);
  if (!Bytes)
    return std::nullopt;
  std::string Text = "\"";
  for (uint8_t B : *Bytes)
    Text += "\\x" + toHex(B, /*LowerCase=*/true);
  return Text + "\"" + (Length > 32 ? "..." : "");
}

/// The text of an argument that the kernel reads, or reads and writes. Nothing:
/// it is of another kind, or its memory is not known.
static MaybeText readText(CallView &Call, ArgumentKind Kind, unsigned I) {
  const uint64_t Address = Call.argument(I);
  const uint64_t Next = I < 5 ? Call.argument(I + 1) : 0;
  switch (Kind) {
  case ArgumentKind::Path:
  case ArgumentKind::Text: {
    MaybeText Text = Call.string(Address, Side::In);
    if (!Text)
      return std::nullopt;
    return quoted(*Text, /*Whole=*/true);
  }
  case ArgumentKind::TextVector:
    return textVectorText(Call, Address);
  case ArgumentKind::Environment:
    return environmentText(Call, Address);
  case ArgumentKind::InBuffer:
    return inText(Call, Address, Next);
  case ArgumentKind::VectorIn:
    return vectorText(Call, Address, Next, Side::In, ~uint64_t(0));
  case ArgumentKind::TimeIn:
    return timeText(Call, Address, Side::In, /*Micro=*/false);
  case ArgumentKind::TimeValIn:
    return timeText(Call, Address, Side::In, /*Micro=*/true);
  case ArgumentKind::TimePair:
    return timePairText(Call, Address);
  case ArgumentKind::IntervalIn:
    return intervalText(Call, Address, Side::In, /*Micro=*/true);
  case ArgumentKind::TimerIn:
    return intervalText(Call, Address, Side::In, /*Micro=*/false);
  case ArgumentKind::SignalSetIn:
    return signalSetText(Call, Address, Side::In);
  case ArgumentKind::SigActionIn:
    return signalActionText(Call, Address, Side::In);
  case ArgumentKind::AltStackIn:
    return alternateStackText(Call, Address, Side::In);
  case ArgumentKind::LimitIn:
    return limitText(Call, Address, Side::In);
  case ArgumentKind::CpuSetIn:
    return cpuSetText(Call, Address, Call.argument(1), Side::In);
  case ArgumentKind::PollList:
    return pollText(Call, Address, Next, Side::In);
  case ArgumentKind::FdSet:
    return fdSetText(Call, Address, Call.argument(0), Side::In);
  case ArgumentKind::EpollIn:
    return epollText(Call, Address, Side::In);
  case ArgumentKind::AddressIn:
    return addressText(Call, Address, Next, Side::In);
  case ArgumentKind::MessageIn:
    return messageText(Call, Address, Side::In);
  case ArgumentKind::OptionIn:
    return optionText(Call, Address, Next, Side::In);
  case ArgumentKind::OffsetInOut:
    return changedNumber<int64_t>(Call, Address, "] => [");
  case ArgumentKind::LengthInOut:
    return changedNumber<uint32_t>(Call, Address, " => ");
  case ArgumentKind::TimeLeft:
    // The kernel writes it only if a signal ended the sleep.
    if (Call.returned() && Call.result() == -EINTR)
      return timeText(Call, Address, Side::Out, /*Micro=*/false);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// The text of an argument that the kernel writes, if the call succeeded.
static MaybeText writtenText(CallView &Call, ArgumentKind Kind, unsigned I) {
  const uint64_t Address = Call.argument(I);
  const uint64_t Next = I < 5 ? Call.argument(I + 1) : 0;
  switch (Kind) {
  case ArgumentKind::OutBuffer:
    return outText(Call, Address);
  case ArgumentKind::HexBuffer:
    return hexBytesText(Call, Address);
  case ArgumentKind::OutPath: {
    MaybeText Text = Call.string(Address, Side::Out);
    if (!Text)
      return std::nullopt;
    return quoted(*Text, /*Whole=*/true);
  }
  case ArgumentKind::VectorOut:
    return vectorText(Call, Address, Next, Side::Out, uint64_t(Call.result()));
  case ArgumentKind::Entries:
    return directoryText(Call, Address);
  case ArgumentKind::NamesOut:
    return namesText(Call, Address);
  case ArgumentKind::IntOut:
    return numberText(Call, Address, Side::Out);
  case ArgumentKind::FdPair: {
    std::optional<std::array<int32_t, 2>> Fds =
        Call.value<std::array<int32_t, 2>>(Address, Side::Out);
    if (!Fds)
      return std::nullopt;
    return formatv("[{0}, {1}]", (*Fds)[0], (*Fds)[1]).str();
  }
  case ArgumentKind::StatOut:
    return statText(Call, Address);
  case ArgumentKind::StatxOut:
    return statxText(Call, Address);
  case ArgumentKind::TimeOut:
    return timeText(Call, Address, Side::Out, /*Micro=*/false);
  case ArgumentKind::TimeValOut:
    return timeText(Call, Address, Side::Out, /*Micro=*/true);
  case ArgumentKind::IntervalOut:
    return intervalText(Call, Address, Side::Out, /*Micro=*/true);
  case ArgumentKind::TimerOut:
    return intervalText(Call, Address, Side::Out, /*Micro=*/false);
  case ArgumentKind::SignalSetOut:
    return signalSetText(Call, Address, Side::Out);
  case ArgumentKind::SigActionOut:
    return signalActionText(Call, Address, Side::Out);
  case ArgumentKind::AltStackOut:
    return alternateStackText(Call, Address, Side::Out);
  case ArgumentKind::LimitOut:
    return limitText(Call, Address, Side::Out);
  case ArgumentKind::UsageOut:
    return usageText(Call, Address);
  case ArgumentKind::WaitStatus:
    // Without a child nothing is written.
    return Call.result() ? waitStatusText(Call, Address) : std::nullopt;
  case ArgumentKind::CpuSetOut:
    return cpuSetText(Call, Address, uint64_t(Call.result()), Side::Out);
  case ArgumentKind::EpollOut:
    return listText(uint64_t(Call.result()), [&](uint64_t N) {
      return epollText(Call, Address + N * 12, Side::Out);
    });
  case ArgumentKind::AddressOut: {
    std::optional<uint32_t> Length = Call.value<uint32_t>(Next, Side::Out);
    if (!Length)
      return std::nullopt;
    return addressText(Call, Address, *Length, Side::Out);
  }
  case ArgumentKind::MessageOut:
    return messageText(Call, Address, Side::Out);
  case ArgumentKind::OptionOut: {
    std::optional<uint32_t> Length = Call.value<uint32_t>(Next, Side::Out);
    if (!Length)
      return std::nullopt;
    return optionText(Call, Address, *Length, Side::Out);
  }
  default:
    return std::nullopt;
  }
}

MaybeText pointedText(CallView &Call, ArgumentKind Kind, unsigned I) {
  if (MaybeText Text = readText(Call, Kind, I))
    return Text;
  // What the kernel wrote is there only if the call succeeded.
  return Call.succeeded() ? writtenText(Call, Kind, I) : std::nullopt;
}

} // namespace chronicle::systemcalls
