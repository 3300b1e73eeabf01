// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The list of LLDB's private parts that Chronicle uses. No other file includes
/// a private header of LLDB or reaches a private member of an LLDB class.
///
/// Every entry says what it is for and which public API is missing; an entry
/// can be deleted once LLDB has that API. Private classes have the layout of
/// the installed headers (liblldb-22-dev), which holds for one release only.
/// Plugin.cpp therefore refuses to start in any LLDB for which
/// unsupportedVersion() has an objection, and nothing here checks again.
///
/// liblldb exports no function of a private class. What remains is: to call
/// functions that are virtual or inline, to read and write members, and to
/// derive from a class after defining, in PrivateLldb.cpp, those of its
/// functions that its table of virtual functions needs.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDB_PRIVATELLDB_H
#define CHRONICLE_LLDB_PLUGIN_LLDB_PRIVATELLDB_H

#include "lldb/API/LLDB.h"
#include "lldb/Core/Value.h"
#include "lldb/Expression/DWARFExpressionList.h"
#include "lldb/Interpreter/CommandAlias.h"
#include "lldb/Interpreter/CommandInterpreter.h"
#include "lldb/Interpreter/CommandObject.h"
#include "lldb/Symbol/Block.h"
#include "lldb/Symbol/Function.h"
#include "lldb/Symbol/Variable.h"
#include "lldb/Symbol/VariableList.h"
#include "lldb/Target/Process.h"
#include "lldb/Target/RegisterContext.h"
#include "lldb/Target/StackFrame.h"
#include "lldb/Target/StackFrameList.h"
#include "lldb/Target/Target.h"
#include "lldb/Target/Thread.h"
#include "lldb/Target/Unwind.h"
#include "lldb/Utility/CompletionRequest.h"
#include "lldb/Utility/RegisterValue.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace chronicle::internals {

//===-- From the public objects to the private ones -----------------------===//
// For: every entry below. Missing: nothing, once the entries below are gone.

lldb_private::CommandInterpreter &
privateInterpreter(lldb::SBCommandInterpreter Interpreter);
/// Null: the process has gone.
lldb::ProcessSP privateProcess(lldb::SBProcess Process);
lldb::TargetSP privateTarget(lldb::SBTarget Target);
/// The process of a target that is held weakly, which no SBTarget can be. Null:
/// it has none.
lldb::ProcessSP processOf(lldb_private::Target &Target);

//===-- Commands ----------------------------------------------------------===//

/// For: ending a search at Ctrl-C. The thread that watches for it is not the
/// one that runs the command. Missing: SBCommandInterpreter::WasInterrupted()
/// for all threads; it reports Ctrl-C only to the thread that runs the command.
bool isInterrupted(lldb_private::CommandInterpreter &Interpreter);

// lldb_private::CommandInterpreter::GetUserMultiwordCommands(), GetCommands()
// and CommandObject::LoadSubCommand().
// For: `process trace load`. Missing: an SBCommand for a built-in command, to
// add a subcommand to. The first also for loading the plugin twice. Missing:
// SBCommandInterpreter::UserCommandExists() for groups of commands.

/// For: waiting for stops only where LLDB has a prompt. Missing:
/// SBCommandInterpreter::IsActive() that is false where no loop reads commands,
/// as in lldb-dap; it compares two null pointers there.
bool readsCommands(lldb_private::CommandInterpreter &Interpreter);

/// For: what `chronicle` without a subcommand does (GroupCommand). Missing: a
/// callback of SBCommandInterpreter::AddMultiwordCommand().
lldb_private::CommandObject::CommandMap &
userGroups(lldb_private::CommandInterpreter &Interpreter);

// lldb_private::CommandObject, as a base class, and CompletionRequest.
// For: commands that stand in the place of others (ForwardingCommand): to
// complete arguments (CompletingCommand), and the entry before this one.
// Missing: a completion function in SBCommandPluginInterface.

/// For: knowing when the result of an expression has been printed
/// (ExpressionCommand). Missing: an event or a callback at the end of a
/// command.
lldb_private::CommandObject::CommandMap &
builtInCommands(lldb_private::CommandInterpreter &Interpreter);
/// The command that an alias stands for; null if it is no alias.
lldb::CommandObjectSP *behindAlias(lldb_private::CommandObject &Command);

//===-- Processes and threads ---------------------------------------------===//

/// For: making `continue` go forward after a reverse continue. Missing: a way
/// to set the direction without running (SBProcess::ContinueInDirection()
/// keeps the direction for every later run).
lldb::RunDirection &baseDirection(lldb_private::Process &Process);

