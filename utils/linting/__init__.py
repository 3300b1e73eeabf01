# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What utils/lint checks; each module is one check."""
