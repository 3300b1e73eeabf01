// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/JsonAnswers.h"
#include "query/SystemCalls.h"
#include "trace-format/EventNames.h"
#include "trace-format/GuestState.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace chronicle {

std::string hexNumber(uint64_t N) {
  return "0x" + utohexstr(N, /*LowerCase=*/true);
}

json::Value jsonBytes(ArrayRef<uint8_t> Bytes) {
  return toHex(Bytes, /*LowerCase=*/true);
}

json::Value jsonText(StringRef Text) {
  return json::isUTF8(Text) ? Text.str() : json::fixUTF8(Text);
}

// ---- state ----

static json::Object jsonX87(const Registers &R) {
  uint32_t Top = static_cast<uint32_t>(R.word(CH_OFFSET_FTOP)) & 7;
  json::Array Stack;
  for (unsigned I = 0; I < 8; ++I) {
    unsigned Register = (Top + I) & 7;
    uint64_t Bits = R.word(CH_OFFSET_FPREG + 8 * Register);
    double Value;
    std::memcpy(&Value, &Bits, sizeof(Value));
    bool Empty = R.State[CH_OFFSET_FPTAG + Register] == 0;
    json::Object Entry{{"bits", hexNumber(Bits)}, {"empty", Empty}};
    // JSON has no infinities and no NaN; the bits say which.
    if (!Empty)
      Entry["value"] =
          std::isfinite(Value) ? json::Value(Value) : json::Value(nullptr);
    Stack.push_back(std::move(Entry));
  }
  uint64_t Control = 0x37f | (R.word(CH_OFFSET_FPROUND) & 3) << 10;
  uint64_t Status = (R.word(CH_OFFSET_FC3210) & 0x4700) | Top << 11;
  return json::Object{{"top", Top},
                      {"control", hexNumber(Control)},
                      {"status", hexNumber(Status)},
                      {"st", std::move(Stack)}};
}

json::Object jsonRegisters(const Registers &R) {
  static const std::pair<const char *, unsigned> General[] = {
      {"rax", CH_OFFSET_RAX},
      {"rbx", CH_OFFSET_RBX},
      {"rcx", CH_OFFSET_RCX},
      {"rdx", CH_OFFSET_RDX},
      {"rsi", CH_OFFSET_RSI},
      {"rdi", CH_OFFSET_RDI},
      {"rbp", CH_OFFSET_RBP},
      {"rsp", CH_OFFSET_RSP},
      {"r8", CH_OFFSET_R8},
      {"r9", CH_OFFSET_R9},
      {"r10", CH_OFFSET_R10},
      {"r11", CH_OFFSET_R11},
      {"r12", CH_OFFSET_R12},
      {"r13", CH_OFFSET_R13},
      {"r14", CH_OFFSET_R14},
      {"r15", CH_OFFSET_R15},
      {"rip", CH_OFFSET_RIP},
      {"fs-base", CH_OFFSET_FS_CONST},
      {"gs-base", CH_OFFSET_GS_CONST},
  };
  json::Object Result;
  for (auto [Name, Offset] : General)
    Result[Name] = hexNumber(R.word(Offset));
  Result["rflags"] = hexNumber(R.flags());
  Result["mxcsr"] = hexNumber(0x1f80 | (R.word(CH_OFFSET_SSEROUND) & 3) << 13);
  for (unsigned N = 0; N < 16; ++N) {
    // A number of 256 bits: the highest byte first.
    std::vector<uint8_t> Bytes(R.ymm(N).rbegin(), R.ymm(N).rend());
    Result["ymm" + std::to_string(N)] = "0x" + toHex(Bytes, true);
  }
  Result["x87"] = jsonX87(R);
  return Result;
}

static std::string protectionText(uint32_t P) {
  std::string Text = "---";
  if (P & CH_PROT_READ)
    Text[0] = 'r';
  if (P & CH_PROT_WRITE)
    Text[1] = 'w';
  if (P & CH_PROT_EXEC)
    Text[2] = 'x';
  return Text;
}

json::Object jsonMapping(const Mapping &M) {
  json::Object Result{{"address", hexNumber(M.Address)},
                      {"length", M.Length},
                      {"protection", protectionText(M.Protection)},
                      {"shared", (M.Flags & CH_MAP_SHARED) != 0}};
  if (M.Flags & CH_MAP_FILE) {
    Result["path"] = jsonText(M.Path);
    Result["offset"] = M.Offset;
  }
  if (M.Flags & CH_MAP_STACK)
    Result["kind"] = "stack";
  else if (M.Flags & CH_MAP_HEAP)
    Result["kind"] = "heap";
  else
    Result["kind"] = M.Flags & CH_MAP_FILE ? "file" : "memory";
  return Result;
}

