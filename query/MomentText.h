// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Moments of a run as people write them. groupedDigits() writes them.

#ifndef CHRONICLE_QUERY_MOMENTTEXT_H
#define CHRONICLE_QUERY_MOMENTTEXT_H

#include "query/Trace.h"

namespace chronicle::query {

/// A number as people write it: 1234567, 1,234,567 or 0x12d687. Nothing: it is
/// none. Commas must stand between groups of three digits.
std::optional<uint64_t> parseNumber(llvm::StringRef Text);

/// The moment that a text names: a timestamp (a number as parseNumber takes
/// it), a share of the run ("99.8%"), "start", "end", or "crash", which is the
/// end of a run that a signal ended; if Now is given, also "+n" and "-n"
/// instructions from Now, which stop at the ends of the run. Nothing: the text
/// has none of these forms. Fails if the run has no such moment.
llvm::Expected<std::optional<Timestamp>>
parseMoment(const Trace &T, llvm::StringRef Text,
            std::optional<Timestamp> Now = std::nullopt);

/// The sentence about a text for which parseMoment() returns nothing. More
/// names what the caller takes besides what parseMoment() takes without Now.
llvm::Error invalidMoment(llvm::StringRef Text, llvm::StringRef More = "");

} // namespace chronicle::query

#endif
