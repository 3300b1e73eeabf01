// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/session/ProcessImage.h"
#include "query/ancestry/Ancestry.h"
#include "query/answers/ReplayError.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"
#include <elf.h>
#include <link.h>

using namespace llvm;
using support::endian::read32le;
using support::endian::read64le;

namespace chronicle::session {

/// A longer list is damaged memory, not a list.
static constexpr unsigned MostModules = 4096;
static constexpr size_t LongestName = 4096;

/// The part of the range that is mapped, from its start on.
static Expected<std::vector<uint8_t>> readUpTo(const query::Trace &T,
                                               uint64_t Address,
                                               uint64_t Length,
                                               Timestamp Time) {
  Expected<answers::MemoryContents> M = T.memory(Address, Length, Time);
  if (!M)
    return M.takeError();
  if (M->Mapped.empty() || M->Mapped.front().first != 0)
    M->Bytes.clear();
  else
    M->Bytes.resize(M->Mapped.front().second);
  return std::move(M->Bytes);
}

/// The same at the end of the run, or at the last moment of its last block that
/// replay reaches.
static Expected<std::vector<uint8_t>>
readAtEnd(const query::Trace &T, uint64_t Address, uint64_t Length) {
  Expected<std::vector<uint8_t>> Bytes =
      readUpTo(T, Address, Length, T.instructions());
  if (Bytes)
    return Bytes;
  std::optional<Timestamp> Reached;
  Error E = handleErrors(Bytes.takeError(), [&](const answers::ReplayError &R) {
    Reached = R.lastReached();
  });
  if (E)
    return E;
  return readUpTo(T, Address, Length, *Reached);
}

/// The auxiliary vector at the start of Stack, whose AT_NULL is found.
static ArrayRef<uint8_t> upToNull(ArrayRef<uint8_t> Stack) {
  for (size_t At = 0; At + 16 <= Stack.size(); At += 16)
    if (read64le(&Stack[At]) == AT_NULL)
      return Stack.take_front(At + 16);
  return {};
}

Expected<ArrayRef<uint8_t>> ProcessImage::auxiliaryVector() {
  if (!Auxiliary.empty())
    return Auxiliary;
  auto Keep = [&](ArrayRef<uint8_t> Vector) -> Expected<ArrayRef<uint8_t>> {
    if (Vector.empty())
      return createStringError("the initial stack has no auxiliary vector");
    Auxiliary.assign(Vector.begin(), Vector.end());
    return Auxiliary;
  };
  // The first stack pointer of a forked process is not that of the program's
  // start.
  if (auto Origin = ancestry::forkedFrom(T)) {
    Expected<std::vector<uint8_t>> Stack =
        readUpTo(T, Origin->AuxiliaryVector, 4096, 0);
    if (!Stack)
      return Stack.takeError();
    return Keep(upToNull(*Stack));
  }
  Expected<uint32_t> First = T.threadAt(0);
  if (!First)
    return First.takeError();
  Expected<answers::Registers> R = T.registers(*First, 0);
  if (!R)
    return R.takeError();
  Expected<std::vector<uint8_t>> Stack = readUpTo(T, R->rsp(), 4 << 20, 0);
  if (!Stack)
    return Stack.takeError();
  // The stack has argc, argv, 0, environment, 0, pairs up to AT_NULL.
  size_t At = 8, Nulls = 0;
  for (; At + 8 <= Stack->size() && Nulls < 2; At += 8)
    Nulls += read64le(&(*Stack)[At]) == 0;
  return Keep(upToNull(ArrayRef(*Stack).drop_front(At)));
}

static uint64_t auxiliaryValue(ArrayRef<uint8_t> Vector, uint64_t Type) {
  for (; Vector.size() >= 16; Vector = Vector.drop_front(16))
    if (read64le(Vector.data()) == Type)
      return read64le(Vector.data() + 8);
  return 0;
}

Expected<uint64_t> ProcessImage::linkerBase() {
  Expected<ArrayRef<uint8_t>> Vector = auxiliaryVector();
  if (!Vector)
    return Vector.takeError();
  return auxiliaryValue(*Vector, AT_BASE);
}

Expected<uint64_t> ProcessImage::debugSlot() {
  if (Slot)
    return *Slot;
  Expected<ArrayRef<uint8_t>> Vector = auxiliaryVector();
  if (!Vector)
    return Vector.takeError();
  uint64_t Headers = auxiliaryValue(*Vector, AT_PHDR);
  uint64_t Count = std::min<uint64_t>(auxiliaryValue(*Vector, AT_PHNUM), 256);
  Expected<std::vector<uint8_t>> Table =
      readUpTo(T, Headers, Count * sizeof(Elf64_Phdr), 0);
  if (!Table)
    return Table.takeError();
  uint64_t Bias = 0, Dynamic = 0, Size = 0;
  for (size_t At = 0; At + sizeof(Elf64_Phdr) <= Table->size();
       At += sizeof(Elf64_Phdr)) {
    const uint8_t *Header = &(*Table)[At];
    uint64_t Address = read64le(Header + offsetof(Elf64_Phdr, p_vaddr));
    uint32_t Type = read32le(Header + offsetof(Elf64_Phdr, p_type));
    if (Type == PT_PHDR)
      Bias = Headers - Address;
    if (Type == PT_DYNAMIC) {
      Dynamic = Address;
      Size = read64le(Header + offsetof(Elf64_Phdr, p_memsz));
    }
  }
  std::vector<uint8_t> Section;
  if (Dynamic)
    if (Error E =
            readUpTo(T, Bias + Dynamic, std::min<uint64_t>(Size, 1 << 16), 0)
                .moveInto(Section))
      return E;
  Slot = 0;
  for (size_t At = 0; At + 16 <= Section.size() && !*Slot; At += 16)
    if (read64le(&Section[At]) == DT_DEBUG)
      Slot = Bias + Dynamic + At + 8;
  return *Slot;
}

Expected<ProcessImage::Rendezvous> ProcessImage::rendezvous() {
  if (Linker)
    return *Linker;
  Expected<uint64_t> Where = debugSlot();
  if (!Where)
    return Where.takeError();
  // The linker fills it in once, early in the run.
  Rendezvous Found;
  if (*Where) {
    Expected<std::vector<uint8_t>> Value = readAtEnd(T, *Where, 8);
    if (!Value)
      return Value.takeError();
    if (Value->size() == 8)
      Found.Address = read64le(Value->data());
  }
  if (Found.Address) {
    Expected<std::vector<uint8_t>> Function =
        readAtEnd(T, Found.Address + offsetof(r_debug, r_brk), 8);
    if (!Function)
      return Function.takeError();
    if (Function->size() == 8)
      Found.Function = read64le(Function->data());
  }
  Linker = Found;
  return Found;
}

/// The last or the first call in the time range that reports a list without
/// pending changes.
Expected<std::optional<Timestamp>>
ProcessImage::notification(answers::TimeRange When, bool Backward) {
  while (When.First <= When.Last) {
    std::optional<Timestamp> Called;
    if (Error E = T.executions({Linker->Function, Linker->Function}, When, 0,
                               Backward, [&](const answers::Execution &X) {
                                 Called = X.Time;
                                 return false;
                               }))
      return E;
    if (!Called)
      break;
    Expected<std::vector<uint8_t>> State =
        readUpTo(T, Linker->Address + offsetof(r_debug, r_state), 4, *Called);
    if (!State)
      return State.takeError();
    if (State->size() == 4 && read32le(State->data()) == r_debug::RT_CONSISTENT)
      return Called;
    if (!Backward)
      When.First = *Called + 1;
    else if (*Called)
      When.Last = *Called - 1;
    else
      break;
  }
  return std::nullopt;
}

Expected<std::vector<LinkedModule>> ProcessImage::listAt(Timestamp Time) {
  std::vector<LinkedModule> Result;
  Expected<std::vector<uint8_t>> Head =
      readUpTo(T, Linker->Address + offsetof(r_debug, r_map), 8, Time);
  if (!Head)
    return Head.takeError();
  uint64_t Entry = Head->size() == 8 ? read64le(Head->data()) : 0;
  while (Entry && Result.size() < MostModules) {
    Expected<std::vector<uint8_t>> Map =
        readUpTo(T, Entry, sizeof(link_map), Time);
    if (!Map)
      return Map.takeError();
    if (Map->size() < sizeof(link_map))
      break;
    LinkedModule M;
    M.Entry = Entry;
    M.Bias = read64le(&(*Map)[offsetof(link_map, l_addr)]);
    M.Dynamic = read64le(&(*Map)[offsetof(link_map, l_ld)]);
    Expected<std::vector<uint8_t>> Name = readUpTo(
        T, read64le(&(*Map)[offsetof(link_map, l_name)]), LongestName, Time);
    if (!Name)
      return Name.takeError();
    M.Name.assign(Name->begin(), std::find(Name->begin(), Name->end(), 0));
    Entry = read64le(&(*Map)[offsetof(link_map, l_next)]);
    Result.push_back(std::move(M));
  }
  return Result;
}

/// The program and the dynamic linker itself. First is the first notification.
Expected<std::vector<LinkedModule>>
ProcessImage::loadedByKernel(std::optional<Timestamp> First) {
  std::vector<LinkedModule> Result(1);
  Expected<uint64_t> Base = linkerBase();
  if (!Base)
    return Base.takeError();
  if (!*Base)
    return Result;
  // The linker gets the name that it will have in the list, because a debugger
  // takes another name for another module.
  if (First) {
    Expected<std::vector<LinkedModule>> List = listAt(*First);
    if (!List)
      return List.takeError();
    for (LinkedModule &M : *List)
      if (M.Bias == *Base) {
        M.Entry = 0;
        Result.push_back(std::move(M));
      }
    return Result;
  }
  Expected<std::vector<answers::Module>> Modules = T.modules(0);
  if (!Modules)
    return Modules.takeError();
  for (answers::Module &M : *Modules)
    if (M.Address == *Base)
      Result.push_back({0, *Base, 0, std::move(M.Path)});
  return Result;
}

Expected<ArrayRef<LinkedModule>> ProcessImage::modules(Timestamp Time) {
  if (Time >= KnownFor.First && Time <= KnownFor.Last)
    return Known;
  Expected<Rendezvous> Found = rendezvous();
  if (!Found)
    return Found.takeError();
  answers::TimeRange For;
  std::optional<Timestamp> Last, Next;
  if (Found->Function) {
    if (Time)
      if (Error E =
              notification({0, Time - 1}, /*Backward=*/true).moveInto(Last))
        return E;
    if (Error E = notification({Time, T.instructions()}, /*Backward=*/false)
                      .moveInto(Next))
      return E;
  }
  if (Last)
    For.First = *Last + 1;
  if (Next)
    For.Last = *Next;
  // A forked process begins with what the linker had loaded by then.
  if (!Last && Found->Address && ancestry::forkedFrom(T))
    Last = 0;
  Expected<std::vector<LinkedModule>> List = Last ? listAt(*Last)
                                             : *Slot
                                                 ? loadedByKernel(Next)
                                                 : std::vector<LinkedModule>();
  if (!List)
    return List.takeError();
  Known = std::move(*List);
  KnownFor = For;
  return Known;
}

} // namespace chronicle::session
