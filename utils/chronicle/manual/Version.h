// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which Chronicle this is.

#ifndef CHRONICLE_UTILS_CHRONICLE_MANUAL_VERSION_H
#define CHRONICLE_UTILS_CHRONICLE_MANUAL_VERSION_H

#include <string>

namespace chronicle::manual {

/// "0.1.0 (1ab85ca12345)". The revision is that of git, of the archive that git
/// made, or missing if neither is known.
std::string version();

/// What `chronicle --version` prints: version(), and what it reads and was
/// built for.
std::string versionText();

} // namespace chronicle::manual

#endif
