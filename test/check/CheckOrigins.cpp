// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// check-origins trace.db [seed [questions]]: goes through a (small) run from
// its start and keeps for every byte of memory and of every thread's registers
// what made it, naively: each superblock hands labels on from what it reads to
// what it writes. Then asks the query engine about the origin of random bytes
// at random moments, and compares. Which bytes an operation only moves is found
// out anew here, by computing it on random values. The labels are nodes of a
// graph, which has what each of them was computed from: what can be reached in
// it is compared with the slice.

#include "Tally.h"
#include "query/origins/ValueEngine.h"
#include "query/replay/operations/Helpers.h"
#include "test/support/SteppedReplay.h"
#include "trace-format/GuestState.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <random>
#include <set>
#include <unordered_map>

using namespace chronicle;
using namespace llvm;
using bytecode::typeSize;
using origins::TempValue;

/// What made a byte.
struct Label {
  enum Kind : uint8_t {
    Initial,
    Computed,
    Constant,
    Helper,
    Event,
    Extension, ///< a zero that extends a value
    Chosen,    ///< a copy that a condition chose
  } What;
  Timestamp Time;
  uint32_t Node = 0; ///< in ForwardRun::Graph; 0: initial data
  bool operator==(const Label &Other) const {
    return What == Other.What && Time == Other.Time;
  }
  bool operator<(const Label &Other) const {
    return std::pair(Time, What) < std::pair(Other.Time, Other.What);
  }
};

/// A byte of a temp: its label, and whether it is zero in every run.
struct LabelledByte {
  Label Of{Label::Initial, 0};
  bool AlwaysZero = false;
};
using Labelled = std::array<LabelledByte, 32>;

struct Question {
  answers::ValuePlace Place;
  Timestamp At;
  Label Expected;
  uint8_t Value;
};

/// How an operation on these operands treats its bytes: which operand's byte
/// each byte of the result always is, for any value of the temps.
struct Moves {
  int Operand = -1, Byte = 0; ///< -1: none
  bool Zero = false, Sign = false;
};

class ForwardRun : SteppedReplay {
public:
  ForwardRun(const file::TraceReader &Trace, uint64_t Seed)
      : SteppedReplay(Trace), Random(Seed) {}

  void run(uint64_t Questions) {
    std::uniform_int_distribution<Timestamp> When(1, Trace.instructions());
    for (uint64_t I = 0; I < Questions / PerMoment; ++I)
      Moments.insert(When(Random));
    stepThrough();
  }
  /// What a label depends on, directly or not, without initial data.
  std::set<Label> slice(const Label &Of);
  std::vector<Question> Questions;
  uint64_t Executions = 0;

private:
  static constexpr uint64_t PerMoment = 20;

  void event(const Event &E, Timestamp T) override;
  void failed(const Twine &What) override { chronicle::failed(What); }
  bool afterStep(Timestamp T, const Block &B) override;
  void execute(const Block &B);
  void statement(const bytecode::Statement &S, Timestamp T);
  Labelled operation(const bytecode::Statement &S, const TempValue &Result,
                     Timestamp T);
  std::vector<Moves> movesOf(const bytecode::Statement &S);
  void sample(Timestamp T);
  /// A label that depends on others.
  Label depending(Label::Kind What, Timestamp T, ArrayRef<Label> On);
  /// One that does not.
  Label leaf(Label::Kind What, Timestamp T);
  /// Computed from all bytes of the statement's temps.
  Label computed(const bytecode::Statement &S, Timestamp T);
  /// The byte, and the condition that chose it.
  Label chosen(const Label &Byte, const bytecode::Atom &By, unsigned ByByte,
               Timestamp T);
  TempValue value(const bytecode::Atom &A, ch_type Type);
  Labelled label(const bytecode::Atom &A, ch_type Type, Timestamp T);
  void load(uint64_t Address, uint8_t *To, unsigned Size);
  void store(uint64_t Address, const uint8_t *From, unsigned Size,
             const Labelled *Labels, Label Made);
  Label at(uint64_t Address) {
    auto It = MemoryLabels.find(Address);
    return It == MemoryLabels.end() ? Label{Label::Initial, 0} : It->second;
  }
  std::vector<Label> &registersOf(uint32_t Thread) {
    std::vector<Label> &L = Registers[Thread];
    if (L.empty())
      L.resize(CH_GUEST_STATE_SIZE, {Label::Initial, 0});
    return L;
  }

