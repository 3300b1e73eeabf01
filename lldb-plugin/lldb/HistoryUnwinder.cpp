// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/lldb/HistoryUnwinder.h"
#include "lldb-plugin/history/HistoryFrames.h"
#include "lldb-plugin/lldb/EntryValues.h"
#include "lldb-plugin/lldb/PrivateLldb.h"
#include "lldb-plugin/session/RegisterLayout.h"
#include "lldb-plugin/session/ThreadNames.h"
#include "query/symbols/Symbols.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include <map>
#include <mutex>
#include <set>

using namespace lldb;
using namespace lldb_private;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::SmallVector;

namespace chronicle::internals {
namespace {

/// The registers of a frame other than the innermost one. Their descriptions
/// are those of the thread's own registers.
class HistoryRegisters : public RegisterContext {
public:
  HistoryRegisters(Thread &T, uint32_t Frame, const answers::Registers &Values,
                   bool Interrupted)
      : RegisterContext(T, Frame), Values(Values), Interrupted(Interrupted),
        Live(T.GetRegisterContext()) {}

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
  /// By DWARF's number. Nothing: a trace does not have the register.
  std::optional<llvm::APInt> value(unsigned Number);

protected:
  bool BehavesLikeZerothFrame() const override { return Interrupted; }

private:
  SmallVector<uint8_t, 32> bytesOf(const RegisterInfo *Info);

