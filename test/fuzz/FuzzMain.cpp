// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a fuzzer:
//
//   fuzz-NAME [--seconds N] [--runs N] [--first SEED] file...
//
// Each input is one of the files after a change that depends on its seed. With
// --runs 0 the files are tried as they are. An input that crashes, hangs for a
// minute or takes more than 6 GB is written to crash-SEED, and ends the run.

#include "Fuzzer.h"
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

static std::vector<uint8_t> Input;
static unsigned Seed;

static void keepInput(int Signal) {
  char Name[32];
  std::snprintf(Name, sizeof(Name), "crash-%u", Seed);
  const int File = ::open(Name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (File >= 0 &&
      ::write(File, Input.data(), Input.size()) != ssize_t(Input.size()))
    std::fprintf(stderr, "%s is not complete\n", Name);
  std::fprintf(stderr, "signal %d with seed %u: see %s\n", Signal, Seed, Name);
  std::signal(Signal, SIG_DFL);
  std::raise(Signal);
}

int main(int Argc, char **Argv) {
  long Seconds = 0, Runs = -1, First = 1;
  std::vector<std::vector<uint8_t>> Seeds;
  for (int I = 1; I < Argc; ++I) {
    auto Number = [&](const char *Name, long &To) {
      if (std::strcmp(Argv[I], Name) != 0 || I + 1 == Argc)
        return false;
      To = std::atol(Argv[++I]);
      return true;
    };
    if (Number("--seconds", Seconds) || Number("--runs", Runs) ||
        Number("--first", First))
      continue;
    std::ifstream File(Argv[I], std::ios::binary);
    if (!File) {
      std::fprintf(stderr, "cannot read '%s'\n", Argv[I]);
      return 2;
    }
    Seeds.emplace_back(std::istreambuf_iterator<char>(File),
                       std::istreambuf_iterator<char>());
  }
  if (Seeds.empty()) {
    std::fprintf(stderr,
                 "usage: %s [--seconds N] [--runs N] [--first SEED] "
                 "file...\n",
                 Argv[0]);
    return 2;
  }
#ifndef __SANITIZE_ADDRESS__
  const rlimit Memory = {uint64_t(6) << 30, uint64_t(6) << 30};
  setrlimit(RLIMIT_AS, &Memory);
#endif
  for (int Signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM})
    std::signal(Signal, keepInput);
  for (const std::vector<uint8_t> &S : Seeds) {
    Input = S;
    LLVMFuzzerTestOneInput(Input.data(), Input.size());
  }
  const auto Start = std::chrono::steady_clock::now();
  long Done = 0;
  for (; Runs < 0 || Done < Runs; ++Done) {
    if (Seconds && std::chrono::steady_clock::now() - Start >
                       std::chrono::seconds(Seconds))
      break;
    Seed = unsigned(First + Done);
    Input = Seeds[Seed % Seeds.size()];
    const size_t Size = Input.size(), Most = 2 * Size + 4096;
    Input.resize(Most);
    Input.resize(LLVMFuzzerCustomMutator(Input.data(), Size, Most, Seed));
    alarm(60);
    LLVMFuzzerTestOneInput(Input.data(), Input.size());
  }
  std::printf("%ld inputs, %ld of them not refused at once, none harmful\n",
              Done, UsableInputs - long(Seeds.size()));
  return 0;
}
