// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// One debug session: which messages pass, which are answered here.

#ifndef CHRONICLE_LLDBPLUGIN_DAP_SESSION_H
#define CHRONICLE_LLDBPLUGIN_DAP_SESSION_H

#include "lldb-plugin/dap/Capabilities.h"
#include "lldb-plugin/dap/Frame.h"
#include "llvm/ADT/FunctionExtras.h"
#include <map>
#include <string>
#include <vector>

namespace chronicle::dap {

/// Stands between a client and lldb-dap. Messages that are none of Chronicle's
/// business go on as the bytes that came, but for lldb-dap's `seq`: a client
/// sees one sequence without gaps, whoever sent a message. Chronicle's requests
/// become commands of its LLDB plugin, run by an `evaluate` of lldb-dap.
///
/// Does no input or output: it reads frames and appends frames to two strings.
class Session {
public:
  Session(std::string &ToClient, std::string &ToAdapter)
      : ToClient(ToClient), ToAdapter(ToAdapter) {}

  /// \return false if the message is none: the stream must end.
  bool fromClient(const Frame &F);
  bool fromAdapter(const Frame &F);

  /// From now on every request is answered with this error.
  void refuseAll(std::string Why) { Refusal = std::move(Why); }
  /// Answers what is open with an error, says so to the user and ends the
  /// session from the client's point of view.
  void breakOff(llvm::StringRef Why);
  /// Whether the client asked for the end: lldb-dap may go.
  bool ending() const { return Ending; }
  /// It asked to end, and has all its answers.
  bool over() const { return Ending && Open.empty(); }

private:
  struct Request {
    int64_t Seq;
    std::string Command;
    llvm::json::Object Arguments;
  };
  using Answer = llvm::unique_function<void(llvm::json::Object &Response)>;
  using Output = llvm::unique_function<void(llvm::Expected<std::string>)>;

  // To the client.
  void send(llvm::json::Object Message);
  void forward(const Frame &F, const Peek &P);
  void respond(const Request &R, llvm::json::Value Body = nullptr);
  void fail(const Request &R, const llvm::Twine &Why);
  void event(llvm::StringRef Name, llvm::json::Object Body);

  // To lldb-dap.
  void ask(llvm::StringRef Command, llvm::json::Object Arguments, Answer Then,
           std::optional<int64_t> Seq = std::nullopt);
  /// Runs LLDB commands, each if the one before did not fail, and hands on what
  /// the last one printed, or the error.
  void run(std::vector<std::string> Commands, Output Then);

  // Requests (Requests.cpp).
  bool serve(const Peek &P, const Frame &F);
  void initialize(Request R);
  void start(Request R);
  void stepBack(Request R);
  void reverseContinue(Request R);
  void pause(Request R);
  void gotoTargets(Request R);
  /// The execution that a command found, as a target. \return why there is
  /// none.
  std::string addTarget(llvm::json::Array &List, llvm::StringRef Label,
                        llvm::Expected<std::string> Printed);
  void goTo(Request R);
  void restartFrame(Request R);
  void custom(Request R);
  /// \return false if it is no command of ours after all.
  bool console(const Request &R);
  /// Runs a command that may move the process: the response comes before the
  /// events, whichever lldb-dap sent first.
  void move(Request R, std::string Text, llvm::StringRef StopReason,
            Output Then);
  void started(Request R, llvm::json::Object &Response);

  // Events.
  void handleEvent(const Frame &F, const Peek &P);
  void stopped(llvm::json::Object &Body);
  void releaseEvents();
  void noteLoadError(const llvm::json::Object &Message);

  std::string &ToClient, &ToAdapter;
  std::string Refusal;
  Debuggee What = Debuggee::Unknown;
  bool Ending = false;
  bool Starting = false; ///< a trace is being loaded
  std::string LoadError; ///< what LLDB printed then

  int64_t LastSeq = 0; ///< of what the client got
  /// Far beyond what clients count to, so that their numbers stay theirs.
  int64_t LastOwnSeq = int64_t(1) << 40;
  /// The client's requests that nobody has answered yet.
  std::map<int64_t, std::string> Open;
  /// What to do with responses that are not the client's, or not as they come.
  std::map<int64_t, Answer> Awaited;
  /// lldb-dap's own requests: the number the client knows, and theirs.
  std::map<int64_t, int64_t> Reverse;

  unsigned Moving = 0;           ///< moves without a response yet
  std::vector<std::string> Held; ///< bodies of events that must wait for it
  std::string StopReason;        ///< of the next stop, unless LLDB knows better

  std::vector<int64_t> Targets; ///< the moments of gotoTargets so far
  /// Directories of sources as they were recorded, and where they are here.
  std::vector<std::pair<std::string, std::string>> SourceMap;
};

} // namespace chronicle::dap

#endif
