// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/recording/RecorderPaths.h"
#include "recorder/launch/LaunchError.h"
#include "recorder/launch/RecorderCommand.h"
#include "recorder/launch/TemporaryDirectory.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace chronicle::recording {

Expected<RecorderPaths> findRecorder(StringRef Tool) {
  static int Anchor;
  RecorderPaths Paths;
  Paths.Launcher = sys::fs::getMainExecutable("chronicle", &Anchor);
  Paths.Tool = Tool.empty() ? launch::recorderPath(Paths.Launcher) : Tool.str();
  if (!sys::fs::can_execute(Paths.Tool))
    return launch::launchError(
        launch::StatusOurFailure,
        "the recorder '" + Paths.Tool +
            "' is missing: build or install Chronicle again");
  if (Error E = launch::checkTemporaryDirectory(
          sys::Process::GetEnv("TMPDIR").value_or("")))
    return E;
  return Paths;
}

} // namespace chronicle::recording