  std::mt19937_64 Random;
  std::set<Timestamp> Moments;
  std::unordered_map<uint64_t, Label> MemoryLabels;
  std::map<uint32_t, std::vector<Label>> Registers;
  struct GraphNode {
    Label Of{Label::Initial, 0};
    std::vector<uint32_t> On;
    uint32_t Visit = 0;
  };
  std::vector<GraphNode> Graph{1};
  std::map<std::pair<Timestamp, Label::Kind>, uint32_t> Leaves;
  uint32_t Visits = 0;
  std::vector<uint64_t> Stored; ///< recently, in a ring
  size_t NextStored = 0;
  // Of the superblock that runs.
  std::vector<TempValue> Temps;
  std::vector<Labelled> Labels;
  std::vector<ch_type> Types;
  std::array<uint8_t, CH_GUEST_STATE_SIZE> State;
  std::unordered_map<uint64_t, uint8_t> Overlay;
  ArrayRef<uint8_t> Opaque;
  uint32_t Thread = 0;
};

Label ForwardRun::depending(Label::Kind What, Timestamp T, ArrayRef<Label> On) {
  Label L{What, T, uint32_t(Graph.size())};
  GraphNode N{L, {}, 0};
  for (const Label &Each : On)
    if (Each.Node && !is_contained(N.On, Each.Node))
      N.On.push_back(Each.Node);
  Graph.push_back(std::move(N));
  return L;
}

Label ForwardRun::leaf(Label::Kind What, Timestamp T) {
  auto [It, New] = Leaves.try_emplace({T, What}, uint32_t(Graph.size()));
  if (New)
    Graph.push_back({{What, T, It->second}, {}, 0});
  return {What, T, It->second};
}

Label ForwardRun::computed(const bytecode::Statement &S, Timestamp T) {
  std::vector<Label> On;
  for (unsigned I = 0; I < S.AtomCount; ++I)
    if (S.Atoms[I].IsTemp)
      for (const LabelledByte &B : Labels[S.Atoms[I].Temp])
        On.push_back(B.Of);
  return depending(Label::Computed, T, On);
}

Label ForwardRun::chosen(const Label &Byte, const bytecode::Atom &By,
                         unsigned ByByte, Timestamp T) {
  if (!By.IsTemp)
    return Byte;
  // Asked about itself, it is the byte that was chosen.
  Label L = Byte;
  L.Node = depending(Label::Chosen, T, {Byte, Labels[By.Temp][ByByte].Of}).Node;
  return L;
}

std::set<Label> ForwardRun::slice(const Label &Of) {
  std::set<Label> Found;
  std::vector<uint32_t> Open{Of.Node};
  ++Visits;
  while (!Open.empty()) {
    GraphNode &N = Graph[Open.back()];
    Open.pop_back();
    if (N.Visit == Visits)
      continue;
    N.Visit = Visits;
    if (N.Of.What != Label::Initial && N.Of.What != Label::Chosen)
      Found.insert(N.Of);
    Open.insert(Open.end(), N.On.begin(), N.On.end());
  }
  return Found;
}

TempValue ForwardRun::value(const bytecode::Atom &A, ch_type Type) {
  if (A.IsTemp)
    return Temps[A.Temp];
  TempValue V = {};
  for (unsigned I = 0; I < typeSize(Type); ++I)
    V[I] = Type == CH_V128 || Type == CH_V256 ? (A.Constant >> I & 1 ? 255 : 0)
           : Type == CH_I1                    ? A.Constant & 1
           : I < 8                            ? uint8_t(A.Constant >> 8 * I)
                                              : 0;
  return V;
}

