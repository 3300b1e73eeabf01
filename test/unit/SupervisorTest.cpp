// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The supervisor with a fake recorder, which becomes the program at once.

#include "recorder/launch/Supervisor.h"
#include "recorder/launch/LaunchError.h"
#include "recorder/launch/RecorderLog.h"
#include "recorder/launch/SharedRing.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <sstream>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace chronicle;
using namespace llvm;

namespace {

struct Client : launch::SupervisorClient {
  std::atomic<unsigned> Ticks{0}, Interrupts{0}, Ends{0};
  std::atomic<bool> Ended{false};
  std::function<void()> AtTick = [] {};
  void tick() override {
    ++Ticks;
    AtTick();
  }
  void interrupted() override { ++Interrupts; }
  void endRecording() override { ++Ends; }
  bool recordingEnded() override { return Ended; }
};

/// Background jobs start with SIGINT and SIGQUIT ignored, which the supervisor
/// rightly leaves so; the tests want them.
class DefaultSignals : public testing::Environment {
  void SetUp() override {
    for (int Signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE,
                       SIGTSTP, SIGCONT, SIGCHLD, SIGXFSZ})
      signal(Signal, SIG_DFL);
    sigset_t None;
    sigemptyset(&None);
    sigprocmask(SIG_SETMASK, &None, nullptr);
  }
};
const testing::Environment *const TheEnvironment =
    testing::AddGlobalTestEnvironment(new DefaultSignals);

/// Waits until Condition holds, but not forever.
template <typename Function> bool waitUntil(Function Condition) {
  for (int I = 0; I < 300000; ++I) {
    if (Condition())
      return true;
    usleep(1000);
  }
  return false;
}

/// Starts the fake recorder, which becomes Program.
Error startProgram(launch::Supervisor &S, const launch::SharedRing &Ring,
                   const launch::RecorderLog &Log,
                   std::vector<std::string> Program) {
  launch::RecorderCommand Command;
  Command.Tool = FAKE_RECORDER;
  Command.Launcher = "/launcher";
  Command.LogLoads = "auto";
  Command.RingDescriptor = Ring.descriptor();
  Command.LogDescriptor = Log.descriptor();
  Command.Program = std::move(Program);
  return S.start(Command);
}

/// Runs a shell script under a supervisor of its own.
launch::ProcessEnd superviseScript(const std::string &Script) {
  launch::SharedRing Ring =
      cantFail(launch::SharedRing::create(launch::MinBlockInstructions, 2));
  launch::RecorderLog Log = cantFail(launch::RecorderLog::create());
  std::unique_ptr<launch::Supervisor> S =
      cantFail(launch::Supervisor::create());
  cantFail(startProgram(*S, Ring, Log, {"sh", "-c", Script}));
  Client C;
  return S->wait(C, std::chrono::milliseconds(0));
}

class SupervisorTest : public testing::Test {
protected:
  SupervisorTest()
      : TheRing(cantFail(
            launch::SharedRing::create(launch::MinBlockInstructions, 2))),
        Log(cantFail(launch::RecorderLog::create())),
        S(cantFail(launch::Supervisor::create())) {}

  Error start(std::vector<std::string> Program) {
    return startProgram(*S, TheRing, Log, std::move(Program));
  }
  launch::ProcessEnd run(std::vector<std::string> Program) {
    cantFail(start(std::move(Program)));
    return S->wait(C, std::chrono::milliseconds(0));
  }
  launch::ProcessEnd shell(const std::string &Script) {
    return run({"sh", "-c", Script});
  }
  /// Waits until Path has contents, which the program writes when it is ready.
  static std::string waitFor(const std::string &Path) {
    for (int I = 0; I < 30000; ++I) {
      std::stringstream Text;
      Text << std::ifstream(Path).rdbuf();
      if (!Text.str().empty() && Text.str().back() == '\n')
        return Text.str();
      usleep(10000);
    }
    return "";
  }
  /// Runs a shell that does Prepare, says that it is ready, and does the rest.
  /// Act is called as soon as it is ready, while another thread waits for it.
  template <typename Function>
  launch::ProcessEnd whileItRuns(const std::string &Prepare,
                                 const std::string &Rest, Function Act) {
    std::string Ready = scratch("ready");
    cantFail(
        start({"sh", "-c", Prepare + "; echo ready >" + Ready + "; " + Rest}));
    launch::ProcessEnd End;
    std::thread Waiter([&] { End = S->wait(C, std::chrono::milliseconds(0)); });
    waitFor(Ready);
    Act();
    Waiter.join();
    return End;
  }
  static constexpr const char *Forever = "while :; do sleep 0.05; done";
  /// Sends this process SIGINT as the terminal does. The kernel allows this to
  /// the first thread only.
  static void typeInterrupt() {
    siginfo_t Info = {};
    Info.si_signo = SIGINT;
    Info.si_code = SI_KERNEL;
    syscall(SYS_rt_sigqueueinfo, getpid(), SIGINT, &Info);
  }
  /// The second one when the first has arrived.
  void interruptTwice() {
    typeInterrupt();
    if (!waitUntil([&] { return C.Interrupts != 0; }))
      kill(S->process(), SIGKILL);
    typeInterrupt();
  }
  std::string scratch(const char *Name) {
    std::string Path =
        testing::TempDir() + "/" + Name + "." + std::to_string(getpid());
    unlink(Path.c_str());
    return Path;
  }

