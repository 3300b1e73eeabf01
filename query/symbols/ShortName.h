// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// C++ names as people say them.

#ifndef CHRONICLE_QUERY_SYMBOLS_SHORTNAME_H
#define CHRONICLE_QUERY_SYMBOLS_SHORTNAME_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace chronicle::symbols {

/// The text with its C++ names as their users write them: std::string for
/// std::__cxx11::basic_string<char, …>, std::vector<Order> for
/// std::vector<Order, std::allocator<Order>>. Leaves out a template argument
/// only if it is the default one of a class of the standard library, so that
/// different functions keep different names. Names in a longer text ("push_back
/// at stl_vector.h:1289") are shortened too, and all other text stays the same.
std::string shortName(llvm::StringRef Text);

} // namespace chronicle::symbols

#endif