Labelled ForwardRun::label(const bytecode::Atom &A, ch_type Type, Timestamp T) {
  if (A.IsTemp)
    return Labels[A.Temp];
  Labelled L;
  const TempValue V = value(A, Type);
  for (unsigned I = 0; I < typeSize(Type); ++I)
    L[I] = {leaf(Label::Constant, T), V[I] == 0};
  return L;
}

void ForwardRun::load(uint64_t Address, uint8_t *To, unsigned Size) {
  Memory.read(Address, To, Size);
  for (unsigned I = 0; I < Size; ++I)
    if (auto It = Overlay.find(Address + I); It != Overlay.end())
      To[I] = It->second;
}

void ForwardRun::store(uint64_t Address, const uint8_t *From, unsigned Size,
                       const Labelled *With, Label Made) {
  constexpr size_t Kept = 4096;
  for (unsigned I = 0; I < Size; ++I) {
    Overlay[Address + I] = From[I];
    MemoryLabels[Address + I] = With ? (*With)[I].Of : Made;
  }
  if (Stored.size() < Kept)
    Stored.push_back(Address + Random() % Size);
  else
    Stored[NextStored++ % Kept] = Address + Random() % Size;
}

/// Computes the operation on random values of its temps; its constants stay.
std::vector<Moves> ForwardRun::movesOf(const bytecode::Statement &S) {
  const bytecode::OperationInfo &Info = bytecode::operationInfo(S.Operation);
  StringRef Name = Info.Name;
  std::vector<Moves> Result(typeSize(Info.Result));
  const bool Shuffles = Name.starts_with("PermOrZero8");
  // Arithmetic changes bytes even if a carry rarely reaches them; what divides
  // may trap. Operations on the lowest lane of a vector keep the others.
  const bool Bits = Name.starts_with("And") || Name.starts_with("Or") ||
                    Name.starts_with("Xor") || Name.starts_with("Shl") ||
                    Name.starts_with("Shr");
  const bool Structure =
      isDigit(Name[0]) || Name.starts_with("V128") ||
      Name.starts_with("V256") || Name.starts_with("Reinterp") ||
      Name.starts_with("Set") || Name.starts_with("Interleave") ||
      Name.starts_with("Cat") || Name.starts_with("Narrow") || Shuffles ||
      Name.contains("F0x");
  if ((!Bits && !Structure) || Name.starts_with("ShlN") ||
      Name.starts_with("ShrN"))
    return Result;
  constexpr unsigned Trials = 40;
  std::vector<std::vector<TempValue>> In;
  std::vector<TempValue> Out;
  for (unsigned Trial = 0; Trial < Trials; ++Trial) {
    std::vector<TempValue> V;
    for (unsigned I = 0; I < Info.Arity; ++I) {
      TempValue X = value(S.Atoms[I], Info.Operands[I]);
      // The control of a shuffle chooses; it is not part of the value.
      if (S.Atoms[I].IsTemp && (!Shuffles || I != 1))
        for (unsigned B = 0; B < typeSize(Info.Operands[I]); ++B)
          X[B] = Info.Operands[I] == CH_I1 ? Random() & 1 : uint8_t(Random());
      V.push_back(X);
    }
    Out.push_back(origins::computeOperation(S.Operation, V));
    In.push_back(std::move(V));
  }
  const bool MayZero = Name.contains("Uto") || Name.starts_with("And") ||
                       Name.starts_with("Shl") || Name.starts_with("Shr") ||
                       Shuffles;
  for (unsigned R = 0; R < Result.size(); ++R) {
    for (unsigned I = 0; I < Info.Arity && Result[R].Operand < 0; ++I)
      for (unsigned B = 0;
           (S.Atoms[I].IsTemp || Structure) && (!Shuffles || I != 1) &&
           B < typeSize(Info.Operands[I]);
           ++B) {
        bool Same = true, Signed = true;
        for (unsigned Trial = 0; Trial < Trials; ++Trial) {
          const uint8_t From = In[Trial][I][B];
          Same &= Out[Trial][R] == From;
          Signed &= Out[Trial][R] == (From & 0x80 ? 0xff : 0);
        }
        if (Same || (Signed && Name.contains("Sto") && Info.Arity == 1)) {
          Result[R] = {int(I), int(B), false, !Same};
          break;
        }
      }
    Result[R].Zero =
        MayZero && all_of(Out, [&](const TempValue &V) { return !V[R]; });
  }
  return Result;
}

