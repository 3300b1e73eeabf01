// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What one try of a program printed.

#ifndef CHRONICLE_UTILS_CHRONICLE_TRIES_CAPTUREDOUTPUT_H
#define CHRONICLE_UTILS_CHRONICLE_TRIES_CAPTUREDOUTPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace chronicle::tries {

/// Two files without names, which take the place of standard output and
/// standard error. If these are the same file, as on a terminal, one file takes
/// the place of both, so that the order of what was printed is kept.
class CapturedOutput {
public:
  /// The files lie in this directory, which must be writable.
  static llvm::Expected<CapturedOutput> create(llvm::StringRef Directory);
  CapturedOutput(CapturedOutput &&Other);
  CapturedOutput &operator=(CapturedOutput &&Other);
  ~CapturedOutput();

  /// Makes the files the standard output and error of this process.
  void install() const;
  /// Whether the text was printed, to either of the two. Costs a pass over all
  /// of the output.
  llvm::Expected<bool> contains(llvm::StringRef Text) const;
  /// Prints all of it where it would have gone.
  llvm::Error print() const;

private:
  CapturedOutput(int Output, int Errors) : Output(Output), Errors(Errors) {}
  void close();
  int Output, Errors; ///< descriptors, which may be the same
};

} // namespace chronicle::tries

#endif