json::Object jsonModule(const ModuleLoad &M) {
  return json::Object{
      {"path", jsonText(M.Info.Path)},
      {"address", hexNumber(M.Info.Address)},
      {"size", M.Info.Size},
      {"build-id", M.Info.BuildId.empty() ? json::Value(nullptr)
                                          : json::Value(M.Info.BuildId)},
      {"loaded", M.Loaded},
      {"unloaded", M.Unloaded == ~Timestamp(0) ? json::Value(nullptr)
                                               : json::Value(M.Unloaded)}};
}

json::Object jsonThread(const ThreadInfo &I) {
  return json::Object{
      {"thread", I.Number},
      {"parent", I.Parent},
      {"os-thread", I.OsThread},
      {"started", I.Started},
      {"exited", I.Exited ? json::Value(*I.Exited) : json::Value(nullptr)}};
}

// ---- events ----

namespace {
/// The fixed part of an event's payload, and what follows it.
template <class S> struct Payload {
  explicit Payload(ArrayRef<uint8_t> Bytes) {
    std::memcpy(&Fixed, Bytes.data(), std::min(Bytes.size(), sizeof(S)));
    Rest = Bytes.drop_front(std::min(Bytes.size(), sizeof(S)));
  }
  StringRef text() const { return toStringRef(Rest).rtrim('\0'); }
  const S *operator->() const { return &Fixed; }
  S Fixed = {};
  ArrayRef<uint8_t> Rest;
};
} // namespace

static StringRef memorySource(uint32_t Source) {
  switch (Source) {
  case CH_MEM_STARTUP:
    return "startup";
  case CH_MEM_MAPPED:
    return "mapping";
  case CH_MEM_SYSCALL:
    return "system-call";
  case CH_MEM_SIGNAL:
    return "signal";
  case CH_MEM_THREAD:
    return "thread";
  case CH_MEM_CORE:
    return "core";
  }
  return "unknown";
}

static json::Value systemCallText(uint32_t Number) {
  StringRef Name = systemCallName(Number);
  return Name.empty() ? std::to_string(Number) : Name.str();
}

static void addResult(json::Object &O, int64_t Result) {
  O["result"] = Result;
  if (StringRef Name = systemCallError(Result); !Name.empty())
    O["error"] = Name.str();
}

static void addMap(json::Object &O, const Payload<ch_ev_map> &P) {
  Mapping M;
  M.Address = P->address;
  M.Length = P->length;
  M.Offset = P->offset;
  M.Protection = P->protection;
  M.Flags = P->flags;
  M.Path = P.text().str();
  for (auto &[Key, Value] : jsonMapping(M))
    O[Key] = std::move(Value);
  O["thread"] = P->thread;
}

