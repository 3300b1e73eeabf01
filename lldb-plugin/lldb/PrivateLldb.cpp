// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/lldb/PrivateLldb.h"
#include "lldb/Target/ExecutionContext.h"

using namespace lldb;
using namespace lldb_private;

//===-- Private members ---------------------------------------------------===//

/// An explicit instantiation may name a private member. It defines memberOf(),
/// which returns a pointer to that member:
///
///     PRIVATE_MEMBER(ProcessPointer, SBProcess, ProcessWP, m_opaque_wp);
///     … Process.*memberOf(ProcessPointer()) …
template <class Tag, Tag::Type Member> struct PrivateMember {
  friend Tag::Type memberOf(Tag) { return Member; }
};
#define PRIVATE_MEMBER(TAG, CLASS, TYPE, MEMBER)                               \
  struct TAG {                                                                 \
    using Type = TYPE CLASS::*;                                                \
    friend Type memberOf(TAG);                                                 \
  };                                                                           \
  template struct PrivateMember<TAG, &CLASS::MEMBER>

using UnwindUP = std::unique_ptr<Unwind>;
using Numbers = std::map<uint64_t, uint32_t>;
PRIVATE_MEMBER(InterpreterPointer, SBCommandInterpreter, CommandInterpreter *,
               m_opaque_ptr);
PRIVATE_MEMBER(CommandLoop, CommandInterpreter, IOHandlerSP,
               m_command_io_handler_sp);
PRIVATE_MEMBER(UserGroups, CommandInterpreter, CommandObject::CommandMap,
               m_user_mw_dict);
PRIVATE_MEMBER(BuiltInCommands, CommandInterpreter, CommandObject::CommandMap,
               m_command_dict);
PRIVATE_MEMBER(BehindAlias, CommandAlias, CommandObjectSP,
               m_underlying_command_sp);
PRIVATE_MEMBER(ProcessPointer, SBProcess, ProcessWP, m_opaque_wp);
PRIVATE_MEMBER(TargetPointer, SBTarget, TargetSP, m_opaque_sp);
PRIVATE_MEMBER(TargetProcess, Target, ProcessSP, m_process_sp);
PRIVATE_MEMBER(BaseDirection, Process, RunDirection, m_base_direction);
PRIVATE_MEMBER(ThreadNumbers, Process, Numbers, m_thread_id_to_index_id_map);
PRIVATE_MEMBER(LastThreadNumber, Process, uint32_t, m_thread_index_id);
using CachedBlocks = std::map<addr_t, DataBufferSP>;
PRIVATE_MEMBER(KnownMemory, Process, MemoryCache, m_memory_cache);
PRIVATE_MEMBER(MemoryLock, MemoryCache, std::recursive_mutex, m_mutex);
PRIVATE_MEMBER(MemoryChunks, MemoryCache, CachedBlocks, m_L1_cache);
PRIVATE_MEMBER(MemoryLines, MemoryCache, CachedBlocks, m_L2_cache);
PRIVATE_MEMBER(ProcessChanges, Process, ProcessModID, m_mod_id);
PRIVATE_MEMBER(ThreadUnwinder, Thread, UnwindUP, m_unwinder_up);
PRIVATE_MEMBER(ThreadFrameLock, Thread, std::recursive_mutex, m_frame_mutex);
PRIVATE_MEMBER(ThreadFrames, Thread, StackFrameListSP, m_curr_frames_sp);
using FrameIndex = std::optional<uint32_t>;
PRIVATE_MEMBER(SelectedFrame, StackFrameList, FrameIndex, m_selected_frame_idx);
PRIVATE_MEMBER(InlinedDepth, StackFrameList, uint32_t, m_current_inlined_depth);
PRIVATE_MEMBER(InlinedPc, StackFrameList, addr_t, m_current_inlined_pc);

PRIVATE_MEMBER(FrameOfRegisters, RegisterContext, uint32_t,
               m_concrete_frame_idx);
using Blocks = std::vector<BlockSP>;
using Unit = const DWARFExpression::Delegate *;
using Byte = const uint8_t *;
PRIVATE_MEMBER(FunctionBlock, Function, Block, m_block);
PRIVATE_MEMBER(BlockChildren, Block, Blocks, m_children);
PRIVATE_MEMBER(BlockVariables, Block, VariableListSP, m_variable_list_sp);
PRIVATE_MEMBER(LocationUnit, DWARFExpressionList, Unit, m_dwarf_cu);
PRIVATE_MEMBER(LocationData, DWARFExpression, DataExtractor, m_data);
PRIVATE_MEMBER(DataStart, DataExtractor, Byte, m_start);
PRIVATE_MEMBER(DataEnd, DataExtractor, Byte, m_end);
PRIVATE_MEMBER(ScalarInteger, Scalar, llvm::APSInt, m_integer);

