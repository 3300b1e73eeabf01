// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/bytecode/ProgramPrinter.h"
#include "trace-format/GuestNames.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace chronicle::bytecode {

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

/// The text of Statements.def.
static StringRef textOf(uint32_t Opcode) {
  switch (Opcode) {
#define CH_STATEMENT(OPCODE, DEFINES, TEXT, ...)                               \
  case CH_OP_##OPCODE:                                                         \
    return TEXT;
#include "trace-format/bytecode/Statements.def"
#undef CH_STATEMENT
  default:
    return "{operation}({all})";
  }
}

/// Prints what a name in braces in the text of Statements.def stands for.
static void printNamed(raw_ostream &Out, StringRef Name, const Statement &S,
                       function_ref<std::string(uint32_t)> ReasonName) {
  if (unsigned N; !Name.getAsInteger(10, N)) {
    assert(N < S.AtomCount && "the statement has fewer operands");
    Out << S.Atoms[N];
  } else if (Name == "all") {
    for (unsigned I = 0; I < S.AtomCount; ++I)
      Out << (I ? ", " : "") << S.Atoms[I];
  } else if (Name == "type") {
    Out << typeName(S.Type);
  } else if (Name == "state") {
    Out << guestName(S.Offset);
  } else if (Name == "size") {
    Out << S.Size;
  } else if (Name == "bias") {
    Out << S.Bias;
  } else if (Name == "elements") {
    Out << S.Elements;
  } else if (Name == "conversion") {
    Out << conversionName(S.Conversion);
  } else if (Name == "double") {
    Out << (S.Double ? "-double" : "");
  } else if (Name == "helper") {
    Out << helperName(S.Helper);
  } else if (Name == "operation") {
    Out << operationInfo(S.Operation).Name;
  } else if (Name == "reason") {
    Out << ReasonName(S.Reason);
  } else if (Name == "jump") {
    Out << jumpName(S.Jump);
  } else if (Name == "stack") {
    printStackPointer(Out, S);
  } else if (Name == "origin") {
    Out << (S.Origin == CH_STACK_ITSELF ? " (computed from itself)" : "");
  } else {
    llvm_unreachable("Statements.def uses a name that is not known");
  }
}

void printStatement(raw_ostream &Out, const Statement &S,
                    function_ref<std::string(uint32_t)> ReasonName) {
  for (unsigned N = 0; N < S.Defines; ++N)
    Out << (N ? ", t" : "t") << S.FirstTemp + N;
  if (S.Defines)
    Out << ':' << typeName(S.DefinedType) << " = ";
  StringRef Text = textOf(S.Opcode);
  while (!Text.empty()) {
    auto [Plain, FromName] = Text.split('{');
    Out << Plain;
    auto [Name, Rest] = FromName.split('}');
    if (!Name.empty())
      printNamed(Out, Name, S, ReasonName);
    Text = Rest;
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

} // namespace chronicle::bytecode
