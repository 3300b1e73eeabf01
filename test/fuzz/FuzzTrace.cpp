// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trace from a stranger: opens it, verifies it, and asks every question about
// it. The answers do not matter.

#include "Fuzzer.h"
#include "TraceMutator.h"
#include "query/Trace.h"
#include "query/Verifier.h"
#include "query/server/QuerySession.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ThreadPool.h"
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace chronicle;
using namespace llvm;

static const char *const Questions[] = {
    R"({"cmd":"info"})",
    R"({"cmd":"modules","at":"50%"})",
    R"({"cmd":"threads","at":"50%"})",
    R"({"cmd":"threads","at":"end"})",
    R"({"cmd":"map","at":"end"})",
    R"({"cmd":"registers","at":0})",
    R"({"cmd":"registers","at":"33%"})",
    R"({"cmd":"registers","at":"66%","thread":1})",
    R"({"cmd":"registers","at":"end"})",
    R"({"cmd":"call-stack","at":"50%","limit":50})",
    R"({"cmd":"call-stack","at":"end","limit":50})",
    R"({"cmd":"return-of","at":"50%"})",
    R"({"cmd":"callees","at":"50%","limit":20})",
    R"({"cmd":"events","limit":50})",
    R"({"cmd":"events","backward":true,"limit":50})",
    R"({"cmd":"system-calls","limit":50})",
    R"({"cmd":"output","find":"o","limit":50})",
    R"({"cmd":"exceptions","limit":5})",
};

/// Questions about addresses that the trace itself gives.
static std::vector<std::string> moreQuestions(const query::Trace &T) {
  std::vector<std::string> Result;
  auto Add = [&](const Twine &Text) { Result.push_back(Text.str()); };
  ArrayRef<uint64_t> Code = T.reader().superblockAddresses();
  for (size_t I = 1; I < Code.size(); I += 1 + Code.size() / 3) {
    const std::string At = "\"address\":\"0x" + utohexstr(Code[I]) + "\"";
    Add("{\"cmd\":\"executions\"," + At + ",\"limit\":5}");
    Add("{\"cmd\":\"count-executions\"," + At + "}");
    Add("{\"cmd\":\"symbol\",\"pc\":\"0x" + utohexstr(Code[I]) + "\"}");
  }
  ArrayRef<PageChunkEntry> Chunks = T.reader().pageChunks();
  for (size_t I = 0; I < Chunks.size(); I += 1 + Chunks.size() / 4) {
    const std::string At =
        "\"address\":\"0x" + utohexstr(Chunks[I].Frame * PageSize) + "\"";
    Add("{\"cmd\":\"memory\",\"at\":\"50%\"," + At + ",\"length\":8192}");
    Add("{\"cmd\":\"last-write\",\"at\":\"end\"," + At + ",\"length\":4096}");
    Add("{\"cmd\":\"writes\"," + At + ",\"length\":64,\"limit\":5}");
  }
  return Result;
}

static void ask(const query::Trace &T) {
  // One thread, so that a crash is the same in every run.
  SingleThreadExecutor Pool(hardware_concurrency(1));
  server::Session S(T, Pool, [](StringRef) { return true; });
  for (const char *Line : Questions) {
    S.request(Line);
    S.finish();
  }
  for (const std::string &Line : moreQuestions(T)) {
    S.request(Line);
    S.finish();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const int File = memfd_create("trace", MFD_CLOEXEC);
  if (File < 0 || ::write(File, Data, Size) != ssize_t(Size)) {
    std::perror("memfd");
    std::exit(2);
  }
  const std::string Path = "/proc/self/fd/" + std::to_string(File);
  Expected<std::unique_ptr<query::Trace>> T = query::Trace::open(Path);
  if (T) {
    ++UsableInputs;
    query::VerifyOptions Options;
    Options.Threads = 1;
    Options.MemoryBytes = 64 << 20;
    query::verifyTrace((*T)->reader(), Options);
    ask(**T);
  } else {
    consumeError(T.takeError());
  }
  ::close(File);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *Data, size_t Size, size_t MaxSize,
                               unsigned Seed) {
  static std::map<std::pair<size_t, uint64_t>, std::unique_ptr<TraceMutator>>
      Known;
  const ArrayRef<uint8_t> File(Data, Size);
  // The footer's checksum stands for the file: a run has few seeds.
  const uint64_t Last =
      Size < 8 ? 0 : support::endian::read64le(Data + Size - 8);
  std::unique_ptr<TraceMutator> &M = Known[{Size, Last}];
  if (!M) {
    Expected<TraceMutator> Made = TraceMutator::create(File);
    if (!Made) {
      // The result of an earlier change, perhaps.
      consumeError(Made.takeError());
      Known.erase({Size, Last});
      if (Size)
        Data[Seed % Size] ^= uint8_t(1 << Seed % 8);
      return Size;
    }
    M = std::make_unique<TraceMutator>(std::move(*Made));
  }
  const std::vector<uint8_t> Changed = M->mutate(Seed);
  if (Known.size() > 16)
    Known.clear();
  if (Changed.size() > MaxSize)
    return Size;
  std::memcpy(Data, Changed.data(), Changed.size());
  return Changed.size();
}
