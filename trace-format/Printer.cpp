// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/Printer.h"
#include "trace-format/EventNames.h"
#include "trace-format/GuestState.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include <cstring>

using namespace llvm;

namespace chronicle {

std::string guestName(unsigned Offset) {
  struct Field {
    const char *Name;
    unsigned Offset, Size;
  };
  static constexpr Field Fields[] = {
#define CH_GUEST(NAME, OFFSET, SIZE) {#NAME, OFFSET, SIZE},
      CH_GUEST_FIELDS(CH_GUEST)
#undef CH_GUEST
  };
  for (const Field &F : Fields) {
    if (Offset < F.Offset || Offset >= F.Offset + F.Size)
      continue;
    unsigned Into = Offset - F.Offset;
    std::string Name = StringRef(F.Name).lower();
    if (F.Offset == CH_OFFSET_YMM0) {
      Name = "ymm" + std::to_string(Into / 32);
      Into %= 32;
    } else if (F.Offset == CH_OFFSET_FPREG) {
      Name += std::to_string(Into / 8);
      Into %= 8;
    }
    return Into ? Name + "+" + std::to_string(Into) : Name;
  }
  return "state+" + std::to_string(Offset);
}

static const char *typeName(ch_type Type) {
  static constexpr const char *Names[CH_TYPE_COUNT] = {
      "i1", "i8", "i16", "i32", "i64", "i128", "f32", "f64", "v128", "v256"};
  return Type < CH_TYPE_COUNT ? Names[Type] : "?";
}

static const char *jumpName(uint8_t Jump) {
  switch (Jump) {
  case CH_JUMP_PLAIN:
    return "";
  case CH_JUMP_CALL:
    return " call";
  case CH_JUMP_RETURN:
    return " return";
  case CH_JUMP_SYSCALL:
    return " syscall";
  }
  return " other";
}

static const char *conversionName(uint8_t Conversion) {
  static constexpr const char *Names[] = {
      "v128", "i64", "i32", "i16u.i32", "i16s.i32", "i8u.i32", "i8s.i32"};
  return Conversion < std::size(Names) ? Names[Conversion] : "?";
}

static raw_ostream &operator<<(raw_ostream &Out, const Atom &A) {
  if (A.IsTemp)
    return Out << 't' << A.Temp;
  return Out << format_hex(A.Constant, 1);
}

static void printStackPointer(raw_ostream &Out, const Statement &S) {
  Out << ", rsp ";
  if (S.StackBase)
    Out << "logged #" << S.StackBase << ' ';
  Out << (S.StackDelta < 0 ? "" : "+") << S.StackDelta;
}

void printStatement(raw_ostream &Out, const Statement &S,
                    function_ref<std::string(uint32_t)> ReasonName) {
  for (unsigned N = 0; N < S.Defines; ++N)
    Out << (N ? ", t" : "t") << S.FirstTemp + N;
  if (S.Defines)
    Out << ':' << typeName(S.DefinedType) << " = ";
  auto Rest = [&](unsigned From) {
    for (unsigned N = From; N < S.AtomCount; ++N)
      Out << (N == From ? "" : ", ") << S.Atoms[N];
  };
  switch (S.Opcode) {
  case CH_OP_INSTRUCTION:
    Out << "instruction of " << S.Size << " bytes";
    return;
  case CH_OP_GET:
    Out << guestName(S.Offset);
    return;
  case CH_OP_PUT:
    Out << guestName(S.Offset) << ':' << typeName(S.Type) << " = "
        << S.Atoms[0];
    return;
  case CH_OP_GET_INDEXED:
    Out << guestName(S.Offset) << '[' << S.Atoms[0] << " + " << S.Bias
        << " mod " << S.Elements << ']';
    return;
  case CH_OP_PUT_INDEXED:
    Out << guestName(S.Offset) << '[' << S.Atoms[0] << " + " << S.Bias
        << " mod " << S.Elements << "]:" << typeName(S.Type) << " = "
        << S.Atoms[1];
    return;
  case CH_OP_LOAD:
    Out << "load " << S.Atoms[0];
    return;
  case CH_OP_STORE:
    Out << "store " << S.Atoms[0] << ", " << typeName(S.Type) << ' '
        << S.Atoms[1];
    return;
  case CH_OP_STORE_GUARDED:
    Out << "if " << S.Atoms[0] << " store " << S.Atoms[1] << ", "
        << typeName(S.Type) << ' ' << S.Atoms[2];
    return;
  case CH_OP_LOAD_GUARDED:
    Out << "if " << S.Atoms[0] << " load " << conversionName(S.Conversion)
        << ' ' << S.Atoms[1] << " else " << S.Atoms[2];
    return;
  case CH_OP_CAS:
    Out << (S.Double ? "compare-and-swap-double " : "compare-and-swap ")
        << typeName(S.Type) << ' ';
    Rest(0);
    return;
  case CH_OP_ITE:
    Out << S.Atoms[0] << " ? " << S.Atoms[1] << " : " << S.Atoms[2];
    return;
  case CH_OP_CALL:
    Out << helperName(S.Helper) << '(';
    Rest(0);
    Out << ')';
    return;
  case CH_OP_OPAQUE:
    Out << "opaque (" << ReasonName(S.Reason) << ')';
    return;
  case CH_OP_OPAQUE_REGISTERS:
    Out << guestName(S.Offset) << ':' << S.Size << " bytes = opaque ("
        << ReasonName(S.Reason) << ')';
    return;
  case CH_OP_OPAQUE_MEMORY:
    Out << "if " << S.Atoms[0] << " store " << S.Atoms[1] << ", " << S.Size
        << " bytes opaque (" << ReasonName(S.Reason) << ')';
    return;
  case CH_OP_EXIT:
    Out << "if " << S.Atoms[0] << " exit to " << S.Atoms[1] << jumpName(S.Jump);
    printStackPointer(Out, S);
    return;
  case CH_OP_NEXT:
    Out << "next " << S.Atoms[0] << jumpName(S.Jump);
    printStackPointer(Out, S);
    return;
  case CH_OP_STACK_POINTER:
    Out << "rsp logged"
        << (S.Origin == CH_STACK_ITSELF ? " (computed from itself)" : "");
    return;
  case CH_OP_COPY:
    Rest(0);
    return;
  default:
    Out << operationInfo(S.Operation).Name << '(';
    Rest(0);
    Out << ')';
  }
}

void printDefinition(raw_ostream &Out, ArrayRef<uint8_t> Definition,
                     function_ref<std::string(uint32_t)> ReasonName) {
  Expected<BytecodeReader> R = BytecodeReader::create(Definition);
  if (!R) {
    Out << "  damaged: " << toString(R.takeError()) << '\n';
    return;
  }
  uint64_t Address = R->header().Address;
  unsigned Ordinal = 0;
  Statement S;
  while (R->next(S)) {
    if (S.Opcode == CH_OP_INSTRUCTION) {
      Out << "  " << format_hex(Address, 18) << ':' << '\n';
      Address += S.Size;
      continue;
    }
    Out << "    ";
    if (S.Opcode == CH_OP_EXIT || S.Opcode == CH_OP_NEXT)
      Out << '[' << ++Ordinal << "] ";
    printStatement(Out, S, ReasonName);
    Out << '\n';
  }
  if (Error E = R->takeError())
    Out << "  damaged: " << toString(std::move(E)) << '\n';
}

/// The first bytes in hexadecimal, and how many there are.
static void printBytes(raw_ostream &Out, ArrayRef<uint8_t> Bytes) {
  constexpr size_t Shown = 32;
  Out << ' ' << toHex(Bytes.take_front(Shown), /*LowerCase=*/true);
  if (Bytes.size() > Shown)
    Out << "... (" << Bytes.size() << " bytes)";
}

static void printSnapshot(raw_ostream &Out, ArrayRef<uint8_t> State) {
  if (State.size() < CH_GUEST_STATE_SIZE)
    return;
  for (unsigned Offset = CH_OFFSET_RAX; Offset <= CH_OFFSET_RIP; Offset += 8)
    Out << ' ' << guestName(Offset) << '='
        << format_hex_no_prefix(
               support::endian::read64le(State.data() + Offset), 1);
}

static void printProtection(raw_ostream &Out, uint32_t P) {
  Out << ' ' << (P & CH_PROT_READ ? 'r' : '-')
      << (P & CH_PROT_WRITE ? 'w' : '-') << (P & CH_PROT_EXEC ? 'x' : '-');
}

void printEvent(raw_ostream &Out, uint32_t Kind, ArrayRef<uint8_t> Payload) {
  Out << eventKindName(Kind);
  if (Payload.size() < eventFixedSize(Kind)) {
    Out << " (cut off)";
    return;
  }
  auto Take = [&](auto &Value) {
    std::memcpy(&Value, Payload.data(), sizeof(Value));
    Payload = Payload.drop_front(sizeof(Value));
  };
  auto Range = [&](uint64_t Address, uint64_t Length) {
    Out << ' ' << format_hex(Address, 1) << " + " << format_hex(Length, 1);
  };
  switch (Kind) {
  case CH_EV_SNAPSHOT: {
    ch_ev_snapshot E;
    Take(E);
    Out << " thread " << E.thread;
    printSnapshot(Out, Payload);
    return;
  }
  case CH_EV_RESUME:
  case CH_EV_SIGNAL_RETURN:
  case CH_EV_THREAD_EXIT: {
    ch_ev_thread E;
    Take(E);
    Out << " thread " << E.thread;
    return;
  }
  case CH_EV_REGISTERS: {
    ch_ev_registers E;
    Take(E);
    Out << " thread " << E.thread;
    for (; Payload.size() >= 16; Payload = Payload.drop_front(16))
      Out << ' '
          << guestName(unsigned(support::endian::read64le(Payload.data())))
          << '='
          << format_hex_no_prefix(support::endian::read64le(Payload.data() + 8),
                                  1);
    return;
  }
  case CH_EV_FAULT: {
    ch_ev_fault E;
    Take(E);
    Out << " thread " << E.thread << " at " << format_hex(E.rip, 1);
    return;
  }
  case CH_EV_MEMORY: {
    static constexpr const char *Sources[] = {
        "?", "startup", "mapped", "syscall", "signal", "thread", "core"};
    ch_ev_memory E;
    Take(E);
    Out << " thread " << E.thread;
    Range(E.address, E.length);
    Out << ' ' << Sources[E.source < std::size(Sources) ? E.source : 0];
    if (E.flags & CH_MEM_ZERO)
      Out << " zero";
    else if (E.flags & CH_MEM_BY_REFERENCE)
      Out << " by reference";
    else
      printBytes(Out, Payload);
    return;
  }
  case CH_EV_MAP: {
    ch_ev_map E;
    Take(E);
    Out << " thread " << E.thread;
    Range(E.address, E.length);
    printProtection(Out, E.protection);
    static constexpr std::pair<uint32_t, const char *> Flags[] = {
        {CH_MAP_FILE, " file"},
        {CH_MAP_SHARED, " shared"},
        {CH_MAP_STACK, " stack"},
        {CH_MAP_HEAP, " heap"},
        {CH_MAP_STARTUP, " startup"}};
    for (auto [Bit, Name] : Flags)
      if (E.flags & Bit)
        Out << Name;
    if (E.flags & (CH_MAP_FILE | CH_MAP_SHARED))
      Out << " offset " << format_hex(E.offset, 1);
    if (E.flags & CH_MAP_FILE)
      Out << " device " << format_hex(E.device, 1) << " inode " << E.inode;
    if (E.flags & CH_MAP_SHARED)
      Out << " object " << E.object;
    if (!Payload.empty()) {
      Out << ' ';
      printEscapedString(toStringRef(Payload).rtrim('\0'), Out);
    }
    return;
  }
  case CH_EV_UNMAP:
  case CH_EV_PROTECT: {
    ch_ev_range E;
    Take(E);
    Out << " thread " << E.thread;
    Range(E.address, E.length);
    if (Kind == CH_EV_PROTECT)
      printProtection(Out, E.protection);
    return;
  }
  case CH_EV_SYSCALL_ENTER: {
    ch_ev_syscall_enter E;
    Take(E);
    Out << " thread " << E.thread << " number " << E.number << '(';
    for (unsigned N = 0; N < 6; ++N)
      Out << (N ? ", " : "") << format_hex(E.arguments[N], 1);
    Out << ')';
    return;
  }
  case CH_EV_SYSCALL_EXIT: {
    ch_ev_syscall_exit E;
    Take(E);
    Out << " thread " << E.thread << " number " << E.number << " = "
        << E.result;
    return;
  }
  case CH_EV_SIGNAL: {
    ch_ev_signal E;
    Take(E);
    Out << " thread " << E.thread << " number " << E.number << " code "
        << int32_t(E.code) << " address " << format_hex(E.address, 1)
        << " sender " << E.sender;
    if (E.flags & CH_SIG_FATAL)
      Out << " fatal";
    if (E.flags & CH_SIG_ALT_STACK)
      Out << " on the alternate stack";
    if (E.flags & CH_SIG_SYNCHRONOUS)
      Out << " synchronous";
    return;
  }
  case CH_EV_THREAD_START: {
    ch_ev_thread_start E;
    Take(E);
    Out << " thread " << E.thread << " parent " << E.parent << " os "
        << E.os_thread;
    return;
  }
  case CH_EV_OUTPUT: {
    ch_ev_output E;
    Take(E);
    Out << " thread " << E.thread << " descriptor " << E.descriptor << " \"";
    printEscapedString(toStringRef(Payload.take_front(64)), Out);
    Out << '"';
    if (Payload.size() > 64)
      Out << "... (" << Payload.size() << " bytes)";
    return;
  }
  case CH_EV_OUTSIDE_WRITE: {
    ch_ev_outside_write E;
    Take(E);
    Range(E.address, E.length);
    if (E.found_by == CH_FOUND_BY_LOAD)
      Out << " found by the load of instruction " << E.instruction;
    else
      Out << " found by an audit";
    printBytes(Out, Payload);
    return;
  }
  case CH_EV_LOG_LOADS: {
    static constexpr const char *Reasons[] = {"?", "asked for", "shared memory",
                                              "an unreported write"};
    ch_ev_log_loads E;
    Take(E);
    Out << " because of "
        << Reasons[E.reason < std::size(Reasons) ? E.reason : 0];
    return;
  }
  case CH_EV_END: {
    ch_ev_end E;
    Take(E);
    Out << ' ' << endReasonName(E.reason) << ' ' << E.code;
    return;
  }
  default:
    printBytes(Out, Payload);
  }
}

} // namespace chronicle