  launch::SharedRing TheRing;
  launch::RecorderLog Log;
  std::unique_ptr<launch::Supervisor> S;
  Client C;
};

TEST_F(SupervisorTest, ReportsExitStatus) {
  launch::ProcessEnd End = shell("exit 37");
  EXPECT_FALSE(End.BySignal);
  EXPECT_EQ(End.Code, 37);
  EXPECT_GT(End.PeakKb, 0u);
  EXPECT_FALSE(End.Interrupted);
  EXPECT_TRUE(TheRing.used());
}

TEST_F(SupervisorTest, ReportsSignal) {
  launch::ProcessEnd End = shell("kill -USR1 $$");
  EXPECT_TRUE(End.BySignal);
  EXPECT_EQ(End.Code, SIGUSR1);
}

TEST_F(SupervisorTest, KeepsTheFirstWordOfTheCommand) {
  std::string File = scratch("argv0");
  EXPECT_EQ(
      run({"sh", "-c", "tr '\\0' '\\n' </proc/$$/cmdline | head -n1 >" + File})
          .Code,
      0);
  EXPECT_EQ(waitFor(File), "sh\n");
}

TEST_F(SupervisorTest, ProgramSeesOnlyInheritedDescriptors) {
  std::string Native = scratch("fds-native"), File = scratch("fds");
  std::string List = "exec ls /proc/$$/fd >";
  // What the same shell sees when this process starts it without us.
  ASSERT_EQ(system((List + Native).c_str()), 0);
  ASSERT_EQ(shell(List + File).Code, 0);
  EXPECT_EQ(waitFor(File), waitFor(Native));
}

TEST_F(SupervisorTest, ProgramHasTheOldSignalState) {
  // Nothing was blocked or ignored before (DefaultSignals).
  std::string File = scratch("signals");
  ASSERT_EQ(
      run({"sh", "-c", "grep -E 'SigBlk|SigIgn' /proc/self/status >" + File})
          .Code,
      0);
  std::string Text = waitFor(File);
  EXPECT_NE(Text.find("SigBlk:\t0000000000000000"), std::string::npos) << Text;
  EXPECT_NE(Text.find("SigIgn:\t0000000000000000"), std::string::npos) << Text;
}

TEST_F(SupervisorTest, EnvironmentIsUnchanged) {
  std::string Native = scratch("env-native"), File = scratch("env");
  ASSERT_EQ(system(("exec env >" + Native).c_str()), 0);
  ASSERT_EQ(shell("exec env >" + File).Code, 0);
  EXPECT_EQ(waitFor(File), waitFor(Native));
}

TEST_F(SupervisorTest, MissingRecorderIsOurFailure) {
  launch::RecorderCommand Command;
  Command.Tool = "/nonexistent/recorder";
  Command.RingDescriptor = TheRing.descriptor();
  Command.LogDescriptor = Log.descriptor();
  Command.Program = {"true"};
  Error E = S->start(Command);
  ASSERT_TRUE(bool(E));
  handleAllErrors(std::move(E), [](const launch::LaunchError &L) {
    EXPECT_EQ(L.status(), launch::StatusOurFailure);
    EXPECT_EQ(L.message(),
              "cannot execute the recorder "
              "'/nonexistent/recorder': No such file or directory");
  });
}

TEST_F(SupervisorTest, RecorderThatFailsLeavesItsMessageAndAnUnusedRing) {
  setenv("FAKE_RECORDER_FAILS", "126", 1);
  launch::ProcessEnd End = run({"true"});
  unsetenv("FAKE_RECORDER_FAILS");
  EXPECT_EQ(End.Code, 126);
  EXPECT_FALSE(TheRing.used());
  EXPECT_EQ(Log.messages(), std::vector<std::string>{"true: cannot be loaded"});
}

