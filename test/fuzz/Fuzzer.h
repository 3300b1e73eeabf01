// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What every fuzzer defines, with the names that libFuzzer gives it, and
/// FuzzMain.cpp calls.

#ifndef CHRONICLE_TEST_FUZZ_FUZZER_H
#define CHRONICLE_TEST_FUZZ_FUZZER_H

#include <cstddef>
#include <cstdint>

/// Inputs that were not refused at once. If they are few, the others test
/// little.
inline long UsableInputs = 0;

extern "C" {
/// Must not crash, hang or take much memory, whatever the bytes are.
int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size);
/// Changes Data, which has room for MaxSize bytes. Returns the new size.
size_t LLVMFuzzerCustomMutator(uint8_t *Data, size_t Size, size_t MaxSize,
                               unsigned Seed);
}

#endif
