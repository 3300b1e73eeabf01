// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks through a trace in LLDB, forward and backward, and checks two things.
//
// Steps: it steps through a stretch of the run instruction by instruction and
// notes time, address, line and depth, which it finds by counting call and ret
// instructions. From that it derives, in the simplest way, where reverse-next
// and reverse-finish must arrive from each of the moments.
//
// State: whatever moves lead to a moment, registers, memory and frames there
// are as they were the last time. Moves that should undo each other do.
//
//   check-walk PLUGIN TRACE FUNCTION SEED

#include "lldb/API/LLDB.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <random>

using namespace llvm;
using namespace lldb;

namespace {

unsigned Failures = 0;
void fail(const Twine &What) {
  errs() << "wrong: " << What << '\n';
  ++Failures;
}

/// An LLDB that has loaded the trace.
class Session {
public:
  Session(const std::string &Plugin, const std::string &Trace) {
    Debugger = SBDebugger::Create(/*source_init_files=*/false);
    Debugger.SetAsync(false);
    require("plugin load \"" + Plugin + "\"");
    require("chronicle load \"" + Trace + "\"");
  }
  ~Session() { SBDebugger::Destroy(Debugger); }

  bool run(const std::string &Command, std::string *Output = nullptr) {
    SBCommandReturnObject Result;
    Debugger.GetCommandInterpreter().HandleCommand(Command.c_str(), Result);
    if (Output)
      *Output = std::string(Result.GetOutput() ? Result.GetOutput() : "") +
                (Result.GetError() ? Result.GetError() : "");
    return Result.Succeeded();
  }
  void require(const std::string &Command) {
    std::string Output;
    if (run(Command, &Output))
      return;
    errs() << "error: " << Command << ": " << Output << '\n';
    exit(2);
  }

  SBThread thread() {
    return Debugger.GetSelectedTarget().GetProcess().GetSelectedThread();
  }
  SBFrame frame() { return thread().GetFrameAtIndex(0); }
  bool inProgram() {
    return frame().GetModule() ==
           Debugger.GetSelectedTarget().GetModuleAtIndex(0);
  }
  uint64_t time() {
    std::string Output;
    run("chronicle now --json", &Output);
    Expected<json::Value> Now = json::parse(StringRef(Output).trim());
    const json::Object *Members = Now ? Now->getAsObject() : nullptr;
    std::optional<int64_t> Time;
    if (Members)
      Time = Members->getInteger("time");
    if (!Time) {
      consumeError(Now.takeError());
      errs() << "error: chronicle now: " << Output << '\n';
      exit(2);
    }
    return *Time;
  }

  /// Everything that can be seen at this moment.
  uint64_t fingerprint() {
    hash_code Hash = hash_value(0);
    SBFrame Frame = frame();
    SBValueList Sets = Frame.GetRegisters();
    for (uint32_t I = 0; I < Sets.GetSize(); ++I) {
      SBValue Set = Sets.GetValueAtIndex(I);
      for (uint32_t K = 0; K < Set.GetNumChildren(); ++K) {
        SBValue Register = Set.GetChildAtIndex(K);
        SBError Ignored;
        uint8_t Bytes[64];
        size_t N = Register.GetData().ReadRawData(Ignored, 0, Bytes,
                                                  Register.GetByteSize());
        Hash = hash_combine(Hash, hash_combine_range(Bytes, Bytes + N));
      }
    }
    std::vector<uint8_t> Memory(4096);
    SBError Ignored;
    size_t N = Debugger.GetSelectedTarget().GetProcess().ReadMemory(
        Frame.GetSP() - 512, Memory.data(), Memory.size(), Ignored);
    Hash = hash_combine(Hash,
                        hash_combine_range(Memory.begin(), Memory.begin() + N));
    for (uint32_t I = 0, E = thread().GetNumFrames(); I < E; ++I) {
      SBFrame Each = thread().GetFrameAtIndex(I);
      // LLDB may or may not have entered a call that is inlined here.
      if (Each.IsInlined())
        continue;
      Hash = hash_combine(Hash, Each.GetPC(), Each.GetCFA());
    }
    return Hash;
  }