Labelled ForwardRun::operation(const bytecode::Statement &S,
                               const TempValue &Result, Timestamp T) {
  const bytecode::OperationInfo &Info = bytecode::operationInfo(S.Operation);
  Labelled L;
  std::vector<Labelled> Operands;
  for (unsigned I = 0; I < Info.Arity; ++I)
    Operands.push_back(label(S.Atoms[I], Info.Operands[I], T));
  const std::vector<Moves> All = movesOf(S);
  std::optional<Label> Made; // one node for all bytes
  StringRef Name = Info.Name;
  const bool Joins = (Name.starts_with("Or") || Name.starts_with("Xor")) &&
                     Name != "Or1" && Info.Arity == 2;
  const bool Masks = Name.starts_with("And") && Name != "And1";
  for (unsigned R = 0; R < typeSize(Info.Result); ++R) {
    const Moves &M = All[R];
    if (M.Operand >= 0)
      L[R] = {Operands[M.Operand][M.Byte].Of,
              !M.Sign && Operands[M.Operand][M.Byte].AlwaysZero};
    else if (M.Zero)
      L[R] = {leaf(Label::Extension, T), true};
    else if (Joins && Operands[1][R].AlwaysZero)
      L[R] = Operands[0][R];
    else if (Joins && Operands[0][R].AlwaysZero)
      L[R] = Operands[1][R];
    else if (Masks && (Operands[0][R].AlwaysZero || Operands[1][R].AlwaysZero))
      L[R] = {leaf(Label::Extension, T), true};
    else
      L[R] = {Made ? *Made : *(Made = computed(S, T)), false};
    if (M.Operand >= 0 && Name.starts_with("PermOrZero8"))
      L[R].Of = chosen(L[R].Of, S.Atoms[1], R, T);
  }
  return L;
}