json::Object jsonEvent(const TimedEvent &E) {
  json::Object O{{"time", E.Time}, {"event", eventKindName(E.Kind).str()}};
  switch (E.Kind) {
  case CH_EV_SNAPSHOT:
  case CH_EV_RESUME:
  case CH_EV_SIGNAL_RETURN:
  case CH_EV_THREAD_EXIT:
    O["thread"] = Payload<ch_ev_thread>(E.Payload)->thread;
    break;
  case CH_EV_REGISTERS:
    O["thread"] = Payload<ch_ev_registers>(E.Payload)->thread;
    break;
  case CH_EV_FAULT: {
    Payload<ch_ev_fault> P(E.Payload);
    O["thread"] = P->thread;
    O["pc"] = hexNumber(P->rip);
    break;
  }
  case CH_EV_MEMORY: {
    Payload<ch_ev_memory> P(E.Payload);
    O["thread"] = P->thread;
    O["address"] = hexNumber(P->address);
    O["length"] = P->length;
    O["source"] = memorySource(P->source).str();
    break;
  }
  case CH_EV_MAP:
    addMap(O, Payload<ch_ev_map>(E.Payload));
    break;
  case CH_EV_UNMAP:
  case CH_EV_PROTECT: {
    Payload<ch_ev_range> P(E.Payload);
    O["thread"] = P->thread;
    O["address"] = hexNumber(P->address);
    O["length"] = P->length;
    if (E.Kind == CH_EV_PROTECT)
      O["protection"] = protectionText(P->protection);
    break;
  }
  case CH_EV_SYSCALL_ENTER: {
    Payload<ch_ev_syscall_enter> P(E.Payload);
    O["thread"] = P->thread;
    O["number"] = P->number;
    O["name"] = systemCallText(P->number);
    json::Array Arguments;
    for (uint64_t A : P->arguments)
      Arguments.push_back(hexNumber(A));
    O["arguments"] = std::move(Arguments);
    break;
  }
  case CH_EV_SYSCALL_EXIT: {
    Payload<ch_ev_syscall_exit> P(E.Payload);
    O["thread"] = P->thread;
    O["number"] = P->number;
    O["name"] = systemCallText(P->number);
    addResult(O, P->result);
    break;
  }
  case CH_EV_SIGNAL: {
    Payload<ch_ev_signal> P(E.Payload);
    O["thread"] = P->thread;
    O["number"] = P->number;
    O["name"] = signalName(P->number);
    O["code"] = static_cast<int32_t>(P->code);
    O["fatal"] = (P->flags & CH_SIG_FATAL) != 0;
    O["alternate-stack"] = (P->flags & CH_SIG_ALT_STACK) != 0;
    O["synchronous"] = (P->flags & CH_SIG_SYNCHRONOUS) != 0;
    if (P->flags & CH_SIG_SYNCHRONOUS)
      O["address"] = hexNumber(P->address);
    else
      O["sender"] = P->sender;
    break;
  }
  case CH_EV_THREAD_START: {
    Payload<ch_ev_thread_start> P(E.Payload);
    O["thread"] = P->thread;
    O["parent"] = P->parent;
    O["os-thread"] = P->os_thread;
    break;
  }
  case CH_EV_OUTPUT: {
    Payload<ch_ev_output> P(E.Payload);
    O["thread"] = P->thread;
    O["descriptor"] = P->descriptor;
    O["text"] = jsonText(toStringRef(P.Rest));
    if (!json::isUTF8(toStringRef(P.Rest)))
      O["bytes"] = jsonBytes(P.Rest);
    break;
  }
  case CH_EV_OUTSIDE_WRITE: {
    Payload<ch_ev_outside_write> P(E.Payload);
    O["address"] = hexNumber(P->address);
    O["length"] = P->length;
    O["found-by"] = P->found_by == CH_FOUND_BY_LOAD ? "load" : "audit";
    break;
  }
  case CH_EV_LOG_LOADS: {
    uint32_t Reason = Payload<ch_ev_log_loads>(E.Payload)->reason;
    O["reason"] = Reason == CH_LOADS_ASKED           ? "asked"
                  : Reason == CH_LOADS_SHARED_MEMORY ? "shared-memory"
                                                     : "unreported-write";
    break;
  }
  case CH_EV_END: {
    Payload<ch_ev_end> P(E.Payload);
    O["reason"] = endReasonName(P->reason).str();
    O["code"] = P->code;
    break;
  }
  }
  return O;
}

// ---- writes ----

static StringRef writerName(Writer By) {
  switch (By) {
  case Writer::Instruction:
    return "instruction";
  case Writer::SystemCall:
    return "system-call";
  case Writer::Signal:
    return "signal";
  case Writer::Mapping:
    return "mapping";
  case Writer::Thread:
    return "thread";
  case Writer::Core:
    return "core";
  case Writer::Outside:
    return "outside";
  }
  llvm_unreachable("no such writer");
}

/// The system call that the thread was in at T: entered last, and left next.
static Expected<json::Object> systemCallAt(const Trace &T, const Write &W) {
  json::Object Result{{"number", W.SystemCall},
                      {"name", systemCallText(W.SystemCall)}};
  Timestamp Entered = W.Time;
  Error E = T.events(1ull << CH_EV_SYSCALL_ENTER, {0, W.Time},
                     /*Backward=*/true, [&](const TimedEvent &Event) {
                       Payload<ch_ev_syscall_enter> P(Event.Payload);
                       if (P->thread != W.Thread || P->number != W.SystemCall)
                         return true;
                       json::Array Arguments;
                       for (uint64_t A : P->arguments)
                         Arguments.push_back(hexNumber(A));
                       Result["arguments"] = std::move(Arguments);
                       Result["entered"] = Entered = Event.Time;
                       return false;
                     });
  if (E)
    return E;
  E = T.events(1ull << CH_EV_SYSCALL_EXIT, {Entered, T.instructions()},
               /*Backward=*/false, [&](const TimedEvent &Event) {
                 Payload<ch_ev_syscall_exit> P(Event.Payload);
                 if (P->thread != W.Thread)
                   return true;
                 addResult(Result, P->result);
                 return false;
               });
  if (E)
    return E;
  return Result;
}

