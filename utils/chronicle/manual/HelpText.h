// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Help for the terminal: at most 80 columns, headings in bold if the stream
/// shows colours.

#ifndef CHRONICLE_UTILS_CHRONICLE_MANUAL_HELPTEXT_H
#define CHRONICLE_UTILS_CHRONICLE_MANUAL_HELPTEXT_H

#include "utils/chronicle/manual/Manual.h"
#include "llvm/Support/raw_ostream.h"

namespace chronicle::manual {

/// `chronicle --help`.
void printProgramHelp(llvm::raw_ostream &Out, const ProgramText &P);
/// `chronicle <command> --help`.
void printCommandHelp(llvm::raw_ostream &Out, const CommandText &C);
/// `chronicle help exit-status`: the statuses of all commands.
void printStatuses(llvm::raw_ostream &Out, const ProgramText &P);

/// Fills text into lines of 80 columns. The first line goes on in the column
/// At; the others are indented to it.
std::string filled(llvm::StringRef Text, unsigned At);

} // namespace chronicle::manual

#endif
