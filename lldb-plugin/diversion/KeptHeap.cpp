// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/diversion/KeptHeap.h"
#include "query/symbols/Symbols.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include <cerrno>
#include <sys/mman.h>

using namespace llvm;

namespace chronicle::diversion {

static constexpr uint64_t AreaSize = 256 << 10;
/// What a block begins with: its size, as glibc has it before a block that was
/// mapped by itself, so that malloc_usable_size() finds it.
static constexpr uint64_t HeaderSize = 16, MappedBlock = 2;

const std::set<uint64_t> &KeptHeap::entries(Timestamp Time) {
  if (Functions.empty()) {
    // What C++ has calls these.
    for (heap::AllocatorFunction &F : heap::standardAllocators())
      if (!StringRef(F.Name).starts_with("operator"))
        Functions.push_back(std::move(F));
    Known = heap::allocatorEntries(T.symbols(), Functions);
  }
  if (NowAt == Time)
    return Now;
  NowAt = Time;
  Now.clear();
  for (auto [Address, Function] : Known)
    if (T.symbols().moduleAt(Address, Time))
      Now.insert(Address);
  return Now;
}

void KeptHeap::clear() {
  for (uint64_t Area : Areas)
    Own.release(Area);
  Areas.clear();
  Next = End = 0;
}

Expected<uint64_t> KeptHeap::allocate(uint64_t Size, uint64_t Alignment,
                                      MomentMemory &Memory) {
  Alignment = std::max<uint64_t>(Alignment, HeaderSize);
  if (!isPowerOf2_64(Alignment) || Alignment > PageSize || Size > 1ull << 40)
    return 0;
  const uint64_t Whole = alignTo(std::max<uint64_t>(Size, 1), HeaderSize);
  uint64_t Block = alignTo(Next + HeaderSize, Alignment);
  if (!Next || Block + Whole > End) {
    const uint64_t Area = std::max(AreaSize, Whole + 2 * PageSize);
    std::optional<uint64_t> Start = Own.allocate(Area, PROT_READ | PROT_WRITE);
    if (!Start)
      return 0;
    if (Error E = Memory.addScratch(*Start)) {
      Own.release(*Start);
      return E;
    }
    Areas.push_back(*Start);
    Next = *Start;
    End = Next + Own.find(*Start).size();
    Block = alignTo(Next + HeaderSize, Alignment);
  }
  uint8_t Header[8];
  support::endian::write64le(Header, (Whole + HeaderSize) | MappedBlock);
  if (Error E = Memory.write(Block - sizeof(Header), Header))
    return E;
  Next = Block + Whole;
  return Block;
}

Expected<uint64_t> KeptHeap::resize(uint64_t Block, uint64_t Size,
                                    MomentMemory &Memory) {
  Expected<uint64_t> New = allocate(Size, HeaderSize, Memory);
  if (!New || !*New || !Block)
    return New;
  // What lies behind the old block, if it is shorter, may be copied too: the
  // contents of a longer block are undefined there.
  Expected<std::vector<uint8_t>> Bytes = Memory.read(Block, Size);
  if (!Bytes)
    return Bytes.takeError();
  if (!Bytes->empty())
    if (Error E = Memory.write(*New, *Bytes))
      return E;
  return New;
}

Error KeptHeap::answer(user_regs_struct &R, MomentMemory &Memory) {
  using Kind = heap::AllocatorKind;
  const uint64_t A[] = {R.rdi, R.rsi, R.rdx};
  auto Product = [](uint64_t Count, uint64_t Size) {
    return checkedMulUnsigned(Count, Size).value_or(~uint64_t(0));
  };
  Expected<uint64_t> Result = 0;
  switch (Functions[Known.at(R.rip)].Kind) {
  case Kind::Size:
    // valloc and pvalloc want whole pages, which hurt no other function.
    Result = allocate(A[0], A[0] >= PageSize ? PageSize : 0, Memory);
    break;
  case Kind::CountSize:
    Result = allocate(Product(A[0], A[1]), 0, Memory);
    break;
  case Kind::AlignSize:
    Result = allocate(A[1], A[0], Memory);
    break;
  case Kind::Resize:
    Result = resize(A[0], A[1], Memory);
    break;
  case Kind::ResizeCount:
    Result = resize(A[0], Product(A[1], A[2]), Memory);
    break;
  case Kind::StoreAligned: {
    Expected<uint64_t> Block = allocate(A[2], A[1], Memory);
    if (!Block)
      return Block.takeError();
    uint8_t Bytes[8];
    support::endian::write64le(Bytes, *Block);
    if (*Block)
      if (Error E = Memory.write(A[0], Bytes))
        return E;
    Result = *Block ? 0 : ENOMEM;
    break;
  }
  case Kind::Free:
    break;
  }
  if (!Result)
    return Result.takeError();
  Expected<std::vector<uint8_t>> Return = Memory.read(R.rsp, 8);
  if (!Return)
    return Return.takeError();
  if (Return->size() < 8)
    return createStringError("the stack of the call is not mapped");
  R.rax = *Result;
  R.rip = support::endian::read64le(Return->data());
  R.rsp += 8;
  return Error::success();
}

} // namespace chronicle::diversion
