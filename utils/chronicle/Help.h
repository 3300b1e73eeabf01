// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Help about the program and its commands.

#ifndef CHRONICLE_UTILS_CHRONICLE_HELP_H
#define CHRONICLE_UTILS_CHRONICLE_HELP_H

#include "utils/chronicle/Subcommand.h"
#include "utils/chronicle/manual/Manual.h"
#include "llvm/Support/raw_ostream.h"

namespace chronicle::cli {

/// All that there is to say about `chronicle`.
manual::ProgramText programText();

/// `chronicle <command> --help`.
void printHelp(Command &C);
/// `chronicle` without arguments: what to do first.
void printUsage(llvm::raw_ostream &Out);

} // namespace chronicle::cli

#endif
