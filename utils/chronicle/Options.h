// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What there is to say about a command's options, and what is wrong with those
/// that were given.

#ifndef CHRONICLE_UTILS_CHRONICLE_OPTIONS_H
#define CHRONICLE_UTILS_CHRONICLE_OPTIONS_H

#include "utils/chronicle/Subcommand.h"

namespace chronicle::cli {

/// The options of a command for its help, sorted by name, with those that all
/// commands have at the end.
std::vector<manual::OptionText> optionsOf(Command &C);
/// The options that every command has: --color and --help.
std::vector<manual::OptionText> commonOptions();

/// Index in Args of the first argument that is not an option or the value of
/// one, or Args.size(). For a command that takes a program, everything from
/// there on belongs to that program and must not reach LLVM's parser, which
/// would expand @file arguments and take the program's options for Chronicle's.
size_t findOperand(Command &C, llvm::ArrayRef<const char *> Args);

/// What is wrong with the options in Args, in one sentence, or an empty string.
/// Finds what LLVM would report in its own words, except for numbers.
std::string wrongOption(Command &C, llvm::ArrayRef<const char *> Args);

} // namespace chronicle::cli

#endif