void ForwardRun::statement(const bytecode::Statement &S, Timestamp T) {
  const unsigned Size = typeSize(S.Type);
  std::vector<Label> &Own = registersOf(Thread);
  TempValue V = {};
  Labelled L;
  auto Define = [&](unsigned Which = 0) {
    Temps[S.FirstTemp + Which] = V;
    Labels[S.FirstTemp + Which] = L;
  };
  auto All = [&](Label Of) {
    for (LabelledByte &B : L)
      B = {Of, false};
  };
  auto Word = [&](unsigned I) {
    uint64_t W;
    std::memcpy(&W, value(S.Atoms[I], CH_I64).data(), 8);
    return W;
  };
  auto Get = [&](unsigned Offset) {
    std::memcpy(V.data(), State.data() + Offset, Size);
    for (unsigned I = 0; I < Size; ++I)
      L[I] = {Own[Offset + I], false};
    Define();
  };
  auto Put = [&](unsigned Offset, const bytecode::Atom &A) {
    V = value(A, S.Type);
    L = label(A, S.Type, T);
    std::memcpy(State.data() + Offset, V.data(), Size);
    for (unsigned I = 0; I < Size; ++I)
      Own[Offset + I] = L[I].Of;
  };
  auto Element = [&] {
    uint32_t Index;
    std::memcpy(&Index, value(S.Atoms[0], CH_I32).data(), 4);
    return S.Offset + (Index + uint32_t(S.Bias)) % S.Elements * Size;
  };
  auto Load = [&](uint64_t Address, unsigned Bytes) {
    V = {};
    L = {};
    load(Address, V.data(), Bytes);
    for (unsigned I = 0; I < Bytes; ++I)
      L[I] = {at(Address + I), false};
  };
  auto Store = [&](uint64_t Address, const bytecode::Atom &A) {
    V = value(A, S.Type);
    L = label(A, S.Type, T);
    store(Address, V.data(), Size, &L, {});
  };
  auto TakeOpaque = [&](uint8_t *To, size_t Bytes) {
    std::memcpy(To, Opaque.data(), Bytes);
    Opaque = Opaque.drop_front(Bytes);
  };
  switch (S.Opcode) {
  case CH_OP_GET:
    return Get(S.Offset);
  case CH_OP_GET_INDEXED:
    return Get(Element());
  case CH_OP_PUT:
    return Put(S.Offset, S.Atoms[0]);
  case CH_OP_PUT_INDEXED:
    return Put(Element(), S.Atoms[1]);
  case CH_OP_LOAD:
    Load(Word(0), Size);
    return Define();
  case CH_OP_STORE:
    return Store(Word(0), S.Atoms[1]);
  case CH_OP_STORE_GUARDED:
    if (value(S.Atoms[0], CH_I1)[0])
      Store(Word(1), S.Atoms[2]);
    return;
  case CH_OP_LOAD_GUARDED: {
    const unsigned Bytes = bytecode::conversionBytes(S.Conversion);
    if (value(S.Atoms[0], CH_I1)[0]) {
      Load(Word(1), Bytes);
      const bool Sign =
          S.Conversion == CH_LOAD_16S_32 || S.Conversion == CH_LOAD_8S_32;
      for (unsigned I = Bytes; I < typeSize(S.DefinedType); ++I) {
        V[I] = Sign && V[Bytes - 1] & 0x80 ? 0xff : 0;
        L[I] = {Sign ? L[Bytes - 1].Of : leaf(Label::Extension, T), !Sign};
      }
    } else {
      V = value(S.Atoms[2], S.DefinedType);
      L = label(S.Atoms[2], S.DefinedType, T);
    }
    const bool Loads = value(S.Atoms[0], CH_I1)[0];
    for (unsigned I = 0; I < typeSize(S.DefinedType); ++I)
      if (!Loads || I < Bytes)
        L[I].Of = chosen(L[I].Of, S.Atoms[0], 0, T);
    return Define();
  }
  case CH_OP_CAS: {
    const uint64_t Address = Word(0);
    bool Swaps = true;
    for (unsigned I = 0; I < (S.Double ? 2 : 1); ++I) {
      Load(Address + I * Size, Size);
      Swaps &= std::memcmp(V.data(), value(S.Atoms[1 + 2 * I], S.Type).data(),
                           Size) == 0;
      Define(I);
    }
    for (unsigned I = 0; Swaps && I < (S.Double ? 2 : 1); ++I)
      Store(Address + I * Size, S.Atoms[2 + 2 * I]);
    return;
  }
  case CH_OP_ITE: {
    const bytecode::Atom &A = S.Atoms[value(S.Atoms[0], CH_I1)[0] ? 1 : 2];
    V = value(A, S.Type);
    L = label(A, S.Type, T);
    for (unsigned I = 0; I < Size; ++I)
      L[I].Of = chosen(L[I].Of, S.Atoms[0], 0, T);
    return Define();
  }
  case CH_OP_COPY:
    V = value(S.Atoms[0], S.Type);
    L = label(S.Atoms[0], S.Type, T);
    return Define();
  case CH_OP_CALL: {
    uint64_t A[5] = {};
    for (unsigned I = 0; I < S.AtomCount; ++I)
      A[I] = Word(I);
    const uint64_t Result =
        operations::helper(S.Helper)(A[0], A[1], A[2], A[3], A[4]);
    std::memcpy(V.data(), &Result, std::min(Size, 8u));
    All(computed(S, T));
    return Define();
  }
  case CH_OP_OPAQUE:
    TakeOpaque(V.data(), Size);
    All(leaf(Label::Helper, T));
    return Define();
  case CH_OP_OPAQUE_REGISTERS:
    TakeOpaque(State.data() + S.Offset, S.Size);
    for (unsigned I = 0; I < S.Size; ++I)
      Own[S.Offset + I] = leaf(Label::Helper, T);
    return;
  case CH_OP_OPAQUE_MEMORY:
    if (value(S.Atoms[0], CH_I1)[0]) {
      std::vector<uint8_t> Bytes(S.Size);
      TakeOpaque(Bytes.data(), Bytes.size());
      store(Word(1), Bytes.data(), S.Size, nullptr, leaf(Label::Helper, T));
    }
    return;
  case CH_OP_FIRST: {
    const bytecode::OperationInfo &Info = bytecode::operationInfo(S.Operation);
    std::vector<TempValue> Operands;
    for (unsigned I = 0; I < Info.Arity; ++I)
      Operands.push_back(value(S.Atoms[I], Info.Operands[I]));
    V = origins::computeOperation(S.Operation, Operands);
    L = operation(S, V, T);
    return Define();
  }
  default:
    return;
  }
}

