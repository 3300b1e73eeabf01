// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Manual pages, in the language of man(7).

#ifndef CHRONICLE_UTILS_CHRONICLE_MANUAL_MANPAGE_H
#define CHRONICLE_UTILS_CHRONICLE_MANUAL_MANPAGE_H

#include "utils/chronicle/manual/Manual.h"
#include "llvm/Support/raw_ostream.h"

namespace chronicle::manual {

/// chronicle(1).
void printProgramPage(llvm::raw_ostream &Out, const ProgramText &P);
/// chronicle-record(1) and the like.
void printCommandPage(llvm::raw_ostream &Out, const ProgramText &P,
                      const CommandText &C);

} // namespace chronicle::manual

#endif