/// For: giving a thread the same number at every moment. LLDB counts threads as
/// it first sees them, and counts one again that was gone and is back. Missing:
/// a key in the stop reply that numbers a thread.
std::map<uint64_t, uint32_t> &threadNumbers(lldb_private::Process &Process);
uint32_t &lastThreadNumber(lldb_private::Process &Process);

/// For: expressions that call functions, and are as fast as before if they do
/// not. LLDB finds out whether it can run code of its own in a process by
/// allocating memory there. This sets what it would find out. Missing: nothing
/// but the time of that packet at every stop.
void allowOwnCode(lldb_private::Process &Process);

/// For: calls whose changes of memory are thrown away. LLDB keeps what it has
/// read until the process runs. Missing: a public function that makes it read
/// memory again.
void forgetMemory(lldb_private::Process &Process);

//===-- Frames ------------------------------------------------------------===//

/// For: frames from the history of calls (HistoryUnwinder). Missing: an
/// unwinder that a plugin can register. SBTarget::RegisterScriptedFrameProvider
/// takes Python classes only (docs/lldb.md says what else stands against it).
std::unique_ptr<lldb_private::Unwind> &unwinderOf(lldb_private::Thread &Thread);

// lldb_private::Process::GetThreadList(), Thread::ClearStackFrames(),
// Thread::GetRegisterContext(), StackFrame::GetConcreteFrameIndex(), and
// lldb_private::Unwind and RegisterContext as base classes.
// For: the same.

/// A register value of any size. For: the same. RegisterValue::SetBytes() is
/// not exported.
class BytesValue : public lldb_private::RegisterValue {
public:
  explicit BytesValue(llvm::ArrayRef<uint8_t> Bytes) {
    m_type = eTypeBytes;
    buffer.bytes.assign(Bytes.begin(), Bytes.end());
    buffer.byte_order = lldb::eByteOrderLittle;
  }
};

/// Which frame of the list is selected; nothing: none was asked for yet.
/// For: the selected frame, which LLDB forgets with the thread's frames.
/// LLDB forgets them when it prepares a call of its own, also where that comes
/// to nothing, as at the resolver of an indirect function. Missing: a failed
/// call that leaves the frames alone.
std::optional<uint32_t> &selectedFrame(lldb_private::StackFrameList &Frames);
/// For: the same. Guards the thread's frames.
std::recursive_mutex &frameLock(lldb_private::Thread &Thread);

/// The frames that LLDB has made for a thread so far; null: none.
/// For: the entry before this one, and a step back out of an inlined function,
/// at its first instruction. LLDB can show that moment as inside the function
/// or as at its call, and keeps the choice in these two members: how many
/// inlined functions it leaves out, and at which program counter. Missing: a
/// public setter.
lldb::StackFrameListSP currentFrames(lldb_private::Thread &Thread);
uint32_t &inlinedDepth(lldb_private::StackFrameList &Frames);
lldb::addr_t &inlinedPc(lldb_private::StackFrameList &Frames);

//===-- Values of registers at the entry of a function --------------------===//
// For: EntryValues. Missing: an SBTarget or SBThread callback that answers
// DW_OP_entry_value.

/// The frame in which the thread is, or null. Missing: a public function that
/// does not take the lock of the API.
lldb::StackFrameSP innermostFrame(lldb_private::Thread &Thread);
/// Which frame the registers are of; frames of inlined functions do not count.
uint32_t frameOf(lldb_private::RegisterContext &Registers);
/// The outermost block of a function, what is in a block, and its variables;
/// null: none, or not read yet.
lldb_private::Block &blockOf(lldb_private::Function &Function);
const std::vector<lldb::BlockSP> &childrenOf(lldb_private::Block &Block);
const lldb::VariableListSP &variablesOf(lldb_private::Block &Block);
/// What evaluates operations that LLDB does not know.
const lldb_private::DWARFExpression::Delegate *&
unitOf(lldb_private::DWARFExpressionList &Locations);
/// Visits the bytes of each location in the list.
void forEachLocation(
    lldb_private::DWARFExpressionList &Locations,
    llvm::function_ref<void(lldb_private::DataExtractor &)> Visit);
/// Makes it refer to other bytes, which must live as long.
void setData(lldb_private::DataExtractor &Data, llvm::ArrayRef<uint8_t> Bytes);
/// The value of a scalar that is an integer.
llvm::APSInt &integerOf(lldb_private::Scalar &Scalar);

// lldb_private::DWARFExpression::Delegate, as a base class,
// StackFrame::GetSymbolContext() and GetVariableList(),
// RegisterContext::CalculateThread().
// For: the same.

} // namespace chronicle::internals

#endif