/// Runs the superblock that comes next, from the present state.
void ForwardRun::execute(const Block &B) {
  const uint32_t Exit = B.Symbols[Replayer.executions()];
  const uint32_t Superblock = Exits.superblock(Exit);
  Thread = Replayer.thread();
  std::memcpy(State.data(), Replayer.state(Thread), State.size());
  Opaque = B.Opaque.take_back(Replayer.opaqueLeft());
  Overlay.clear();
  // A superblock that faults leaves before the instruction that does.
  std::optional<uint64_t> FaultRip;
  for (const Event &E : B.Events)
    if (auto F = E.as<events::FaultEvent>();
        F && E.Execution == Replayer.executions() + 1)
      FaultRip = F->rip;
  Expected<bytecode::BytecodeReader> Reader =
      bytecode::BytecodeReader::create(Trace.definition(Superblock).Bytes);
  if (!Reader)
    return chronicle::failed(toString(Reader.takeError()));
  Temps.resize(Reader->header().Temps);
  Labels.resize(Reader->header().Temps);
  ++Executions;
  uint64_t Address = Reader->header().Address;
  Timestamp T = Replayer.time() - 1;
  uint32_t Exited = 0;
  bytecode::Statement S;
  while (Reader->next(S)) {
    if (S.Opcode == CH_OP_INSTRUCTION) {
      if (FaultRip == Address)
        break;
      Address += S.Size;
      ++T;
    }
    if ((S.Opcode == CH_OP_EXIT || S.Opcode == CH_OP_NEXT) &&
        ++Exited == Exits.ordinal(Exit) && !FaultRip)
      break;
    statement(S, T);
  }
  if (Error E = Reader->takeError())
    chronicle::failed(toString(std::move(E)));
}

void ForwardRun::event(const Event &E, Timestamp T) {
  auto Memory = [&](uint64_t Address, uint64_t Length, Label Of) {
    if (Length > 1 << 20) {
      for (auto It = MemoryLabels.begin(); It != MemoryLabels.end();)
        It = It->first - Address < Length ? MemoryLabels.erase(It)
                                          : std::next(It);
      return;
    }
    for (uint64_t I = 0; I < Length; ++I)
      if (Of.What == Label::Initial)
        MemoryLabels.erase(Address + I);
      else
        MemoryLabels[Address + I] = Of;
  };
  if (auto M = E.as<events::MemoryEvent>()) {
    const bool ByCall = M->source == CH_MEM_SYSCALL;
    Memory(M->address, M->length,
           ByCall ? leaf(Label::Event, T) : Label{Label::Initial, 0});
  } else if (auto Map = E.as<events::MapEvent>()) {
    // The growth of the stack is logged after the first stores to it, which
    // stay: see docs/format.md.
    if (!(Map->flags & CH_MAP_STACK))
      Memory(Map->address, Map->length, {Label::Initial, 0});
  } else if (auto Unmap = E.as<events::UnmapEvent>()) {
    Memory(Unmap->address, Unmap->length, {Label::Initial, 0});
  } else if (auto R = E.as<events::RegistersEvent>()) {
    for (uint32_t I = 0; I < R->count; ++I)
      for (unsigned B = 0; B < 8; ++B)
        registersOf(R->thread)[R->change(I).Offset + B] = leaf(Label::Event, T);
  } else if (auto Exit = E.as<events::SyscallExitEvent>()) {
    for (unsigned B = 0; B < 8; ++B)
      registersOf(Exit->thread)[CH_OFFSET_RAX + B] = leaf(Label::Event, T);
  } else if (auto Start = E.as<events::ThreadStartEvent>()) {
    // The system gives a new thread its registers.
    for (Label &L : registersOf(Start->thread))
      L = leaf(Label::Event, T);
  }
}

