// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Forked processes and the traces of their parents.

#ifndef CHRONICLE_QUERY_ANCESTRY_ANCESTRY_H
#define CHRONICLE_QUERY_ANCESTRY_ANCESTRY_H

#include "query/Trace.h"
#include "query/processes/RunDirectory.h"

namespace chronicle::ancestry {

/// Where a forked process comes from; nothing if it was not forked, or was
/// recorded only from the program on that it executed.
std::optional<processes::ForkOrigin> forkedFrom(const query::Trace &T);

/// Opens the trace of the process that forked this one. Fails if that is not
/// beside it.
llvm::Expected<std::shared_ptr<const query::Trace>>
openParent(const query::Trace &T);

/// Whether the activation began before the process was forked. Then its Entry
/// is 0, and only the parent's trace has its beginning.
bool isInherited(const query::Trace &T, const answers::Activation &A);

} // namespace chronicle::ancestry

#endif
