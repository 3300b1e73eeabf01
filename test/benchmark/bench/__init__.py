# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program behind utils/bench. docs/performance.md explains what it measures."""
