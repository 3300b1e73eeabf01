// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// check-heap trace.db log: compares the history of the heap with the log that
// an allocator wrote while it was recorded: lines "a ADDRESS SIZE" and "f
// ADDRESS", in order.

#include "Tally.h"
#include "query/heap/HeapQuestions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>

using namespace chronicle;
using namespace llvm;

int main(int Argc, char **Argv) {
  std::unique_ptr<query::Trace> T =
      openTrace(Argc, Argv, 2, "check-heap trace.db log");
  if (!T)
    return 2;
  auto Log = MemoryBuffer::getFile(Argv[2]);
  if (!Log) {
    errs() << Argv[2] << ": " << Log.getError().message() << '\n';
    return 2;
  }
  auto Heap = get(heap::heapHistory(*T, {}, {}), "the pass");
  ArrayRef<heap::HeapBlock> Blocks = Heap->blocks();
  SmallVector<StringRef> Lines;
  (*Log)->getBuffer().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  size_t Allocated = 0, BadFrees = 0;
  std::map<uint64_t, size_t> Live;
  for (StringRef Line : Lines) {
    SmallVector<StringRef, 3> Words;
    Line.split(Words, ' ');
    uint64_t Address = 0, Size = 0;
    Words[1].getAsInteger(16, Address);
    if (Words[0] == "f") {
      auto It = Live.find(Address);
      if (It == Live.end()) {
        expect(BadFrees < Heap->badFrees().size() &&
                   Heap->badFrees()[BadFrees].Address == Address,
               "a bad free is missing: " + Line);
        ++BadFrees;
        continue;
      }
      expect(Blocks[It->second].Freed.has_value(), "not freed: " + Line);
      Live.erase(It);
      continue;
    }
    Words[2].getAsInteger(10, Size);
    expect(Allocated < Blocks.size() && Blocks[Allocated].Address == Address &&
               Blocks[Allocated].Size == Size,
           "a block differs: " + Line);
    if (Allocated >= Blocks.size())
      break;
    Live[Address] = Allocated++;
  }
  expect(Allocated == Blocks.size(), "there are other blocks");
  for (const heap::BadFree &F :
       Heap->badFrees().drop_front(std::min(BadFrees, Heap->badFrees().size())))
    failed(formatv("a free that the log lacks: {0:x} at {1}, thread {2}",
                   F.Address, F.Call.Time, F.Call.Thread));
  uint64_t AtEnd = 0;
  for (const heap::HeapBlock &B : Blocks)
    AtEnd += B.liveAt(T->instructions());
  expect(AtEnd == Live.size(), "other blocks are allocated at the end");
  for (auto [Address, I] : Live) {
    const heap::HeapBlock *B = Heap->blockAt(Address, T->instructions());
    expect(B == &Blocks[I], "the block at the end is another one");
  }
  return finish(Twine(Blocks.size()) + " blocks, " + Twine(Live.size()) +
                " allocated at the end");
}
