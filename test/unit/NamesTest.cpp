// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How names are shortened. The long ones are from LLVM's demangler, by names
// that GCC and Clang gave to functions.

#include "query/symbols/ShortName.h"
#include "query/symbols/SymbolNames.h"
#include <gtest/gtest.h>

using namespace chronicle::symbols;

TEST(NamesTest, DefaultArgumentsAreLeftOut) {
  EXPECT_EQ(shortName("std::vector<Order, std::allocator<Order>>::push_back("
                      "Order&&)"),
            "std::vector<Order>::push_back(Order&&)");
  EXPECT_EQ(
      shortName("std::map<std::__cxx11::basic_string<char, "
                "std::char_traits<char>, std::allocator<char> >, int, "
                "std::less<std::__cxx11::basic_string<char, "
                "std::char_traits<char>, std::allocator<char> > >, "
                "std::allocator<std::pair<std::__cxx11::basic_string<char, "
                "std::char_traits<char>, std::allocator<char> > const, int> > "
                ">::find(int) const"),
      "std::map<std::string, int>::find(int) const");
  EXPECT_EQ(shortName("std::unique_ptr<int, std::default_delete<int>>"),
            "std::unique_ptr<int>");
  EXPECT_EQ(shortName("std::unordered_map<int, A, std::hash<int>, "
                      "std::equal_to<int>, std::allocator<std::pair<int const, "
                      "A>>>::clear()"),
            "std::unordered_map<int, A>::clear()");
  EXPECT_EQ(shortName("std::stack<int, std::deque<int, std::allocator<int>>>"),
            "std::stack<int>");
  EXPECT_EQ(shortName("std::__1::vector<int, std::__1::allocator<int>>"),
            "std::vector<int>");
}

TEST(NamesTest, OtherArgumentsStay) {
  for (llvm::StringRef Name :
       {"std::map<int, int, std::greater<int>>",
        "std::unique_ptr<int, std::default_delete<long>>",
        "std::stack<int, std::vector<int>>", "std::vector<int, Pool<int>>",
        "Mine::vector<int, std::allocator<int>>", "std::allocator<int>",
        "std::function<void (int, char)>::operator()(int, char) const",
        "operator<(A const&, A const&)", "A::operator->() const",
        "bool operator< <int>(A<int> const&)", "f<(E)1, 2>(int (*)(char, int))",
        "main::{lambda(int, int)#1}::operator()(int, int) const", "a < b, c",
        "x <- y", "broken<name", "write(1, \"a<b\", 3)", "", "<", ">"})
    EXPECT_EQ(shortName(Name), Name.str());
}

TEST(NamesTest, NamesOfTheLibrary) {
  EXPECT_EQ(shortName("std::operator<< <std::char_traits<char>>(std::basic_"
                      "ostream<char, std::char_traits<char>>&, char const*)"),
            "std::operator<< <std::char_traits<char>>(std::ostream&, char "
            "const*)");
  EXPECT_EQ(shortName("std::basic_string<wchar_t, std::char_traits<wchar_t>, "
                      "std::allocator<wchar_t>>"),
            "std::wstring");
  EXPECT_EQ(shortName("std::basic_string_view<char, std::char_traits<char>>"),
            "std::string_view");
  EXPECT_EQ(shortName("name[abi:cxx11](int)"), "name(int)");
  EXPECT_EQ(shortName("std::basic_string<Letter>"),
            "std::basic_string<Letter>");
}

/// Whoever reads a short name in a table may type it.
TEST(NamesTest, FoundByTheShortName) {
  const char *PushBack = "_ZNSt6vectorI5OrderSaIS0_EE9push_backEOS0_";
  EXPECT_EQ(shortName(sourceName(PushBack)),
            "std::vector<Order>::push_back(Order&&)");
  for (llvm::StringRef Name :
       {"std::vector<Order>::push_back",
        "std::vector<Order>::push_back(Order&&)",
        "std::vector<Order, std::allocator<Order>>::push_back",
        "std::vector<Order, std::allocator<Order> >::push_back(Order&&)"})
    EXPECT_TRUE(NameMatcher(Name, /*Unqualified=*/false)(PushBack))
        << Name.str();
  EXPECT_TRUE(NameMatcher("push_back", true)(PushBack));
  EXPECT_TRUE(NameMatcher("vector<Order>::push_back", true)(PushBack));
  for (llvm::StringRef Name :
       {"std::vector<int>::push_back", "std::vector<Order>::push_front",
        "std::vector<Order, Pool<Order>>::push_back"})
    EXPECT_FALSE(NameMatcher(Name, false)(PushBack)) << Name.str();
}
