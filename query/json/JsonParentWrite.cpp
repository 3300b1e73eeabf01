// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/json/JsonParentWrite.h"
#include "query/json/JsonAnswers.h"

using namespace llvm;

namespace chronicle::jsonapi {

json::Object toJSON(const ancestry::ParentWrite &W) {
  return json::Object{
      {"number", W.Number}, {"pid", W.Process}, {"write", toJSON(W.Answer)}};
}

} // namespace chronicle::jsonapi