TEST_F(SupervisorTest, PassesTerminationOn) {
  launch::ProcessEnd End = whileItRuns("trap 'exit 5' TERM", Forever,
                                       [] { kill(getpid(), SIGTERM); });
  EXPECT_FALSE(End.BySignal);
  EXPECT_EQ(End.Code, 5);
}

TEST_F(SupervisorTest, SecondInterruptEndsTheRecording) {
  // Survives interrupts, so only we can end it.
  launch::ProcessEnd End = whileItRuns("trap '' INT", Forever, [&] {
    interruptTwice();
    if (!waitUntil([&] { return C.Ends != 0; }))
      kill(S->process(), SIGKILL);
    C.Ended = true;
  });
  EXPECT_TRUE(End.Interrupted);
  EXPECT_TRUE(End.BySignal);
  EXPECT_EQ(End.Code, SIGKILL);
  EXPECT_EQ(C.Interrupts, 1u);
  EXPECT_EQ(C.Ends, 1u);
}

TEST_F(SupervisorTest, KillsAProgramWhoseRecorderDoesNotAnswer) {
  launch::ProcessEnd End =
      whileItRuns("trap '' INT", Forever, [&] { interruptTwice(); });
  EXPECT_TRUE(End.Interrupted);
  EXPECT_FALSE(C.Ended);
}

TEST_F(SupervisorTest, OneInterruptIsTheProgramsBusiness) {
  launch::ProcessEnd End =
      whileItRuns("trap 'exit 6' INT", Forever, [] { kill(getpid(), SIGINT); });
  EXPECT_EQ(End.Code, 6);
  EXPECT_FALSE(End.Interrupted);
  EXPECT_EQ(C.Ends, 0u);
}

TEST_F(SupervisorTest, SignalsFromProgramsAreNoInterrupts) {
  // A program may send itself any number of them.
  launch::ProcessEnd End = whileItRuns("trap 'N=$((N+1))' INT; N=0",
                                       "while test $N -lt 3; do sleep 0.05; "
                                       "done; exit 6",
                                       [&] {
                                         for (int I = 0; I < 60; ++I) {
                                           kill(getpid(), SIGINT);
                                           usleep(20000);
                                         }
                                       });
  EXPECT_EQ(End.Code, 6);
  EXPECT_EQ(C.Interrupts, 0u);
}

TEST_F(SupervisorTest, TicksOnlyWhenAsked) {
  auto Start = std::chrono::steady_clock::now();
  // Ends at the third.
  C.AtTick = [this] {
    if (C.Ticks == 3)
      kill(S->process(), SIGTERM);
  };
  cantFail(start({"sleep", "1000"}));
  S->wait(C, std::chrono::milliseconds(50));
  auto Elapsed = std::chrono::steady_clock::now() - Start;
  EXPECT_GE(C.Ticks, 3u);
  EXPECT_LE(C.Ticks, Elapsed / std::chrono::milliseconds(50));
  C.Ticks = 0;
  run({"sleep", "0.1"});
  EXPECT_EQ(C.Ticks, 0u);
}

TEST(SupervisorStartTest, WorksWithIgnoredChildSignal) {
  struct sigaction Ignore = {}, Old;
  Ignore.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &Ignore, &Old);
  EXPECT_EQ(superviseScript("exit 8").Code, 8);
  // Given back when the supervisor is gone.
  struct sigaction Now;
  sigaction(SIGCHLD, nullptr, &Now);
  EXPECT_EQ(Now.sa_handler, SIG_IGN);
  sigaction(SIGCHLD, &Old, nullptr);
}

/// Runs Script under a supervisor in a process of its own, which leads a
/// process group. The group is not orphaned, because this process is in another
/// one.
pid_t supervise(const std::string &Script) {
  pid_t Child = fork();
  if (Child != 0)
    return Child;
  setpgid(0, 0);
  launch::endAs(superviseScript(Script));
}

void waitForFile(const std::string &Path) {
  for (int I = 0; I < 30000 && access(Path.c_str(), F_OK) != 0; ++I)
    usleep(10000);
}