/// Notes questions about this moment, with their answers.
void ForwardRun::sample(Timestamp T) {
  const uint32_t Running = Replayer.thread();
  const uint8_t *Now = Replayer.state(Running);
  if (!Now)
    return;
  for (unsigned I = 0; I < PerMoment; ++I) {
    Question Q;
    Q.At = T;
    if (I % 2 && !Stored.empty()) {
      Q.Place = {true, Stored[Random() % Stored.size()], 1, 0};
      Q.Expected = at(Q.Place.Address);
      Memory.read(Q.Place.Address, &Q.Value, 1);
    } else {
      constexpr unsigned General = 16 * 8, Vectors = 16 * 32;
      const unsigned Pick = unsigned(Random() % (General + Vectors));
      const unsigned Offset = Pick % 3 ? CH_OFFSET_RAX + Pick % General
                                       : CH_OFFSET_YMM0 + Pick % Vectors;
      Q.Place = {false, Offset, 1, Running};
      Q.Expected = registersOf(Running)[Offset];
      Q.Value = Now[Offset];
    }
    Questions.push_back(Q);
  }
}

bool ForwardRun::afterStep(Timestamp T, const Block &B) {
  if (!Replayer.canSave() || !Replayer.thread())
    return true;
  // Moments inside a superblock are asked about at the next one.
  if (auto It = Moments.upper_bound(T); It != Moments.begin()) {
    Moments.erase(Moments.begin(), It);
    sample(T);
  }
  if (Replayer.executions() < B.Symbols.size())
    execute(B);
  return true;
}

static std::string describe(const Question &Q) {
  return formatv("{0} {1:x} of thread {2} at {3}",
                 Q.Place.InMemory ? "memory" : "register", Q.Place.Address,
                 Q.Place.Thread, Q.At);
}

/// The label that the forward pass would give to what made a value.
static Label labelOf(const answers::OriginStep &Step) {
  using answers::OriginKind;
  switch (*Step.Made) {
  case OriginKind::Computed:
    return {Label::Computed, Step.Time};
  case OriginKind::Constant:
    return {Label::Constant, Step.Time};
  case OriginKind::Helper:
    return {Label::Helper, Step.Time};
  case OriginKind::SystemCall:
    return {Label::Event, Step.Time};
  default:
    return {Label::Initial, 0};
  }
}

/// The constants of an instruction that computes are a part of it.
static void dropOwnConstants(std::set<Label> &From) {
  for (auto It = From.begin(); It != From.end();)
    It = It->What == Label::Constant && From.count({Label::Computed, It->Time})
             ? From.erase(It)
             : std::next(It);
}

