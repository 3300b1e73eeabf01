// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/json/JsonAnswers.h"
#include "trace-format/FileFormat.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace chronicle::jsonapi {

json::Object toJSON(const query::Trace &T) {
  const file::TraceReader &R = T.reader();
  json::Array Warnings;
  for (const std::string &W : T.symbols().warnings())
    Warnings.push_back(jsonText(W));
  return json::Object{{"path", jsonText(R.path())},
                      {"instructions", R.instructions()},
                      {"executions", R.executions()},
                      {"blocks", int64_t(R.blocks().size())},
                      {"superblocks", int64_t(R.superblockCount()) - 1},
                      {"file-size", R.fileSize()},
                      {"format-version", FormatVersion},
                      {"truncated", R.truncated().empty()
                                        ? json::Value(nullptr)
                                        : jsonText(R.truncated())},
                      {"warnings", std::move(Warnings)},
                      {"run", json::Object(R.run())},
                      {"end", R.end() ? json::Value(json::Object(*R.end()))
                                      : json::Value(nullptr)}};
}

static json::Object jsonX87(const answers::Registers &R) {
  uint32_t Top = static_cast<uint32_t>(R.word(CH_OFFSET_FTOP)) & 7;
  json::Array Stack;
  for (unsigned I = 0; I < 8; ++I) {
    unsigned Register = (Top + I) & 7;
    uint64_t Bits = R.word(CH_OFFSET_FPREG + 8 * Register);
    double Value;
    std::memcpy(&Value, &Bits, sizeof(Value));
    bool Empty = R.State[CH_OFFSET_FPTAG + Register] == 0;
    json::Object Entry{{"bits", hexNumber(Bits)}, {"empty", Empty}};
    // JSON has neither infinities nor NaN; "bits" says which it is.
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

json::Object toJSON(const answers::Registers &R) {
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
    // A number of 256 bits, highest byte first.
    std::vector<uint8_t> Bytes(R.ymm(N).rbegin(), R.ymm(N).rend());
    Result["ymm" + std::to_string(N)] = "0x" + toHex(Bytes, true);
  }
  Result["x87"] = jsonX87(R);
  return Result;
}

std::string protectionText(uint32_t P) {
  std::string Text = "---";
  if (P & CH_PROT_READ)
    Text[0] = 'r';
  if (P & CH_PROT_WRITE)
    Text[1] = 'w';
  if (P & CH_PROT_EXEC)
    Text[2] = 'x';
  return Text;
}

json::Object toJSON(const answers::Mapping &M) {
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

json::Object toJSON(const state::ModuleLoad &M) {
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

json::Object toJSON(const answers::ThreadInfo &I) {
  return json::Object{{"thread", I.Number},
                      {"parent", I.Parent},
                      {"os-thread", I.OsThread},
                      {"started", I.Started},
                      {"exited", jsonOptional(I.Exited)}};
}

} // namespace chronicle::jsonapi