  answers::Registers Values;
  bool Interrupted;
  RegisterContextSP Live;
};

/// Empty if a trace does not have the register.
SmallVector<uint8_t, 32> HistoryRegisters::bytesOf(const RegisterInfo *Info) {
  // LLDB derives some registers from others: from a part of one (eax) or from
  // several (ymm0).
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
  if (Number >= session::registerLayout().size() ||
      session::registerLayout()[Number].Bytes != Info->byte_size)
    return {};
  return session::registerValue(Values, Number);
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

std::optional<llvm::APInt> HistoryRegisters::value(unsigned Number) {
  uint32_t Index =
      ConvertRegisterKindToRegisterNumber(eRegisterKindDWARF, Number);
  const RegisterInfo *Info =
      Index == LLDB_INVALID_REGNUM ? nullptr : GetRegisterInfoAtIndex(Index);
  if (!Info)
    return std::nullopt;
  SmallVector<uint8_t, 32> Bytes = bytesOf(Info);
  if (Bytes.size() < 8 || Bytes.size() % 8)
    return std::nullopt;
  SmallVector<uint64_t, 4> Words;
  for (size_t I = 0; I < Bytes.size(); I += 8)
    Words.push_back(llvm::support::endian::read64le(&Bytes[I]));
  return llvm::APInt(unsigned(8 * Bytes.size()), Words);
}

/// Takes the frames of a thread from history. Where history has none, because
/// the thread has not run yet, it asks the unwinder that LLDB had made.
class HistoryUnwinder : public Unwind {
public:
  HistoryUnwinder(Thread &T, std::shared_ptr<const query::Trace> Run,
                  std::function<session::Position()> Where,
                  std::unique_ptr<Unwind> Stock)
      : Unwind(T), Run(std::move(Run)), Where(std::move(Where)),
        Stock(std::move(Stock)) {
    std::lock_guard<std::mutex> Guard(lock());
    all().insert(this);
  }
  ~HistoryUnwinder() override {
    std::lock_guard<std::mutex> Guard(lock());
    all().erase(this);
  }

  /// The unwinder as one of this class; null if it is not. LLVM's libraries
  /// have no RTTI to ask.
  static HistoryUnwinder *from(Unwind *Unwinder) {
    std::lock_guard<std::mutex> Guard(lock());
    return all().count(Unwinder) ? static_cast<HistoryUnwinder *>(Unwinder)
                                 : nullptr;
  }

  /// Whether the frames that LLDB has may be of another moment. They are if
  /// something, such as LLDB's status line, asked for them while the process
  /// ran.
  bool isStale() const {
    const session::Position Now = Where();
    return Known &&
           (KnownAt.Time != Now.Time || KnownAt.Diverted != Now.Diverted);
  }

  /// Prepares the variables of frame #0, which costs the frame, unless the
  /// thread is where it was when this was done last. Most threads wait.
  void prepareInnermost() {
    if (Where().Diverted)
      return;
    const state::ModuleLoad *In = nullptr;
    uint64_t Pc = 0;
    const Timestamp Now = Where().Time;
    if (Expected<answers::Registers> R = Run->registers(number(Now), Now)) {
      Pc = R->rip();
      In = Run->symbols().history().find(Pc, Now);
    } else {
      llvm::consumeError(R.takeError()); // LLDB unwinds by itself then
    }
    if (In && In == Prepared.In && Pc == Prepared.Pc &&
        !Prepared.Module.expired())
      return;
    // Older frames are prepared when LLDB asks for their registers. The public
    // API must not be used for this: the command that waits for this stop may
    // hold its lock.
    StackFrameSP Frame = innermostFrame(m_thread);
    if (!Frame)
      return;
    useEntryValues(*Frame);
    Prepared = {In, Pc,
                Frame->GetSymbolContext(eSymbolContextModule).module_sp};
  }

  /// As registerAtEntry().
  std::optional<llvm::APInt> atEntry(uint32_t Frame, unsigned Register) {
    history::HistoryFrames *History = frames();
    if (!History || !frameAt(*History, Frame))
      return std::nullopt;
    auto [It, New] = Entries.try_emplace(Frame);
    if (New) {
      Expected<std::optional<answers::Registers>> R =
          History->registersAtEntry(Frame);
      if (!R)
        llvm::consumeError(R.takeError()); // LLDB shows that it is not known
      else if (*R)
        It->second = std::make_shared<HistoryRegisters>(m_thread, Frame, **R,
                                                        /*Interrupted=*/true);
    }
    return It->second ? It->second->value(Register) : std::nullopt;
  }

protected:
  void DoClear() override {
    keepSelection();
    Entries.clear();
    Frames.reset();
    Known = false;
    if (Stock)
      Stock->Clear();
    recoverSelection();
  }

  uint32_t DoGetFrameCount() override {
    history::HistoryFrames *History = frames();
    if (!History)
      return Stock ? Stock->GetFrameCount() : 0;
    Expected<size_t> Count = History->count();
    if (Count)
      return uint32_t(*Count);
    llvm::consumeError(Count.takeError()); // LLDB asks for the frames then
    return 0;
  }

  bool DoGetFrameInfoAtIndex(uint32_t Index, addr_t &Cfa, addr_t &Pc,
                             bool &BehavesLikeZeroth) override {
    history::HistoryFrames *History = frames();
    if (!History)
      return Stock &&
             Stock->GetFrameInfoAtIndex(Index, Cfa, Pc, BehavesLikeZeroth);
    const history::HistoryFrame *Frame = frameAt(*History, Index);
    if (!Frame)
      return false;
    if (!Index)
      restoreSelection();
    Cfa = Frame->Cfa;
    Pc = Frame->Pc;
    BehavesLikeZeroth = Frame->What != history::HistoryFrame::Called;
    return true;
  }

  RegisterContextSP DoCreateRegisterContextForFrame(StackFrame *F) override {
    history::HistoryFrames *History = frames();
    if (!History)
      return Stock ? Stock->CreateRegisterContextForFrame(F)
                   : RegisterContextSP();
    uint32_t Index = F->GetConcreteFrameIndex();
    const history::HistoryFrame *Frame = frameAt(*History, Index);
    if (!Frame)
      return RegisterContextSP();
    if (!Index)
      return m_thread.GetRegisterContext();
    const bool Interrupted = Frame->What != history::HistoryFrame::Called;
    useEntryValues(*F);
    Expected<answers::Registers> R = History->registers(Index);
    if (!R) {
      llvm::consumeError(R.takeError()); // LLDB shows a frame without registers
      return RegisterContextSP();
    }
    return std::make_shared<HistoryRegisters>(m_thread, Index, *R, Interrupted);
  }

private:
  /// Null: there is none, or history cannot be read there. LLDB ends its list
  /// of frames then.
  static const history::HistoryFrame *frameAt(history::HistoryFrames &History,
                                              uint32_t Index) {
    Expected<const history::HistoryFrame *> Frame = History.frame(Index);
    if (Frame)
      return *Frame;
    llvm::consumeError(Frame.takeError());
    return nullptr;
  }

  /// Notes which frame is selected. LLDB clears the unwinder first, and then
  /// forgets its frames.
  void keepSelection() {
    StackFrameListSP List = currentFrames(m_thread);
    if (!List || !selectedFrame(*List) || isStale())
      return;
    Selected = {m_thread.GetProcess()->GetModID(), *selectedFrame(*List),
                inlinedDepth(*List), inlinedPc(*List)};
  }

  /// Whether the process has not run since.
  bool isSameStop() const {
    const ProcessModID &Now = m_thread.GetProcess()->GetModIDRef();
    return Selected && Selected->When.GetStopID() == Now.GetStopID() &&
           Selected->When.GetResumeID() == Now.GetResumeID();
  }

  /// Makes frame #0 at once, and with it the list in which the frame is
  /// selected. LLDB clears the unwinder once more when it has put registers
  /// back, and looks for the selected frame before it makes frame #0.
  void recoverSelection() {
    if (!isSameStop() || currentFrames(m_thread))
      return;
    // LLDB takes this lock before the unwinder's, which is held here.
    std::unique_lock<std::recursive_mutex> Guard(frameLock(m_thread),
                                                 std::try_to_lock);
    if (Guard)
      (void)innermostFrame(m_thread);
  }

  /// Selects that frame again in a new list of frames.
  void restoreSelection() {
    StackFrameListSP List = currentFrames(m_thread);
    if (!Selected || !List || selectedFrame(*List))
      return;
    if (isSameStop()) {
      selectedFrame(*List) = Selected->Frame;
      inlinedDepth(*List) = Selected->InlinedDepth;
      inlinedPc(*List) = Selected->InlinedPc;
    }
    Selected.reset();
  }

  /// The trace's number of the thread; of a thread that the trace does not
  /// know, that of the present position.
  uint32_t number(Timestamp Now) {
    const uint32_t Number = session::threadNumber(*Run, m_thread.GetID(), Now);
    return Number ? Number : Where().Thread;
  }

  /// Null: history has none.
  history::HistoryFrames *frames() {
    if (Known)
      return Frames ? &*Frames : nullptr;
    Known = true;
    KnownAt = Where();
    // A call that the debugger makes is not in the history.
    if (KnownAt.Diverted)
      return nullptr;
    const Timestamp Now = KnownAt.Time;
    Expected<history::HistoryFrames> Made =
        history::HistoryFrames::create(*Run, number(Now), Now);
    if (!Made)
      llvm::consumeError(Made.takeError()); // LLDB unwinds by itself then
    else if (frameAt(*Made, 0))
      Frames.emplace(std::move(*Made));
    return Frames ? &*Frames : nullptr;
  }

  /// Every unwinder of this class that exists. Never destroyed, because threads
  /// of LLDB may outlive this library's statics.
  static std::set<Unwind *> &all() {
    static auto *All = new std::set<Unwind *>();
    return *All;
  }
  static std::mutex &lock() {
    static auto *Lock = new std::mutex();
    return *Lock;
  }

  std::shared_ptr<const query::Trace> Run;
  std::function<session::Position()> Where;
  std::unique_ptr<Unwind> Stock;
  std::optional<history::HistoryFrames> Frames;
  /// The registers at the entry of each frame's function; null: not known.
  std::map<uint32_t, std::shared_ptr<HistoryRegisters>> Entries;
  bool Known = false;
  session::Position KnownAt;
  /// Where the thread was when frame #0 was prepared.
  struct {
    const state::ModuleLoad *In = nullptr;
    uint64_t Pc = 0;
    ModuleWP Module; ///< as LLDB has it
  } Prepared;
  /// The frame that was selected when LLDB last forgot the frames.
  struct Selection {
    ProcessModID When;
    uint32_t Frame, InlinedDepth;
    addr_t InlinedPc;
  };
  std::optional<Selection> Selected;
};

} // namespace

void installHistoryUnwinders(SBProcess Process,
                             const std::shared_ptr<const query::Trace> &T,
                             const std::function<session::Position()> &Where) {
  ProcessSP Private = privateProcess(Process);
  if (!Private)
    return;
  for (const ThreadSP &Each : Private->GetThreadList().Threads()) {
    std::unique_ptr<Unwind> &Unwinder = unwinderOf(*Each);
    HistoryUnwinder *Ours = HistoryUnwinder::from(Unwinder.get());
    if (Ours) {
      if (Ours->isStale())
        Each->ClearStackFrames();
    } else {
      auto New = std::make_unique<HistoryUnwinder>(*Each, T, Where,
                                                   std::move(Unwinder));
      Ours = New.get();
      Unwinder = std::move(New);
      Each->ClearStackFrames();
    }
    Ours->prepareInnermost();
  }
}

std::optional<llvm::APInt> registerAtEntry(RegisterContext &Registers,
                                           unsigned Number) {
  ThreadSP T = Registers.CalculateThread();
  HistoryUnwinder *Ours =
      T ? HistoryUnwinder::from(unwinderOf(*T).get()) : nullptr;
  return Ours ? Ours->atEntry(frameOf(Registers), Number) : std::nullopt;
}

} // namespace chronicle::internals
