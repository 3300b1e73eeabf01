// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/ParentWriteText.h"
#include "lldb-plugin/values/WriterText.h"
#include "query/json/JsonAnswers.h"
#include "query/json/JsonParentWrite.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::values {

static std::string text(const ancestry::ParentWrite &W,
                        const target::Style &How) {
  const questions::WriteAnswer &A = W.Answer;
  const std::string Who =
      formatv("by {0} (pid {1}), at time {2} of its trace (#{3})",
              W.IsParent ? "the parent" : "an ancestor", W.Process,
              How.time(A.Write.Time), W.Number);
  if (A.Write.By != answers::Writer::Mapping)
    return "written " + Who + ": " +
           How.place(writerText(A.Write.By, A.Write.Pc,
                                target::placeOf(A.Where, A.Caller, How),
                                A.Call));
  if (!A.MappedFrom || A.MappedFrom->Path.empty())
    return "mapped " + Who;
  return "mapped " + Who +
         (", from " + sys::path::filename(A.MappedFrom->Path)).str();
}

Expected<std::string> writeBeforeFork(const query::Trace &T,
                                      const questions::WriteAnswer &Found,
                                      const target::Style &How,
                                      json::Object &Answer,
                                      const answers::Cancellation &Cancel) {
  if (!ancestry::isFromFork(T, Found))
    return "";
  Expected<std::optional<ancestry::ParentWrite>> W =
      ancestry::parentWrite(T, Found, Cancel);
  if (!W) {
    const std::string Why = toString(W.takeError());
    Answer["parent-unknown"] = jsonapi::jsonText(Why);
    return "written before the process was forked; by what is not known: " +
           Why;
  }
  if (!*W)
    return "written by the kernel, when the process was forked";
  Answer["parent"] = jsonapi::toJSON(**W);
  return text(**W, How);
}

} // namespace chronicle::values