template <class Entries>
static void visitEntries(Entries &All,
                         llvm::function_ref<void(DataExtractor &)> Visit) {
  for (size_t I = 0, N = All.GetSize(); I < N; ++I)
    Visit(All.GetMutableEntryAtIndex(I)->data.*memberOf(LocationData()));
}
/// As PRIVATE_MEMBER, for members whose type is private too.
static void visitLocations(DWARFExpressionList &List,
                           llvm::function_ref<void(DataExtractor &)> Visit);
template <auto Locations> struct ListedLocations {
  friend void visitLocations(DWARFExpressionList &List,
                             llvm::function_ref<void(DataExtractor &)> Visit) {
    visitEntries(List.*Locations, Visit);
  }
};
template struct ListedLocations<&DWARFExpressionList::m_exprs>;

static bool hasInterruptedState(CommandInterpreter &Interpreter);
template <auto State> struct CommandState {
  friend bool hasInterruptedState(CommandInterpreter &Interpreter) {
    using Value = decltype((Interpreter.*State).load());
    return (Interpreter.*State).load() == Value::eInterrupted;
  }
};
template struct CommandState<&CommandInterpreter::m_command_state>;

static void setCanJit(Process &Of);
template <auto Can> struct OwnCode {
  friend void setCanJit(Process &Of) {
    Of.*Can = std::remove_reference_t<decltype(Of.*Can)>::eCanJITYes;
  }
};
template struct OwnCode<&Process::m_can_jit>;

namespace chronicle::internals {

CommandInterpreter &privateInterpreter(SBCommandInterpreter Interpreter) {
  return *(Interpreter.*memberOf(InterpreterPointer()));
}
ProcessSP privateProcess(SBProcess Process) {
  return (Process.*memberOf(ProcessPointer())).lock();
}
TargetSP privateTarget(SBTarget Target) {
  return Target.*memberOf(TargetPointer());
}
ProcessSP processOf(Target &Target) {
  return Target.*memberOf(TargetProcess());
}
bool readsCommands(CommandInterpreter &Interpreter) {
  return (Interpreter.*memberOf(CommandLoop())) != nullptr;
}
CommandObject::CommandMap &userGroups(CommandInterpreter &Interpreter) {
  return Interpreter.*memberOf(UserGroups());
}
CommandObject::CommandMap &builtInCommands(CommandInterpreter &Interpreter) {
  return Interpreter.*memberOf(BuiltInCommands());
}
CommandObjectSP *behindAlias(CommandObject &Command) {
  if (!Command.IsAlias())
    return nullptr;
  return &(static_cast<CommandAlias &>(Command).*memberOf(BehindAlias()));
}
void forgetMemory(Process &Process) {
  MemoryCache &Known = Process.*memberOf(KnownMemory());
  {
    std::lock_guard<std::recursive_mutex> Guard(Known.*memberOf(MemoryLock()));
    (Known.*memberOf(MemoryChunks())).clear();
    (Known.*memberOf(MemoryLines())).clear();
  }
  // Values that were read before are read again.
  (Process.*memberOf(ProcessChanges())).BumpMemoryID();
}
bool isInterrupted(CommandInterpreter &Interpreter) {
  return hasInterruptedState(Interpreter);
}
RunDirection &baseDirection(Process &Process) {
  return Process.*memberOf(BaseDirection());
}
Numbers &threadNumbers(Process &Process) {
  return Process.*memberOf(ThreadNumbers());
}
uint32_t &lastThreadNumber(Process &Process) {
  return Process.*memberOf(LastThreadNumber());
}
void allowOwnCode(Process &Process) { setCanJit(Process); }
UnwindUP &unwinderOf(Thread &Thread) {
  return Thread.*memberOf(ThreadUnwinder());
}
StackFrameListSP currentFrames(Thread &Thread) {
  return Thread.*memberOf(ThreadFrames());
}
std::recursive_mutex &frameLock(Thread &Thread) {
  return Thread.*memberOf(ThreadFrameLock());
}
FrameIndex &selectedFrame(StackFrameList &Frames) {
  return Frames.*memberOf(SelectedFrame());
}
uint32_t &inlinedDepth(StackFrameList &Frames) {
  return Frames.*memberOf(InlinedDepth());
}
addr_t &inlinedPc(StackFrameList &Frames) {
  return Frames.*memberOf(InlinedPc());
}
StackFrameSP innermostFrame(Thread &Thread) {
  // Through LLDB's table of virtual functions, which volatile enforces: a copy
  // of this function in the plugin would need what liblldb does not export.
  StackFrameSP (lldb_private::Thread::*volatile Get)(uint32_t) =
      &lldb_private::Thread::GetStackFrameAtIndex;
  return (Thread.*Get)(0);
}
uint32_t frameOf(RegisterContext &Registers) {
  return Registers.*memberOf(FrameOfRegisters());
}
lldb_private::Block &blockOf(Function &Function) {
  return Function.*memberOf(FunctionBlock());
}
const Blocks &childrenOf(lldb_private::Block &Block) {
  return Block.*memberOf(BlockChildren());
}
const VariableListSP &variablesOf(lldb_private::Block &Block) {
  return Block.*memberOf(BlockVariables());
}
Unit &unitOf(DWARFExpressionList &Locations) {
  return Locations.*memberOf(LocationUnit());
}
void forEachLocation(DWARFExpressionList &Locations,
                     llvm::function_ref<void(DataExtractor &)> Visit) {
  visitLocations(Locations, Visit);
}
void setData(DataExtractor &Data, llvm::ArrayRef<uint8_t> Bytes) {
  Data.*memberOf(DataStart()) = Bytes.begin();
  Data.*memberOf(DataEnd()) = Bytes.end();
}
llvm::APSInt &integerOf(Scalar &Scalar) {
  return Scalar.*memberOf(ScalarInteger());
}

} // namespace chronicle::internals

