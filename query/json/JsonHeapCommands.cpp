// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// heap, heap-history, heap-live.

#include "query/json/JsonPlaces.h"
#include "query/json/JsonValues.h"

using namespace llvm;

namespace chronicle::jsonapi {

using heap::HeapHistory;

static json::Object toJSON(const heap::HeapCallAnswer &C) {
  return json::Object{{"time", C.Call.Time},
                      {"thread", C.Call.Thread},
                      {"function", jsonText(C.Function)},
                      {"stack", jsonArray(C.Stack)}};
}

json::Object toJSON(const heap::HeapAnswer &A) {
  json::Object Result{{"address", hexNumber(A.Block.Address)},
                      {"size", A.Block.Size},
                      {"offset", A.Offset},
                      {"live", A.Live},
                      {"earlier-blocks", int64_t(A.Before)},
                      {"allocated", toJSON(A.Allocated)},
                      {"freed", nullptr}};
  if (A.Freed)
    Result["freed"] = toJSON(*A.Freed);
  if (A.Block.Reused)
    Result["reused"] = *A.Block.Reused;
  if (A.FreedAgain)
    Result["freed-again"] = toJSON(*A.FreedAgain);
  return Result;
}

json::Object toJSON(const heap::HeapGroup &G) {
  return json::Object{{"blocks", G.Blocks},
                      {"bytes", G.Bytes},
                      {"last", hexNumber(G.Last.Address)},
                      {"allocated", toJSON(G.Call)}};
}

/// "allocators". Comes after all other arguments.
static Expected<std::shared_ptr<const HeapHistory>> heapArgument(JsonQuery &Q) {
  std::vector<std::string> Pairs;
  if (Q.Arguments.has("allocators"))
    Pairs = Q.Arguments.texts("allocators");
  if (Error E = Q.Arguments.finish())
    return E;
  answers::IndexProgress Progress;
  Progress.Cancel = &Q.Cancel;
  Expected<std::shared_ptr<const HeapHistory>> Heap =
      heap::heapHistory(Q.T, Pairs, Progress);
  if (!Heap)
    return queryError("bad-argument", toString(Heap.takeError()));
  if (!*Heap)
    return queryError("cancelled", "the request was cancelled");
  return Heap;
}

static Expected<json::Value> heapBlock(JsonQuery &Q) {
  const Timestamp At = Q.Arguments.time("at");
  const uint64_t Address = Q.Arguments.number("address");
  Expected<std::shared_ptr<const HeapHistory>> Heap = heapArgument(Q);
  if (!Heap)
    return Heap.takeError();
  Expected<std::optional<heap::HeapAnswer>> Found =
      heap::heapBlockAt(Q.T, **Heap, Address, At);
  if (!Found)
    return Found.takeError();
  return *Found ? json::Value(toJSON(**Found)) : json::Value(nullptr);
}

/// How a search over a list of blocks ended.
static json::Value searchEnd(uint64_t Count, bool More) {
  return toJSON(questions::SearchEnd{Count, More});
}

static Expected<json::Value> heapOfAddress(JsonQuery &Q) {
  const Timestamp At = Q.Arguments.time("at", Q.T.instructions());
  const uint64_t Limit = Q.Arguments.number("limit", 100, 1, UINT32_MAX);
  const uint64_t Address = Q.Arguments.number("address");
  Expected<std::shared_ptr<const HeapHistory>> Heap = heapArgument(Q);
  if (!Heap)
    return Heap.takeError();
  std::vector<const heap::HeapBlock *> Blocks = (*Heap)->at(Address);
  uint64_t Count = 0;
  for (const heap::HeapBlock *B : llvm::reverse(Blocks)) {
    if (Count == Limit)
      return searchEnd(Count, true);
    Expected<heap::HeapAnswer> A =
        heap::heapBlock(Q.T, **Heap, *B, Address, At);
    if (!A)
      return A.takeError();
    ++Count;
    if (!Q.Emit(toJSON(*A)) || Q.Cancel.Cancelled)
      return searchEnd(Count, true);
  }
  return searchEnd(Count, false);
}

static Expected<json::Value> heapLive(JsonQuery &Q) {
  const Timestamp At = Q.Arguments.time("at", Q.T.instructions());
  const uint64_t Limit = Q.Arguments.number("limit", 100, 1, UINT32_MAX);
  Expected<std::shared_ptr<const HeapHistory>> Heap = heapArgument(Q);
  if (!Heap)
    return Heap.takeError();
  Expected<heap::LiveHeap> Live = heap::liveHeap(Q.T, **Heap, At, Q.Cancel);
  if (!Live)
    return Live.takeError();
  const size_t Count = std::min<size_t>(Limit, Live->Groups.size());
  for (const heap::HeapGroup &G : ArrayRef(Live->Groups).take_front(Count))
    if (!Q.Emit(toJSON(G)))
      break;
  return searchEnd(Count, !Live->Complete || Live->Groups.size() > Limit);
}

ArrayRef<JsonCommand> jsonHeapCommands() {
  static const JsonCommand Table[] = {{"heap", false, heapBlock},
                                      {"heap-history", true, heapOfAddress},
                                      {"heap-live", true, heapLive}};
  return Table;
}

} // namespace chronicle::jsonapi
