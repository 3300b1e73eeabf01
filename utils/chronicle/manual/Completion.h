// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Completion scripts for shells. They hold all names, so that completing does
/// not run the program.

#ifndef CHRONICLE_UTILS_CHRONICLE_MANUAL_COMPLETION_H
#define CHRONICLE_UTILS_CHRONICLE_MANUAL_COMPLETION_H

#include "utils/chronicle/manual/Manual.h"
#include "llvm/Support/raw_ostream.h"

namespace chronicle::manual {

void printBashCompletion(llvm::raw_ostream &Out, const ProgramText &P);
void printZshCompletion(llvm::raw_ostream &Out, const ProgramText &P);

} // namespace chronicle::manual

#endif