TEST(SuspendTest, StopsAndContinuesWithTheProgram) {
  std::string Ready =
      testing::TempDir() + "/suspend." + std::to_string(getpid());
  std::string GoOn = Ready + ".on";
  unlink(Ready.c_str());
  unlink(GoOn.c_str());
  pid_t Child = supervise("echo >" + Ready + "; until test -e " + GoOn +
                          "; do sleep 0.05; done; exit 9");
  waitForFile(Ready);
  kill(Child, SIGTSTP);
  int Status;
  ASSERT_EQ(waitpid(Child, &Status, WUNTRACED), Child);
  ASSERT_TRUE(WIFSTOPPED(Status));
  EXPECT_EQ(WSTOPSIG(Status), SIGTSTP);
  std::ofstream(GoOn) << '\n';
  usleep(1000000); // longer than the program needs if it is not stopped
  EXPECT_EQ(waitpid(Child, &Status, WUNTRACED | WNOHANG), 0);
  kill(Child, SIGCONT);
  ASSERT_EQ(waitpid(Child, &Status, WUNTRACED), Child);
  ASSERT_TRUE(WIFEXITED(Status));
  EXPECT_EQ(WEXITSTATUS(Status), 9);
}

TEST(SuspendTest, GoesOnWhenAnotherProcessContinuesTheProgram) {
  pid_t Child =
      supervise("(sleep 0.3; kill -CONT $$) & kill -STOP $$; wait; exit 9");
  int Status;
  ASSERT_EQ(waitpid(Child, &Status, WUNTRACED), Child);
  ASSERT_TRUE(WIFSTOPPED(Status));
  EXPECT_EQ(WSTOPSIG(Status), SIGSTOP);
  ASSERT_EQ(waitpid(Child, &Status, WUNTRACED), Child);
  ASSERT_TRUE(WIFEXITED(Status));
  EXPECT_EQ(WEXITSTATUS(Status), 9);
}

TEST(SuspendTest, AProgramThatIgnoresItGoesOn) {
  std::string Ready =
      testing::TempDir() + "/ignore." + std::to_string(getpid());
  unlink(Ready.c_str());
  pid_t Child =
      supervise("trap '' TSTP; echo >" + Ready + "; sleep 0.5; exit 9");
  waitForFile(Ready);
  kill(Child, SIGTSTP);
  int Status;
  ASSERT_EQ(waitpid(Child, &Status, WUNTRACED), Child);
  ASSERT_TRUE(WIFEXITED(Status));
  EXPECT_EQ(WEXITSTATUS(Status), 9);
}

/// How a child that calls Body ends.
template <typename Function> int statusOf(Function Body) {
  pid_t Child = fork();
  if (Child == 0) {
    Body();
    _exit(250);
  }
  int Status = 0;
  waitpid(Child, &Status, 0);
  return Status;
}

TEST(EndAsTest, SameStatus) {
  int Status = statusOf([] { launch::endAs({false, 42, 0, false}); });
  ASSERT_TRUE(WIFEXITED(Status));
  EXPECT_EQ(WEXITSTATUS(Status), 42);
}

TEST(EndAsTest, SameSignalWithoutCore) {
  for (int Signal : {SIGSEGV, SIGABRT, SIGTERM, SIGKILL, SIGPIPE}) {
    int Status = statusOf([&] {
      signal(Signal, SIG_IGN);
      launch::endAs({true, Signal, 0, false});
    });
    ASSERT_TRUE(WIFSIGNALED(Status)) << Signal;
    EXPECT_EQ(WTERMSIG(Status), Signal);
    EXPECT_FALSE(WCOREDUMP(Status));
  }
}

TEST(EndAsTest, InterruptedEndsByInterrupt) {
  int Status = statusOf([] { launch::endAs({true, SIGKILL, 0, true}); });
  ASSERT_TRUE(WIFSIGNALED(Status));
  EXPECT_EQ(WTERMSIG(Status), SIGINT);
}

TEST(ReserveStandardStreamsTest, FillsTheGapsWithoutPassingThemOn) {
  int Status = statusOf([] {
    close(0);
    close(2);
    launch::reserveStandardStreams();
    int Next = open("/dev/null", O_RDONLY);
    bool Good = Next > 2 && (fcntl(0, F_GETFD) & FD_CLOEXEC) &&
                (fcntl(2, F_GETFD) & FD_CLOEXEC) &&
                !(fcntl(1, F_GETFD) & FD_CLOEXEC);
    _exit(Good ? 0 : 1);
  });
  ASSERT_TRUE(WIFEXITED(Status));
  EXPECT_EQ(WEXITSTATUS(Status), 0);
}

} // namespace
