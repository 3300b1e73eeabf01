// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// micro-benchmarks [--benchmark_filter=REGEX] ...: Google Benchmark's options,
// listed by --help. Exit status: 0, or 1 if no benchmark has such a name, or
// the run they work on could not be recorded.

#include <benchmark/benchmark.h>

int main(int Argc, char **Argv) {
  benchmark::Initialize(&Argc, Argv);
  if (benchmark::ReportUnrecognizedArguments(Argc, Argv))
    return 1;
  const bool Ran = benchmark::RunSpecifiedBenchmarks() > 0;
  benchmark::Shutdown();
  return Ran ? 0 : 1;
}
