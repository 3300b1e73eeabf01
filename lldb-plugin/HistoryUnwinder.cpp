// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/HistoryUnwinder.h"
#include "lldb-plugin/HistoryFrames.h"
#include "lldb-plugin/LldbInternals.h"
#include "lldb-plugin/PrivateMember.h"
#include "lldb-plugin/RegisterLayout.h"
#include "lldb-plugin/ThreadNames.h"
#include "lldb/Target/Process.h"
#include "lldb/Target/RegisterContext.h"
#include "lldb/Target/StackFrame.h"
#include "lldb/Target/Thread.h"
#include "lldb/Target/Unwind.h"
#include "lldb/Utility/RegisterValue.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

using namespace lldb;
using namespace lldb_private;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;

using UnwindUP = std::unique_ptr<Unwind>;
using Threads = std::vector<ThreadSP>;
PRIVATE_MEMBER(ProcessOfUnwinder, SBProcess, ProcessWP, m_opaque_wp);
PRIVATE_MEMBER(ThreadUnwinder, Thread, UnwindUP, m_unwinder_up);
PRIVATE_MEMBER(ThreadsOfCollection, ThreadCollection, Threads, m_threads);
PRIVATE_MEMBER(ThreadsOfProcess, Process, ThreadList, m_thread_list);
PRIVATE_MEMBER(ConcreteFrame, StackFrame, uint32_t, m_concrete_frame_index);

// liblldb does not export what these classes define outside their headers.
// Where a frame of ours needs it, the thread's own registers do it.
static RegisterContextSP liveRegisters(Thread &T) {
  return T.GetRegisterContext();
}

namespace lldb_private {
RegisterContext::RegisterContext(Thread &T, uint32_t Frame)
    : m_thread(T), m_concrete_frame_idx(Frame),
      m_stop_id(T.GetProcess()->GetStopID()) {}
RegisterContext::~RegisterContext() = default;
ByteOrder RegisterContext::GetByteOrder() { return eByteOrderLittle; }
bool RegisterContext::ReadAllRegisterValues(RegisterCheckpoint &) {
  return false;
}
bool RegisterContext::WriteAllRegisterValues(const RegisterCheckpoint &) {
  return false;
}
uint32_t RegisterContext::ConvertRegisterKindToRegisterNumber(RegisterKind Kind,
                                                              uint32_t Number) {
  return liveRegisters(m_thread)->ConvertRegisterKindToRegisterNumber(Kind,
                                                                      Number);
}
uint32_t RegisterContext::NumSupportedHardwareBreakpoints() { return 0; }
uint32_t RegisterContext::SetHardwareBreakpoint(addr_t, size_t) {
  return LLDB_INVALID_INDEX32;
}
bool RegisterContext::ClearHardwareBreakpoint(uint32_t) { return false; }
uint32_t RegisterContext::NumSupportedHardwareWatchpoints() { return 0; }
uint32_t RegisterContext::SetHardwareWatchpoint(addr_t, size_t, bool, bool) {
  return LLDB_INVALID_INDEX32;
}
bool RegisterContext::ClearHardwareWatchpoint(uint32_t) { return false; }
bool RegisterContext::HardwareSingleStep(bool) { return false; }
Status RegisterContext::ReadRegisterValueFromMemory(const RegisterInfo *Info,
                                                    addr_t From,
                                                    uint32_t Length,
                                                    RegisterValue &Value) {
  return liveRegisters(m_thread)->ReadRegisterValueFromMemory(Info, From,
                                                              Length, Value);
}
Status RegisterContext::WriteRegisterValueToMemory(const RegisterInfo *Info,
                                                   addr_t To, uint32_t Length,
                                                   const RegisterValue &Value) {
  return liveRegisters(m_thread)->WriteRegisterValueToMemory(Info, To, Length,
                                                             Value);
}
tid_t RegisterContext::GetThreadID() const {
  return liveRegisters(m_thread)->GetThreadID();
}
TargetSP RegisterContext::CalculateTarget() {
  return liveRegisters(m_thread)->CalculateTarget();
}
ProcessSP RegisterContext::CalculateProcess() {
  return liveRegisters(m_thread)->CalculateProcess();
}
ThreadSP RegisterContext::CalculateThread() {
  return liveRegisters(m_thread)->CalculateThread();
}
StackFrameSP RegisterContext::CalculateStackFrame() { return StackFrameSP(); }
void RegisterContext::CalculateExecutionContext(ExecutionContext &Context) {
  liveRegisters(m_thread)->CalculateExecutionContext(Context);
}
} // namespace lldb_private

