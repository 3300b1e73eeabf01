// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The command line and environment of the recorder, which is the Valgrind
/// tool, executed directly.

#ifndef CHRONICLE_RECORDER_LAUNCH_RECORDERCOMMAND_H
#define CHRONICLE_RECORDER_LAUNCH_RECORDERCOMMAND_H

#include "recorder/launch/InheritedDescriptors.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace chronicle::launch {

/// What to execute. Tool and Launcher are absolute paths.
struct RecorderCommand {
  std::string Tool;
  std::string Launcher; ///< our own executable, which Valgrind's core must know
  std::string LogLoads; ///< auto, always or never
  int RingDescriptor = -1;
  int LogDescriptor = -1;
  /// If the processes that the program starts are to be followed, the
  /// recorders' ends of a ControlSocket.
  int ControlDescriptor = -1, LifelineDescriptor = -1;
  /// Whether forked processes are to be recorded, too.
  bool RecordForks = false;
  /// Files of the translation cache.
  std::vector<int> TranslationDescriptors;
  /// Whether to send new translations.
  bool KeepTranslations = false;
  /// The seed of decisions by chance, if there are any.
  std::optional<uint64_t> Chaos;
  std::vector<std::string> Program; ///< the program's command line
  /// What the launcher need not hold open once the program runs, or null.
  const InheritedDescriptors *Inherited = nullptr;

  std::vector<std::string> commandLine() const;
  /// The descriptors that the recorder gets.
  std::vector<int> descriptors() const;
  /// The environment of this process plus what Valgrind's core needs, which the
  /// tool hides from the program.
  std::vector<std::string> environment() const;
};

/// The path of the tool that belongs to the chronicle program at this path. It
/// is the same in a build tree as under an installation prefix.
std::string recorderPath(llvm::StringRef Executable);

} // namespace chronicle::launch

#endif
