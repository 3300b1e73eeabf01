// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the recorders of a run ask the launcher for (trace-format/Control.h).

#ifndef CHRONICLE_RECORDER_LAUNCH_CONTROLSOCKET_H
#define CHRONICLE_RECORDER_LAUNCH_CONTROLSOCKET_H

#include "trace-format/Control.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace chronicle::launch {

/// A descriptor that is closed with the object.
class OwnedDescriptor {
public:
  explicit OwnedDescriptor(int Number = -1) : Number(Number) {}
  ~OwnedDescriptor() { reset(); }
  OwnedDescriptor(OwnedDescriptor &&Other) noexcept
      : Number(std::exchange(Other.Number, -1)) {}
  OwnedDescriptor &operator=(OwnedDescriptor &&Other) noexcept {
    std::swap(Number, Other.Number);
    return *this;
  }
  int get() const { return Number; }
  void reset();

private:
  int Number;
};

/// A process that asks for a recording. It waits for the answer.
struct ProcessRequest {
  ch_control_kind Kind = CH_CONTROL_EXEC;
  uint32_t Asker = 0; ///< the recording that the process belongs to
  /// CH_CONTROL_FORK: the number of the fork in that recording, and where the
  /// program's auxiliary vector was at its start.
  uint32_t Fork = 0;
  uint64_t Auxiliary = 0;
  pid_t Process = 0;
  pid_t Parent = 0;       ///< its parent's number, 0 if not known
  OwnedDescriptor Handle; ///< pidfd of the process
  std::string Directory;  ///< the process's working directory
  /// Of the new program; empty in a forked process, which has none.
  std::string Path; ///< absolute
  std::vector<std::string> Arguments, Environment;
  OwnedDescriptor Socket;

  /// Reads a request. May wait for the process. Fails if the process dies or
  /// does not follow the protocol.
  static llvm::Expected<ProcessRequest> read(OwnedDescriptor Socket);

  /// Lets the process be recorded under that number.
  llvm::Error grant(uint32_t Number, int Ring, int Log,
                    llvm::ArrayRef<int> Translations) const;
  /// Lets it go on unrecorded.
  void refuse() const;
  /// After grant(): waits until the process has become the new program, or a
  /// forked one has begun.
  /// \return false if it could not.
  bool fulfilled() const;
};

/// The launcher's end of the socket that all recorders of the run have, and of
/// the pipe that tells them that the launcher lives.
class ControlSocket {
public:
  static llvm::Expected<std::unique_ptr<ControlSocket>> create();

  /// For the recorder; close-on-exec.
  int recordersSocket() const { return Theirs.get(); }
  int recordersLifeline() const { return LifelineRead.get(); }
  /// To be called once the first recorder runs: next() ends when the last one
  /// has ended.
  void releaseRecordersEnds();

  /// Becomes readable when a process asks, or when the last one has ended.
  int descriptor() const { return Ours.get(); }
  /// A socket for ProcessRequest::read(); empty if no recorder is left.
  std::optional<OwnedDescriptor> next() const;

private:
  ControlSocket() = default;
  OwnedDescriptor Ours, Theirs, LifelineRead, LifelineWrite;
};

} // namespace chronicle::launch

#endif
