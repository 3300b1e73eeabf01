// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What there is to say about the `chronicle` program, as plain data. Help,
/// manual pages and completions are made from it, so they cannot differ.

#ifndef CHRONICLE_UTILS_CHRONICLE_MANUAL_MANUAL_H
#define CHRONICLE_UTILS_CHRONICLE_MANUAL_MANUAL_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace chronicle::manual {

/// A name and what it means: a value of an option, an exit status, a variable
/// of the environment.
struct Entry {
  llvm::StringRef Name;
  llvm::StringRef Meaning;
};

struct OptionText {
  llvm::StringRef Letter; ///< "o" for -o, or empty
  llvm::StringRef Name;   ///< "output" for --output
  llvm::StringRef Value;  ///< "FILE", or empty if the option takes no value
  llvm::StringRef Meaning;
  std::vector<Entry> Choices; ///< the values that are allowed, if it is a list
  bool Repeats = false;       ///< may be given several times

  /// "-o" and "--output".
  std::vector<std::string> spellings() const;
  /// Meaning, and the choices as a list behind it.
  std::string text() const;
};

/// What the first argument of a command is, for completion.
enum class Operand { None, Trace, Program, Word };

struct CommandText {
  llvm::StringRef Name;
  llvm::StringRef Summary;
  llvm::StringRef Arguments;
  /// Paragraphs with an empty line between them. Their lines are filled again;
  /// paragraphs that start with a space are shown as they are.
  llvm::StringRef Details;
  llvm::StringRef Examples; ///< lines, each with a newline
  std::vector<OptionText> Options;
  std::vector<Entry> Statuses;
  Operand First = Operand::None;
  std::vector<llvm::StringRef> Words; ///< the allowed ones, for Operand::Word
};

/// The program as a whole.
struct ProgramText {
  llvm::StringRef Summary; ///< a sentence
  std::string Version;
  std::vector<CommandText> Commands; ///< sorted by name
  std::vector<OptionText> Options;   ///< those without a command
  std::vector<Entry> Environment;
  llvm::StringRef Examples;
};

/// The paragraphs of CommandText::Details. Each is one line, without the
/// newlines of the source, unless it starts with a space.
std::vector<std::string> paragraphs(llvm::StringRef Details);

} // namespace chronicle::manual

#endif
