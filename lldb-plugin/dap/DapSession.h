// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// One debug session between a client and lldb-dap.

#ifndef CHRONICLE_LLDB_PLUGIN_DAP_DAPSESSION_H
#define CHRONICLE_LLDB_PLUGIN_DAP_DAPSESSION_H

#include "lldb-plugin/dap/Capabilities.h"
#include "lldb-plugin/dap/FrameReader.h"
#include "lldb-plugin/dap/MessagePeek.h"
#include "llvm/ADT/FunctionExtras.h"
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace chronicle::dap {

/// Decides which messages pass between a client and lldb-dap, and answers the
/// others. Messages that do not concern Chronicle pass as the bytes that
/// arrived, except that lldb-dap's `seq` is renumbered: the client sees one
/// sequence without gaps, whether lldb-dap or Chronicle sent a message.
/// Chronicle's requests become commands of its LLDB plugin, run by `evaluate`
/// requests to lldb-dap.
///
/// Does no input or output: it takes frames and appends frames to two strings.
class DapSession {
public:
  DapSession(std::string &ToClient, std::string &ToAdapter)
      : ToClient(ToClient), ToAdapter(ToAdapter) {}

  /// \return false if this is not a message, so that the stream must end.
  bool fromClient(const Frame &F);
  bool fromAdapter(const Frame &F);

  /// Answers every request from now on with this error.
  void refuseAll(std::string Why) { Refusal = std::move(Why); }
  /// Answers all open requests with an error, shows it to the user and tells
  /// the client that the session has ended.
  void breakOff(llvm::StringRef Why);
  /// Whether the client asked to end the session, so that lldb-dap may end.
  bool ending() const { return Ending; }
  /// Whether the client asked to end and has all its answers.
  bool over() const { return Ending && Open.empty(); }

private:
  struct Request {
    int64_t Seq;
    std::string Command;
    llvm::json::Object Arguments;
  };
  using Answer = llvm::unique_function<void(llvm::json::Object &Response)>;
  using Output = llvm::unique_function<void(llvm::Expected<std::string>)>;
  using Printed = llvm::unique_function<void(llvm::StringRef)>;

  // To the client.
  void send(llvm::json::Object Message);
  void forward(const Frame &F, const MessagePeek &P);
  void respond(const Request &R, llvm::json::Value Body = nullptr);
  void fail(const Request &R, const llvm::Twine &Why);
  void event(llvm::StringRef Name, llvm::json::Object Body);

  // To lldb-dap.
  void ask(llvm::StringRef Command, llvm::json::Object Arguments, Answer Then,
           std::optional<int64_t> Seq = std::nullopt);
  /// Runs LLDB commands in order until one fails. \p Then gets what the last
  /// one printed, or the error.
  /// \param For the client's request that they serve, which can be cancelled.
  void run(std::vector<std::string> Commands, Output Then,
           std::optional<int64_t> For = std::nullopt);
  /// Interrupts the commands that run for requests of the client.
  /// \return whether there were any.
  bool interruptCommands();

  // Requests (DapSessionRequests.cpp).
  bool serve(const MessagePeek &P, const Frame &F);
  void initialize(Request R);
  void start(Request R);
  void stepBack(Request R);
  void reverseContinue(Request R);
  void pause(Request R);
  /// \return false if lldb-dap knows the request that is to be cancelled.
  bool cancel(const Request &R);
  void gotoTargets(Request R);
  /// Adds the execution that a command found to the targets.
  /// \return why there is none, or nothing.
  std::string addTarget(llvm::json::Array &List, llvm::StringRef Label,
                        llvm::Expected<std::string> Printed);
  void goTo(Request R);
  void restartFrame(Request R);
  void custom(Request R);
  /// \return false if this is not one of Chronicle's commands.
  bool console(const Request &R);
  void stackTrace(Request R);
  void refuseRestart(const Request &R);
  /// The commands that select the thread and frame of a request. lldb-dap
  /// itself runs commands in the frame that was selected last.
  static std::vector<std::string>
  selection(const llvm::json::Object &Arguments);

  // Moves (DapSessionMoves.cpp).
  /// What a command that succeeds does to the process: nothing, or it may stop
  /// somewhere later, or it stops somewhere for certain.
  enum class Effect { None, MayStop, Stops };
  /// \param Name of the request, as in "lastWrite". \param Text the command.
  static Effect effectOf(llvm::StringRef Name, llvm::StringRef Text);
  /// Runs a command of Chronicle. If it moves the process, the client gets the
  /// response before the events of the move, whatever order lldb-dap sends them
  /// in.
  /// \param Then gets what the command printed. If it fails, \p R and \p Along
  /// are answered by its error instead.
  void move(Request R, std::string Text, llvm::StringRef Cause, Printed Then,
            Effect E = Effect::Stops, std::vector<Request> Along = {});
  /// Keeps a request back that must not reach lldb-dap while a step is under
  /// way. \return whether it waits.
  bool wait(const MessagePeek &P, const Frame &F);
  /// The requests behind a step back that are the same, which it takes along.
  std::vector<Request> sameSteps(const Request &R);
  /// A step has ended: serves what waits for it, up to the next step.
  void stepEnded();
  void started(Request R, llvm::json::Object &Response);

  // Events.
  void handleEvent(const Frame &F, const MessagePeek &P);
  void stopped(llvm::json::Object Message);
  void sendLocated(llvm::json::Object Stop, std::string Cause);
  void sendStop(llvm::json::Object Stop);
  void releaseEvents();
  void loadOutput(llvm::json::Object Message);

  std::string &ToClient, &ToAdapter;
  std::string Refusal;
  Debuggee What = Debuggee::Unknown;
  bool Ending = false;
  bool Starting = false; ///< a trace is being loaded
  std::string LoadError; ///< the error that LLDB printed meanwhile

  int64_t LastSeq = 0; ///< of the messages to the client
  /// The last number of a request that Chronicle sent to lldb-dap. Starts far
  /// above the numbers that clients use.
  int64_t LastOwnSeq = int64_t(1) << 40;
  /// The client's requests that are not answered yet.
  std::map<int64_t, std::string> Open;
  /// What to do with the responses that are not passed on as they are.
  std::map<int64_t, Answer> Awaited;
  /// lldb-dap's own requests: the number the client knows, and lldb-dap's.
  std::map<int64_t, int64_t> Reverse;

  unsigned Moving = 0;   ///< moves without a response yet
  bool Locating = false; ///< a stopped event waits for the plugin's position
  /// Bodies of events that must wait until neither is the case.
  std::deque<std::string> Held;
  /// The reason to report for the next stop, unless LLDB knows a better one.
  std::string StopCause;

  /// The client's requests for which LLDB runs a command, and the number that
  /// lldb-dap knows the command by.
  std::map<int64_t, int64_t> Commanding;
  /// A step or jump is under way, and will end by a stop.
  bool Stepping = false;
  /// Bodies of the requests that wait for it, in order.
  std::deque<std::string> Waiting;
  /// Requests whose number lldb-dap does not take: its number, and the
  /// client's.
  std::map<int64_t, int64_t> Renumbered;

  /// When the program was killed by a signal: the end of the run.
  std::optional<int64_t> CrashTime;
  std::vector<int64_t> Targets; ///< the timestamps that gotoTargets returned
  /// Source directories as recorded, and where they are on this machine.
  std::vector<std::pair<std::string, std::string>> SourceMap;
};

} // namespace chronicle::dap

#endif
