// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/manual/Version.h"
#include "Revision.h" // made by utils/cmake/Revision.cmake
#include "recorder/launch/RunFacts.h"
#include "trace-format/FileFormat.h"
#include "trace-format/Stream.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::manual {

std::string version() {
  std::string Text = CHRONICLE_VERSION;
  if (StringRef Revision = CHRONICLE_REVISION; !Revision.empty())
    Text += formatv(" ({0})", Revision);
  return Text;
}

std::string versionText() {
  return formatv("chronicle {0}\n"
                 "trace format {1}, stream version {2}\n"
                 "built for Valgrind {3} and LLDB {4}\n",
                 version(), FormatVersion, CH_STREAM_VERSION,
                 launch::valgrindVersion(), LLVM_VERSION_STRING);
}

} // namespace chronicle::manual