namespace chronicle {
namespace {

/// The registers of a frame that is not the innermost. Described as the
/// thread's own are.
class HistoryRegisters : public RegisterContext {
public:
  HistoryRegisters(Thread &T, uint32_t Frame, const Registers &Values,
                   bool Interrupted)
      : RegisterContext(T, Frame), Values(Values), Interrupted(Interrupted),
        Live(liveRegisters(T)) {}

  void InvalidateAllRegisters() override {}
  size_t GetRegisterCount() override { return Live->GetRegisterCount(); }
  const RegisterInfo *GetRegisterInfoAtIndex(size_t Register) override {
    return Live->GetRegisterInfoAtIndex(Register);
  }
  size_t GetRegisterSetCount() override { return Live->GetRegisterSetCount(); }
  const RegisterSet *GetRegisterSet(size_t Set) override {
    return Live->GetRegisterSet(Set);
  }
  bool ReadRegister(const RegisterInfo *Info, RegisterValue &Value) override;
  bool WriteRegister(const RegisterInfo *, const RegisterValue &) override {
    return false;
  }

protected:
  bool BehavesLikeZerothFrame() const override { return Interrupted; }

private:
  SmallVector<uint8_t, 32> bytesOf(const RegisterInfo *Info);

  Registers Values;
  bool Interrupted;
  RegisterContextSP Live;
};

/// RegisterValue::SetBytes() is not exported either.
struct BytesValue : RegisterValue {
  explicit BytesValue(ArrayRef<uint8_t> Bytes) {
    m_type = eTypeBytes;
    buffer.bytes.assign(Bytes.begin(), Bytes.end());
    buffer.byte_order = eByteOrderLittle;
  }
};

/// Empty: not one that we have.
SmallVector<uint8_t, 32> HistoryRegisters::bytesOf(const RegisterInfo *Info) {
  // LLDB makes some out of others: a part of one (eax), or several (ymm0).
  if (Info->value_regs) {
    SmallVector<uint8_t, 32> Bytes;
    const RegisterInfo *First = nullptr;
    for (const uint32_t *Part = Info->value_regs; *Part != LLDB_INVALID_REGNUM;
         ++Part) {
      const RegisterInfo *Of = GetRegisterInfoAtIndex(*Part);
      if (!Of || Of == Info)
        return {};
      First = First ? First : Of;
      Bytes.append(bytesOf(Of));
    }
    if (!First)
      return {};
    size_t Offset = Bytes.size() == Info->byte_size
                        ? 0
                        : Info->byte_offset - First->byte_offset;
    if (Offset > Bytes.size() || Info->byte_size > Bytes.size() - Offset)
      return {};
    return SmallVector<uint8_t, 32>(
        ArrayRef(Bytes).slice(Offset, Info->byte_size));
  }
  uint32_t Number = Info->kinds[eRegisterKindProcessPlugin];
  if (Number >= registerLayout().size() ||
      registerLayout()[Number].Bytes != Info->byte_size)
    return {};
  return registerValue(Values, Number);
}

bool HistoryRegisters::ReadRegister(const RegisterInfo *Info,
                                    RegisterValue &Value) {
  SmallVector<uint8_t, 32> Bytes = bytesOf(Info);
  if (Bytes.empty())
    return false;
  using namespace llvm::support::endian;
  bool Integer =
      Info->encoding == eEncodingUint || Info->encoding == eEncodingSint;
  if (Integer && Bytes.size() == 8)
    Value = read64le(Bytes.data());
  else if (Integer && Bytes.size() == 4)
    Value = read32le(Bytes.data());
  else if (Integer && Bytes.size() == 2)
    Value = read16le(Bytes.data());
  else if (Integer && Bytes.size() == 1)
    Value = Bytes[0];
  else
    Value = BytesValue(Bytes);
  return true;
}

/// Frames from history; what LLDB had before for a thread that has none yet.
class HistoryUnwinder : public Unwind {
public:
  HistoryUnwinder(Thread &T, std::shared_ptr<const Trace> Run,
                  std::function<Position()> Where, UnwindUP Stock)
      : Unwind(T), Run(std::move(Run)), Where(std::move(Where)),
        Stock(std::move(Stock)) {}