//===-- Functions that liblldb does not export ----------------------------===//

namespace lldb_private {

// For HistoryUnwinder's registers of older frames. What such a frame needs
// beyond its values comes from the registers of its thread.
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
  return m_thread.GetRegisterContext()->ConvertRegisterKindToRegisterNumber(
      Kind, Number);
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
  return m_thread.GetRegisterContext()->ReadRegisterValueFromMemory(
      Info, From, Length, Value);
}
Status RegisterContext::WriteRegisterValueToMemory(const RegisterInfo *Info,
                                                   addr_t To, uint32_t Length,
                                                   const RegisterValue &Value) {
  return m_thread.GetRegisterContext()->WriteRegisterValueToMemory(
      Info, To, Length, Value);
}
tid_t RegisterContext::GetThreadID() const {
  return m_thread.GetRegisterContext()->GetThreadID();
}
TargetSP RegisterContext::CalculateTarget() {
  return m_thread.GetRegisterContext()->CalculateTarget();
}
ProcessSP RegisterContext::CalculateProcess() {
  return m_thread.GetRegisterContext()->CalculateProcess();
}
ThreadSP RegisterContext::CalculateThread() {
  return m_thread.GetRegisterContext()->CalculateThread();
}
StackFrameSP RegisterContext::CalculateStackFrame() { return StackFrameSP(); }
void RegisterContext::CalculateExecutionContext(ExecutionContext &Context) {
  m_thread.GetRegisterContext()->CalculateExecutionContext(Context);
}

// For ForwardingCommand, which overrides every virtual function below.
ExecutionContext::ExecutionContext() = default;
ExecutionContext::~ExecutionContext() = default;
CommandObject::CommandObject(CommandInterpreter &Interpreter,
                             llvm::StringRef Name, llvm::StringRef Help,
                             llvm::StringRef Syntax, uint32_t Flags)
    : m_interpreter(Interpreter), m_cmd_name(Name), m_cmd_help_short(Help),
      m_cmd_syntax(Syntax), m_flags(Flags),
      m_deprecated_command_override_callback(nullptr),
      m_command_override_callback(nullptr), m_command_override_baton(nullptr) {}
llvm::StringRef CommandObject::GetHelp() { return m_cmd_help_short; }
llvm::StringRef CommandObject::GetHelpLong() { return m_cmd_help_long; }
llvm::StringRef CommandObject::GetSyntax() { return m_cmd_syntax; }
void CommandObject::SetHelp(llvm::StringRef Text) {
  m_cmd_help_short = Text.str();
}
void CommandObject::SetHelpLong(llvm::StringRef Text) {
  m_cmd_help_long = Text.str();
}
void CommandObject::GenerateHelpText(Stream &) {}
Options *CommandObject::GetOptions() { return nullptr; }
void CommandObject::HandleCompletion(CompletionRequest &) {}
void CommandObject::HandleArgumentCompletion(CompletionRequest &,
                                             OptionElementVector &) {}

// These two must do exactly what LLDB's own do: both add to the same results.
std::string CompletionResult::Completion::GetUniqueKey() const {
  std::string Result = std::to_string(m_completion.size()) + m_completion;
  Result += std::to_string(static_cast<int>(m_mode)) + m_descripton;
  return Result;
}
void CompletionResult::AddResult(llvm::StringRef Text,
                                 llvm::StringRef Description,
                                 CompletionMode Mode) {
  Completion New(Text, Description, Mode);
  if (m_added_values.insert(New.GetUniqueKey()).second)
    m_results.push_back(New);
}

} // namespace lldb_private
