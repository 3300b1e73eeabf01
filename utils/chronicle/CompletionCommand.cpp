// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle completion`: prints completion scripts for shells.

#include "utils/chronicle/Help.h"
#include "utils/chronicle/Subcommand.h"
#include "utils/chronicle/manual/Completion.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command Completion(
    {.Name = "completion",
     .Summary = "print a completion script for bash or zsh",
     .Arguments = "bash | zsh",
     .Details =
         "An installed Chronicle needs no more than this: its scripts are "
         "where the shells look for them (for bash, if bash-completion is "
         "installed). A Chronicle that was not installed is completed after a "
         "line in ~/.bashrc, or in ~/.zshrc after compinit.",
     .Examples = "  source <(chronicle completion bash)\n"
                 "  source <(chronicle completion zsh)\n",
     .Statuses = {{"0", "The script was printed."},
                  {"2", "The shell is neither bash nor zsh."}},
     .Run = run,
     .Words = {"bash", "zsh"}});
static cl::opt<std::string> Shell(cl::Positional, cl::sub(Completion));

static int run(ArrayRef<const char *>) {
  if (Shell == "bash")
    manual::printBashCompletion(outs(), programText());
  else if (Shell == "zsh")
    manual::printZshCompletion(outs(), programText());
  else if (Shell.empty())
    return failUsage(Completion, "no shell given: expected bash or zsh");
  else
    return failUsage(Completion,
                     "unknown shell '" + Shell + "': expected bash or zsh");
  return 0;
}

} // namespace chronicle::cli
