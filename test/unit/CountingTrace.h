// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The counting run, recorded and opened: three instructions at 0x1000, 0x1004
/// and 0x1008, over and over.

#ifndef CHRONICLE_TEST_UNIT_COUNTINGTRACE_H
#define CHRONICLE_TEST_UNIT_COUNTINGTRACE_H

#include "CountingRun.h"
#include "query/Trace.h"

namespace chronicle {

class CountingTraceTest : public CountingRunTest {
protected:
  static constexpr unsigned Blocks = 12, PerBlock = 30;
  static constexpr Timestamp End = 3 * Blocks * PerBlock;

  void SetUp() override {
    CountingRunTest::SetUp();
    CountingRun Run;
    Run.Blocks = Blocks;
    Run.PerBlock = PerBlock;
    record(Run);
    llvm::Expected<std::unique_ptr<query::Trace>> Opened =
        query::Trace::open(Path);
    ASSERT_TRUE(bool(Opened)) << llvm::toString(Opened.takeError());
    T = std::move(*Opened);
    ASSERT_EQ(T->instructions(), End);
  }

  static uint64_t pcAt(Timestamp Time) { return 0x1000 + 4 * (Time % 3); }

  std::unique_ptr<query::Trace> T;
  answers::Cancellation Cancel;
};

} // namespace chronicle

#endif