  SBDebugger Debugger;
};

/// A moment that was stepped through.
struct Moment {
  uint64_t Time, Pc;
  uint32_t Line; ///< 0: none
  bool Ours;     ///< in the program itself, where nothing is inlined
  int Depth;
  bool Prologue;
  bool RowStart; ///< a row of the line table begins here
};

std::vector<Moment> stepThrough(Session &S, size_t Most) {
  SBTarget Target = S.Debugger.GetSelectedTarget();
  std::vector<Moment> Result;
  int Depth = 0;
  uint64_t Time = S.time();
  while (Result.size() < Most) {
    SBFrame Frame = S.frame();
    SBFunction Function = Frame.GetFunction();
    Moment M = {
        Time + Result.size(), Frame.GetPC(), 0, false, Depth, false, false};
    if (SBLineEntry Line = Frame.GetLineEntry(); Line.IsValid()) {
      M.Line = Line.GetLine();
      M.RowStart = Line.GetStartAddress().GetLoadAddress(Target) == M.Pc;
    }
    M.Ours = S.inProgram();
    uint64_t Start = Function.GetStartAddress().GetLoadAddress(Target);
    M.Prologue =
        Function.IsValid() && M.Pc - Start < Function.GetPrologueByteSize();
    Result.push_back(M);
    SBInstructionList Code = Target.ReadInstructions(Frame.GetPCAddress(), 1);
    StringRef Mnemonic = Code.GetInstructionAtIndex(0).GetMnemonic(Target);
    SBError Failed;
    S.thread().StepInstruction(/*step_over=*/false, Failed);
    if (Mnemonic.starts_with("call"))
      ++Depth;
    if (Mnemonic.starts_with("ret") && --Depth < 0)
      break;
  }
  if (S.time() != Result.back().Time + 1)
    fail(formatv("{0} steps of an instruction led from {1} to {2}",
                 Result.size(), Time, S.time()));
  return Result;
}

/// The last moment before From in the same activation, or -1.
int ownBefore(const std::vector<Moment> &Run, int From) {
  for (int I = From - 1; I >= 0 && Run[I].Depth >= Run[From].Depth; --I)
    if (Run[I].Depth == Run[From].Depth)
      return I;
  return -1;
}
/// The call of the activation.
int callOf(const std::vector<Moment> &Run, int From) {
  for (int I = From - 1; I >= 0; --I)
    if (Run[I].Depth < Run[From].Depth)
      return I;
  return -1;
}

/// Where reverse-next must arrive; -1: before the stretch.
int previousLine(const std::vector<Moment> &Run, int From) {
  int At = ownBefore(Run, From);
  while (true) {
    while (At >= 0 && (!Run[At].Line || Run[At].Prologue))
      At = ownBefore(Run, At);
    if (At >= 0)
      break;
    From = At = callOf(Run, From);
    if (At < 0)
      return -1;
  }
  int Start = At;
  for (int I = ownBefore(Run, At); I >= 0; I = ownBefore(Run, I)) {
    if (!Run[I].Line || Run[I].Prologue)
      continue;
    // LLDB does not stop in the middle of a row that it enters from another
    // line.
    if (Run[I].Line != Run[Start].Line && Run[Start].RowStart)
      return Start;
    Start = I;
  }
  return Start;
}

void checkSteps(Session &S, const std::vector<Moment> &Run,
                std::mt19937 &Random) {
  std::vector<int> From;
  for (int I = 0; I < int(Run.size()); ++I)
    if (Run[I].Line && Run[I].Ours &&
        (I % 7 == 0 || Run[I].Line != Run[I - 1].Line))
      From.push_back(I);
  std::shuffle(From.begin(), From.end(), Random);
  if (From.size() > 150)
    From.resize(150);
  unsigned Checked = 0;
  auto Check = [&](int I, const char *Command, int Expected) {
    if (Expected < 0 || !Run[Expected].Ours)
      return;
    S.require("chronicle goto " + std::to_string(Run[I].Time));
    S.require(Command);
    ++Checked;
    uint64_t Arrived = S.time();
    if (Arrived != Run[Expected].Time)
      fail(formatv("{0} from {1} (line {2}) led to {3}, not to {4} (line {5})",
                   Command, Run[I].Time, Run[I].Line, Arrived,
                   Run[Expected].Time, Run[Expected].Line));
  };
  for (int I : From) {
    Check(I, "chronicle reverse-next", previousLine(Run, I));
    if (Random() % 4 == 0)
      Check(I, "chronicle reverse-finish", callOf(Run, I));
  }
  outs() << "steps: " << Checked << " checked\n";
}

/// Makes random moves between moments of the stretch.
void checkState(Session &S, uint64_t First, uint64_t Last,
                std::mt19937 &Random) {
  static const char *Moves[] = {"thread step-inst",
                                "thread step-inst-over",
                                "thread step-over",
                                "thread step-in",
                                "thread step-out",
                                "chronicle reverse-stepi",
                                "chronicle reverse-step",
                                "chronicle reverse-next",
                                "chronicle reverse-stepi 5",
                                "chronicle reverse-finish",
                                "chronicle goto"};
  std::map<uint64_t, uint64_t> Seen;
  unsigned Again = 0, Undone = 0;
  auto Look = [&](const std::string &Move) {
    uint64_t Time = S.time(), Found = S.fingerprint();
    auto [It, New] = Seen.try_emplace(Time, Found);
    Again += !New;
    if (It->second != Found)
      fail(formatv("time {0} looks different after {1}", Time, Move));
    return Time;
  };
  auto Inside = [&] { return First + Random() % (Last - First); };
  for (unsigned I = 0; I < 150; ++I) {
    std::string Move = Moves[Random() % std::size(Moves)];
    uint64_t Now = S.time();
    if (Move == "chronicle goto" || Now < First || Now > Last)
      Move = "chronicle goto " + std::to_string(Inside());
    S.run(Move);
    Look(Move);
    if (I % 5)
      continue;
    // Goes there and back.
    Now = Look(Move);
    if (Now < First || Now > Last)
      continue;
    bool Forward = Random() % 2;
    S.run(Forward ? "thread step-inst" : "chronicle reverse-stepi");
    Look("an instruction");
    S.run(Forward ? "chronicle reverse-stepi" : "thread step-inst");
    if (uint64_t Back = Look("an instruction back"); Back != Now)
      fail(formatv("an instruction there and back led from {0} to {1}", Now,
                   Back));
    ++Undone;
    // From the start of a line, steps over and back again. Not in libraries:
    // where functions are inlined, LLDB takes several lines for one.
    S.run("chronicle reverse-next");
    uint64_t Start = Look("reverse-next"), Frame = S.frame().GetCFA();
    if (!S.inProgram())
      continue;
    S.run("thread step-over");
    Look("step-over");
    if (S.frame().GetCFA() != Frame)
      continue;
    S.run("chronicle reverse-next");
    if (uint64_t Back = Look("reverse-next"); Back != Start)
      fail(formatv("next from {0} and back led to {1}", Start, Back));
    ++Undone;
  }
  if (!Again)
    fail("no moment was seen twice");
  outs() << "state: " << Seen.size() << " moments, " << Again << " seen again, "
         << Undone << " undone\n";
}

} // namespace

int main(int Count, char **Words) {
  if (Count != 5) {
    errs() << "usage: check-walk PLUGIN TRACE FUNCTION SEED\n";
    return 2;
  }
  SBDebugger::Initialize();
  {
    Session S(Words[1], Words[2]);
    std::mt19937 Random(std::stoul(Words[4]));
    S.require(formatv("breakpoint set --name {0}", Words[3]));
    S.require("chronicle goto start");
    S.require("process continue");
    S.require("breakpoint delete --force");
    std::vector<Moment> Run = stepThrough(S, 3000);
    checkSteps(S, Run, Random);
    checkState(S, Run.front().Time, Run.back().Time, Random);
  }
  SBDebugger::Terminate();
  if (Failures)
    errs() << Failures << " wrong\n";
  return Failures != 0;
}
