// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/recording/ProgramFiles.h"
#include "query/files/KeptFiles.h"
#include "query/pack/TracePacking.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::recording {

std::function<void(StringRef)> keepMapped(files::FileKeeper &Keeper,
                                          const std::string &Tool) {
  return [&Keeper, Tool](StringRef Path) {
    if (!files::isSystemPath(Path) && !sys::fs::equivalent(Path, Tool))
      Keeper.keep(Path);
  };
}

Expected<uint64_t> packAtEnd(StringRef Trace, PackWhat What,
                             std::vector<std::string> &Notes) {
  if (What == PackWhat::Nothing)
    return 0;
  pack::PackOptions Options;
  Options.Sources = What == PackWhat::Sources;
  Expected<pack::PackReport> Packed =
      pack::packTrace(Trace, Options, [](StringRef, uint64_t) { return true; });
  if (!Packed)
    return launch::launchError(launch::StatusOurFailure,
                               "the trace is complete, but its files could not "
                               "be packed: " +
                                   toString(Packed.takeError()));
  Notes.push_back(formatv("packed {0} files", Packed->Added.size()));
  for (const pack::PackReport::LeftOut &L : Packed->Missing)
    Notes.push_back("left out: " + L.Path + ": " + L.Why);
  return Packed->Grown;
}

} // namespace chronicle::recording