/// Compares the slice of a value with what can be reached in the graph.
/// Returns the number of its nodes, or nothing if it was cut off.
static std::optional<size_t> askSlice(origins::ValueEngine &T, ForwardRun &Run,
                                      const Question &Q) {
  constexpr uint64_t Limit = 400;
  const std::string Where = "slice of " + describe(Q);
  Expected<answers::Slice> Found = T.slice(Q.Place, Q.At, {~0u, Limit});
  if (!Found) {
    failed(Where + ": " + toString(Found.takeError()));
    return std::nullopt;
  }
  std::set<Label> Ours, Theirs = Run.slice(Q.Expected);
  std::set<Timestamp> Events; // also those that start the program
  // A condition that the instruction itself computes is a part of the choice.
  std::set<Timestamp> Choices;
  for (const answers::SliceNode &N : Found->Nodes) {
    for (const answers::SliceEdge &E : N.From) {
      if (E.What == answers::SliceEdge::Condition)
        Choices.insert(N.Step.Time);
      expect(Found->Nodes[E.Node].Step.Time <= N.Step.Time,
             Where + ": an edge leads to the future");
    }
    if (!N.Step.Made)
      continue;
    expect(N.Step.Made != answers::OriginKind::Unknown,
           Where + ": the way is lost");
    const Label L = labelOf(N.Step);
    if (L.What == Label::Initial)
      Events.insert(N.Step.Time);
    else
      Ours.insert(L);
  }
  dropOwnConstants(Ours);
  dropOwnConstants(Theirs);
  auto Describe = [&](const Label &L, StringRef What) {
    return formatv("{0}: {1} kind {2} at {3}", Where, What, int(L.What), L.Time)
        .str();
  };
  for (const Label &L : Ours)
    expect(Theirs.count(L) || (L.What == Label::Constant &&
                               Theirs.count({Label::Extension, L.Time})),
           [&] { return Describe(L, "unexpected"); });
  if (!Found->Complete)
    return std::nullopt;
  for (const Label &L : Theirs)
    if (L.What != Label::Extension)
      expect(Ours.count(L) ||
                 (L.What == Label::Event && Events.count(L.Time)) ||
                 (L.What == Label::Computed && Choices.count(L.Time)),
             [&] { return Describe(L, "missing"); });
  return Found->Nodes.size();
}

static void ask(origins::ValueEngine &T, const Question &Q) {
  const std::string Where = describe(Q);
  Expected<answers::OriginTrail> Trail =
      T.origin(Q.Place, Q.At, /*Limit=*/1000000);
  if (!Trail)
    return failed(Where + ": " + toString(Trail.takeError()));
  expect(Trail->Complete && !Trail->Steps.empty(), Where + ": no answer");
  if (Trail->Steps.empty())
    return;
  // One byte comes on one way, from one place to the next.
  for (size_t I = 1; I < Trail->Steps.size(); ++I)
    expect(Trail->Steps[I].Next == I - 1, Where + ": it branches");
  const answers::OriginStep &Last = Trail->Steps.back();
  expect(Last.Made.has_value(), Where + ": the way has no beginning");
  if (!Last.Made)
    return;
  if (*Last.Made == answers::OriginKind::Unknown)
    return failed(Where + ": the way is lost");
  Label Found = labelOf(Last), Expected = Q.Expected;
  if (Expected.What == Label::Extension)
    Expected.What = Label::Constant;
  // Registers that the start of the program or a signal set are events too.
  if (Expected.What == Label::Event && Found.What == Label::Initial &&
      Last.Time == Expected.Time)
    Found = Expected;
  expect(Found == Expected, [&] {
    return formatv("{0}: kind {1} at {2}, expected {3} at {4} (value {5:x})",
                   Where, int(Found.What), Found.Time, int(Expected.What),
                   Expected.Time, Q.Value)
        .str();
  });
}

int main(int Argc, char **Argv) {
  std::unique_ptr<query::Trace> T =
      openTrace(Argc, Argv, 1, "check-origins trace.db [seed [questions]]");
  if (!T)
    return 2;
  ForwardRun Run(T->reader(), argument(Argc, Argv, 2, 1));
  Run.run(argument(Argc, Argv, 3, 2000));
  origins::ValueEngine Engine(T->reader());
  for (const Question &Q : Run.Questions)
    ask(Engine, Q);
  size_t Slices = 0, Nodes = 0;
  // A slice costs as much as many origins: every other value is enough.
  for (size_t I = 0; I < Run.Questions.size(); I += 2)
    if (std::optional<size_t> Found = askSlice(Engine, Run, Run.Questions[I])) {
      ++Slices;
      Nodes += *Found;
    }
  return finish(utostr(Run.Questions.size()) + " origins, " + utostr(Slices) +
                " whole slices of " + utostr(Nodes) + " nodes, " +
                utostr(Run.Executions) + " executions");
}
