// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// JSON for writes from before a fork.

#ifndef CHRONICLE_QUERY_JSON_JSONPARENTWRITE_H
#define CHRONICLE_QUERY_JSON_JSONPARENTWRITE_H

#include "query/ancestry/ParentWrite.h"
#include "llvm/Support/JSON.h"

namespace chronicle::jsonapi {

/// `number` and `pid` of the process that wrote, and the `write`.
llvm::json::Object toJSON(const ancestry::ParentWrite &W);

} // namespace chronicle::jsonapi

#endif