Expected<json::Object> jsonWrite(const Trace &T, const Write &W,
                                 AddressRange Range) {
  json::Object Result{{"time", W.Time},
                      {"by", writerName(W.By).str()},
                      {"thread", W.Thread},
                      {"pc", hexNumber(W.Pc)},
                      {"address", hexNumber(W.Address)},
                      {"size", int64_t(W.New.size())}};
  ArrayRef<uint8_t> Old = W.Old, New = W.New;
  constexpr size_t WholeUpTo = 256;
  if (New.size() > WholeUpTo) {
    uint64_t First = std::max(Range.First, W.Address) - W.Address;
    uint64_t Last = std::min<uint64_t>(Range.Last - W.Address, New.size() - 1);
    New = New.slice(First, Last - First + 1);
    if (Old.size() > Last)
      Old = Old.slice(First, Last - First + 1);
    Result["bytes-address"] = hexNumber(W.Address + First);
  }
  Result["old"] = jsonBytes(Old);
  Result["new"] = jsonBytes(New);
  Result["symbol"] = jsonSymbol(T, W.Pc, W.Time);
  if (W.By == Writer::SystemCall) {
    Expected<json::Object> Call = systemCallAt(T, W);
    if (!Call)
      return Call.takeError();
    Result["system-call"] = std::move(*Call);
  }
  return Result;
}

// ---- code ----

static json::Object jsonFrame(const SourceFrame &F) {
  json::Object Result;
  if (!F.Function.empty())
    Result["function"] = jsonText(F.Function);
  if (!F.LinkageName.empty() && F.LinkageName != F.Function)
    Result["linkage-name"] = jsonText(F.LinkageName);
  if (!F.File.empty()) {
    Result["file"] = jsonText(F.File);
    Result["line"] = F.Line;
    if (F.Column)
      Result["column"] = F.Column;
  }
  return Result;
}

json::Value jsonSymbol(const Trace &T, uint64_t Pc, Timestamp At) {
  std::optional<CodeSymbol> S = T.symbols().find(Pc, At);
  if (!S)
    return nullptr;
  // The innermost frame is the answer; where it was inlined into follows.
  json::Object Result = jsonFrame(S->Frames.front());
  Result["module"] = jsonText(S->Module->Info.Path);
  if (S->FunctionAddress)
    Result["offset"] = Pc - S->FunctionAddress;
  if (S->Frames.size() > 1) {
    json::Array Outer;
    for (const SourceFrame &F : drop_begin(S->Frames))
      Outer.push_back(jsonFrame(F));
    Result["inlined-into"] = std::move(Outer);
  }
  return Result;
}

json::Object jsonExecution(const Trace &T, const Execution &E) {
  return json::Object{{"time", E.Time},
                      {"thread", E.Thread},
                      {"pc", hexNumber(E.Pc)},
                      {"symbol", jsonSymbol(T, E.Pc, E.Time)}};
}

json::Object jsonActivation(const Trace &T, const Activation &A, Timestamp At) {
  json::Object Result{{"thread", A.Thread},
                      {"entry", A.Entry},
                      {"callee", hexNumber(A.Callee)},
                      {"call-site", A.CallSite
                                        ? json::Value(hexNumber(A.CallSite))
                                        : json::Value(nullptr)},
                      {"stack-pointer", hexNumber(A.StackPointer)},
                      {"signal", A.Signal}};
  if (A.Pc) {
    Result["pc"] = hexNumber(A.Pc);
    Result["symbol"] = jsonSymbol(T, A.Pc, At);
  } else {
    Result["symbol"] = jsonSymbol(T, A.Callee, A.Entry);
  }
  return Result;
}

json::Object jsonFoundSymbol(const SymbolAt &S) {
  json::Object Result{{"name", jsonText(S.Name)},
                      {"size", S.Size},
                      {"module", jsonText(S.Module->Info.Path)},
                      {"loaded", S.Module->Loaded}};
  if (S.LinkageName != S.Name)
    Result["linkage-name"] = jsonText(S.LinkageName);
  if (S.ThreadLocal)
    Result["thread-local-offset"] = S.Address;
  else
    Result["address"] = hexNumber(S.Address);
  if (S.Indirect)
    Result["indirect"] = true;
  if (S.Module->Unloaded != ~Timestamp(0))
    Result["unloaded"] = S.Module->Unloaded;
  return Result;
}

} // namespace chronicle
