// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The files that the parent left open for the program.

#ifndef CHRONICLE_RECORDER_LAUNCH_INHERITEDDESCRIPTORS_H
#define CHRONICLE_RECORDER_LAUNCH_INHERITEDDESCRIPTORS_H

#include <vector>

namespace chronicle::launch {

/// The descriptors that this process was started with. The program has its own
/// copies of them. While the launcher holds one open too, the process at the
/// other end of a pipe does not notice that the program has closed it.
class InheritedDescriptors {
public:
  /// Lists what is open. To be created before this process opens files.
  InheritedDescriptors();
  /// Closes all of them but standard error, where errors and the summary go.
  /// Standard input and output become /dev/null. To be called once the program
  /// has been started.
  void release() const;

private:
  std::vector<int> Descriptors;
};

} // namespace chronicle::launch

#endif