  /// What LLDB knows of the frames by now may be of another moment: somebody
  /// who asked while the process ran got those of before.
  bool isStale() const { return Known && KnownAt != Where().Time; }

protected:
  void DoClear() override {
    Frames.reset();
    Known = false;
    if (Stock)
      Stock->Clear();
  }

  uint32_t DoGetFrameCount() override {
    if (const HistoryFrames *History = frames())
      return uint32_t(History->frames().size());
    return Stock ? Stock->GetFrameCount() : 0;
  }

  bool DoGetFrameInfoAtIndex(uint32_t Index, addr_t &Cfa, addr_t &Pc,
                             bool &BehavesLikeZeroth) override {
    const HistoryFrames *History = frames();
    if (!History)
      return Stock &&
             Stock->GetFrameInfoAtIndex(Index, Cfa, Pc, BehavesLikeZeroth);
    if (Index >= History->frames().size())
      return false;
    const HistoryFrame &Frame = History->frames()[Index];
    Cfa = Frame.Cfa;
    Pc = Frame.Pc;
    BehavesLikeZeroth = Frame.What != HistoryFrame::Called;
    return true;
  }

  RegisterContextSP DoCreateRegisterContextForFrame(StackFrame *F) override {
    const HistoryFrames *History = frames();
    if (!History)
      return Stock ? Stock->CreateRegisterContextForFrame(F)
                   : RegisterContextSP();
    uint32_t Index = F->*memberOf(ConcreteFrame());
    if (Index >= History->frames().size())
      return RegisterContextSP();
    if (!Index)
      return liveRegisters(m_thread);
    Expected<Registers> R = History->registers(Index);
    if (!R) {
      llvm::consumeError(R.takeError()); // no registers is what LLDB shows
      return RegisterContextSP();
    }
    return std::make_shared<HistoryRegisters>(m_thread, Index, *R,
                                              History->frames()[Index].What !=
                                                  HistoryFrame::Called);
  }

private:
  /// Null: history has none.
  const HistoryFrames *frames() {
    if (Known)
      return Frames ? &*Frames : nullptr;
    Known = true;
    Timestamp Now = KnownAt = Where().Time;
    uint32_t Number = threadNumber(*Run, m_thread.GetID(), Now);
    if (!Number)
      Number = Where().Thread;
    Expected<HistoryFrames> Made = HistoryFrames::create(*Run, Number, Now);
    if (!Made)
      llvm::consumeError(Made.takeError()); // LLDB unwinds then
    else if (!Made->frames().empty())
      Frames.emplace(std::move(*Made));
    return Frames ? &*Frames : nullptr;
  }

  std::shared_ptr<const Trace> Run;
  std::function<Position()> Where;
  UnwindUP Stock;
  std::optional<HistoryFrames> Frames;
  bool Known = false;
  Timestamp KnownAt = 0;
};

} // namespace

void installHistoryUnwinders(SBProcess Process, std::shared_ptr<const Trace> T,
                             std::function<Position()> Where) {
  if (!internals::matches())
    return;
  ProcessSP Private = (Process.*memberOf(ProcessOfUnwinder())).lock();
  if (!Private)
    return;
  // There is no RTTI to ask whose an unwinder is.
  static const void *Ours = nullptr;
  ThreadList &List = Private.get()->*memberOf(ThreadsOfProcess());
  ThreadCollection &Collection = List;
  std::lock_guard<std::recursive_mutex> Guard(List.GetMutex());
  for (ThreadSP &Each : Collection.*memberOf(ThreadsOfCollection())) {
    UnwindUP &Unwinder = Each.get()->*memberOf(ThreadUnwinder());
    auto Table = [](const Unwind *U) {
      return *reinterpret_cast<const void *const *>(U);
    };
    if (Unwinder && Ours == Table(Unwinder.get())) {
      if (static_cast<HistoryUnwinder *>(Unwinder.get())->isStale())
        Each->ClearStackFrames();
      continue;
    }
    auto New =
        std::make_unique<HistoryUnwinder>(*Each, T, Where, std::move(Unwinder));
    Ours = Table(New.get());
    Unwinder = std::move(New);
    Each->ClearStackFrames();
  }
}

} // namespace chronicle
