// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares symbols with what the dynamic linker and the compiler say: the
// library is loaded into the test, so dlsym knows the addresses and __LINE__
// the lines.

#include "query/symbols/Symbols.h"
#include "query/symbols/SymbolNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <thread>

using namespace llvm;
using namespace chronicle;

namespace {

std::string input(StringRef Name) { return (SYMBOLS_INPUTS "/" + Name).str(); }

std::string buildIdOf(StringRef Path) {
  auto File = object::ObjectFile::createObjectFile(Path);
  if (!File) {
    ADD_FAILURE() << toString(File.takeError());
    return "";
  }
  return toHex(object::getBuildID(File->getBinary()), /*LowerCase=*/true);
}

/// A library in this process, as a trace would describe it.
class Loaded {
public:
  explicit Loaded(StringRef Name) : Path(input(Name)) {
    Handle = dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!Handle) {
      ADD_FAILURE() << dlerror();
      return;
    }
    link_map *Map = nullptr;
    dlinfo(Handle, RTLD_DI_LINKMAP, static_cast<void *>(&Map));
    Load.Info = {Path, Map->l_addr, 1 << 20, buildIdOf(Path)};
    Load.Bias = Map->l_addr;
    Load.Loaded = 100;
    Load.Unloaded = 200;
    call<int(int)>("use_everything")(1);
  }
  ~Loaded() {
    if (Handle)
      dlclose(Handle);
  }
  uint64_t address(const char *Name) const {
    void *Found = dlsym(Handle, Name);
    EXPECT_NE(Found, nullptr) << Name;
    return reinterpret_cast<uint64_t>(Found);
  }
  template <class F> F *call(const char *Name) const {
    return reinterpret_cast<F *>(address(Name));
  }
  unsigned line(const char *Name) const {
    return *reinterpret_cast<unsigned *>(address(Name));
  }

  std::string Path;
  state::ModuleLoad Load;

private:
  void *Handle = nullptr;
};

constexpr const char *Area = "_ZN6shapes6Circle4areaEi";

void expectNoWarnings(const symbols::Symbols &S) {
  for (const std::string &W : S.warnings())
    ADD_FAILURE() << W;
}

/// The same questions for both versions of DWARF.
class SymbolsTest : public testing::TestWithParam<const char *> {};

TEST_P(SymbolsTest, CodeHasFunctionFileAndLine) {
  Loaded L(GetParam());
  symbols::Symbols S({L.Load}, {{}});
  uint64_t Entry = L.address(Area);
  std::optional<symbols::CodeSymbol> Found = S.find(Entry, 100);
  ASSERT_TRUE(Found);
  ASSERT_EQ(Found->Frames.size(), 1u);
  EXPECT_EQ(Found->Frames[0].Function, "shapes::Circle::area(int)");
  EXPECT_EQ(Found->Frames[0].LinkageName, Area);
  EXPECT_EQ(sys::path::filename(Found->Frames[0].File), "symbols.cpp");
  EXPECT_TRUE(sys::path::is_absolute(Found->Frames[0].File));
  EXPECT_EQ(Found->Frames[0].Line, L.line("area_line"));
  EXPECT_EQ(Found->FunctionAddress, Entry);
  std::optional<symbols::CodeSymbol> Later = S.find(Entry + 2, 100);
  ASSERT_TRUE(Later);
  EXPECT_EQ(Later->FunctionAddress, Entry);
  expectNoWarnings(S);
}

TEST_P(SymbolsTest, ModulesComeAndGo) {
  Loaded L(GetParam());
  symbols::Symbols S({L.Load}, {{}});
  uint64_t Entry = L.address(Area);
  EXPECT_FALSE(S.find(Entry, 99));
  EXPECT_TRUE(S.find(Entry, 199));
  EXPECT_FALSE(S.find(Entry, 200));
  EXPECT_FALSE(S.find(L.Load.Info.Address - 1, 100));
}

TEST_P(SymbolsTest, InlinedCallsAreFrames) {
  Loaded L(GetParam());
  symbols::Symbols S({L.Load}, {{}});
  std::optional<symbols::CodeSymbol> Found =
      S.find(L.address("inlined_here"), 100);
  ASSERT_TRUE(Found);
  ASSERT_EQ(Found->Frames.size(), 2u);
  EXPECT_EQ(Found->Frames[0].Function, "inlined");
  EXPECT_EQ(Found->Frames[0].Line, L.line("inlined_line"));
  EXPECT_EQ(Found->Frames[1].Function, "outer");
  EXPECT_EQ(Found->Frames[1].Line, L.line("outer_line"));
  EXPECT_EQ(Found->FunctionAddress, L.address("outer"));
}

TEST_P(SymbolsTest, LinesHaveAddresses) {
  Loaded L(GetParam());
  symbols::Symbols S({L.Load}, {{}});
  std::vector<symbols::LineAt> Found =
      S.lines("symbols.cpp", L.line("area_line"));
  ASSERT_FALSE(Found.empty());
  EXPECT_TRUE(any_of(Found, [&](const symbols::LineAt &At) {
    return At.Code.Address == L.address(Area);
  }));
  // Each of the addresses must be of that line.
  for (const symbols::LineAt &At : Found) {
    std::optional<symbols::CodeSymbol> Code = S.find(At.Code.Address, 100);
    ASSERT_TRUE(Code);
    EXPECT_EQ(Code->Frames[0].Line, L.line("area_line"));
    EXPECT_GT(At.Code.Size, 0u);
  }
  uint64_t Here = L.address("inlined_here");
  EXPECT_TRUE(any_of(S.lines("unit/Inputs/symbols.cpp", L.line("inlined_line")),
                     [&](const symbols::LineAt &At) {
                       return Here - At.Code.Address < At.Code.Size;
                     }));
  // A line without code stands for the next line with some.
  std::vector<symbols::LineAt> Comment = S.lines("symbols.cpp", 1);
  ASSERT_FALSE(Comment.empty());
  EXPECT_GT(Comment[0].Code.Line, 1u);
  EXPECT_LE(Comment[0].Code.Line, L.line("area_line"));
  EXPECT_TRUE(S.lines("symbols.cpp", 100000).empty());
  EXPECT_TRUE(S.lines("ymbols.cpp", 20).empty());
}

std::vector<uint64_t> addresses(const std::vector<symbols::SymbolAt> &Found) {
  std::vector<uint64_t> Result;
  for (const symbols::SymbolAt &S : Found)
    Result.push_back(S.Address);
  llvm::sort(Result);
  return Result;
}

TEST_P(SymbolsTest, FunctionsByName) {
  Loaded L(GetParam());
  symbols::Symbols S({L.Load}, {{}});
  std::vector<uint64_t> AreaOnly = {L.address(Area)};
  for (const char *Name : {Area, "shapes::Circle::area(int)",
                           "shapes::Circle::area", "Circle::area", "area"})
    EXPECT_EQ(addresses(S.functions(Name)), AreaOnly) << Name;
  std::vector<uint64_t> Both = {L.address("_ZN6shapes10overloadedEi"),
                                L.address("_ZN6shapes10overloadedEd")};
  llvm::sort(Both);
  EXPECT_EQ(addresses(S.functions("shapes::overloaded")), Both);
  EXPECT_EQ(addresses(S.functions("shapes::overloaded(double)")),
            std::vector{L.address("_ZN6shapes10overloadedEd")});
  EXPECT_EQ(S.functions("shapes::twice").size(), 2u);
  EXPECT_EQ(S.functions("shapes::twice<long>").size(), 1u);
  uint64_t Hidden =
      reinterpret_cast<uint64_t>(L.call<void *()>("address_of_hidden")());
  EXPECT_EQ(addresses(S.functions("hidden")), std::vector{Hidden});
  EXPECT_TRUE(S.functions("are").empty());
  EXPECT_TRUE(S.functions("").empty());
  EXPECT_TRUE(S.functions("no_such_function").empty());
  auto Matching = S.functionsMatching("shapes::over*");
  ASSERT_TRUE(bool(Matching));
  EXPECT_EQ(addresses(*Matching), Both);
  auto Bad = S.functionsMatching("[");
  EXPECT_FALSE(bool(Bad));
  consumeError(Bad.takeError());
}

TEST_P(SymbolsTest, GlobalsHaveSizes) {
  Loaded L(GetParam());
  symbols::Symbols S({L.Load}, {{}});
  std::vector<symbols::SymbolAt> Found = S.globals("counter");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Address, L.address("counter"));
  EXPECT_EQ(Found[0].Size, sizeof(long));
  Found = S.globals("shapes::totals");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Address, L.address("_ZN6shapes6totalsE"));
  EXPECT_EQ(Found[0].Size, 4 * sizeof(int));
  EXPECT_EQ(Found[0].Name, "shapes::totals");
  std::optional<symbols::SymbolAt> Inside =
      S.findGlobal(Found[0].Address + 5, 100);
  ASSERT_TRUE(Inside);
  EXPECT_EQ(Inside->Name, "shapes::totals");
  EXPECT_FALSE(S.findGlobal(Found[0].Address + 5, 200));
  Found = S.globals("per_thread");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].ThreadLocal);
}

TEST_P(SymbolsTest, StubsAreNamedAfterTheirTargets) {
  Loaded L(GetParam());
  symbols::Symbols S({L.Load}, {{}});
  // `use_everything` calls `outer` through the linkage table.
  auto Stubs = S.functionsMatching("outer@plt");
  ASSERT_TRUE(bool(Stubs));
  ASSERT_EQ(Stubs->size(), 1u);
  std::optional<symbols::CodeSymbol> Stub = S.find((*Stubs)[0].Address, 100);
  ASSERT_TRUE(Stub);
  EXPECT_EQ(Stub->Frames[0].Function, "outer@plt");
  EXPECT_EQ(S.functions("outer").size(), 1u);
}

TEST_P(SymbolsTest, ManyThreadsAtOnce) {
  Loaded L(GetParam());
  symbols::Symbols S({L.Load}, {{}});
  std::atomic<unsigned> Right{0};
  std::vector<std::thread> Threads;
  for (unsigned I = 0; I < 8; ++I)
    Threads.emplace_back([&] {
      std::optional<symbols::CodeSymbol> Found =
          S.find(L.address("inlined_here"), 100);
      if (Found && Found->Frames.size() == 2 && S.functions("area").size() == 1)
        ++Right;
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(Right, 8u);
}

INSTANTIATE_TEST_SUITE_P(Dwarf, SymbolsTest,
                         testing::Values("symbols-4.so", "symbols-5.so",
                                         "symbols-compressed.so"));

// ---- separate and missing debug info ----

void expectFullSymbols(const symbols::Symbols &S, const Loaded &L) {
  std::optional<symbols::CodeSymbol> Found =
      S.find(L.address("inlined_here"), 100);
  ASSERT_TRUE(Found);
  ASSERT_EQ(Found->Frames.size(), 2u);
  EXPECT_EQ(Found->Frames[0].Line, L.line("inlined_line"));
  EXPECT_EQ(S.functions("hidden").size(), 1u);
  expectNoWarnings(S);
}

TEST(SeparateSymbolsTest, StrippedHasDynamicSymbolsOnly) {
  Loaded L("symbols-stripped.so");
  symbols::Symbols S({L.Load}, {{}});
  std::optional<symbols::CodeSymbol> Found = S.find(L.address(Area) + 1, 100);
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Frames[0].Function, "shapes::Circle::area(int)");
  EXPECT_EQ(Found->Frames[0].File, "");
  EXPECT_EQ(S.functions("shapes::Circle::area").size(), 1u);
  EXPECT_EQ(S.globals("counter").size(), 1u);
  EXPECT_TRUE(S.functions("hidden").empty());
  EXPECT_TRUE(S.lines("symbols.cpp", 20).empty());
  expectNoWarnings(S);
}

/// Where a debug file is looked for under a directory.
std::string debugFileOf(StringRef Id) {
  return (".build-id/" + Id.take_front(2) + "/" + Id.drop_front(2) + ".debug")
      .str();
}

/// A directory that is removed after the test.
class Directory {
public:
  Directory() {
    EXPECT_FALSE(sys::fs::createUniqueDirectory("symbols-test", Path));
  }
  ~Directory() { (void)sys::fs::remove_directories(Path); }
  void copy(const std::string &From, const Twine &To) {
    std::string Name = (Path + "/" + To).str();
    EXPECT_FALSE(sys::fs::create_directories(sys::path::parent_path(Name)));
    EXPECT_FALSE(sys::fs::copy_file(From, Name));
  }
  std::string str() const { return std::string(Path); }

private:
  SmallString<64> Path;
};

TEST(SeparateSymbolsTest, DebugFileByBuildId) {
  Loaded L("symbols-stripped.so");
  Directory D;
  StringRef Id = L.Load.Info.BuildId;
  ASSERT_GT(Id.size(), 2u);
  D.copy(input("symbols.debug"), debugFileOf(Id));
  symbols::Symbols S({L.Load}, {{"/nonexistent", D.str()}});
  expectFullSymbols(S, L);
}

TEST(SeparateSymbolsTest, DebugFileOfAnotherBuildIsRefused) {
  Loaded L("symbols-stripped.so");
  Directory D;
  StringRef Id = L.Load.Info.BuildId;
  D.copy(input("symbols-4.so"), debugFileOf(Id));
  symbols::Symbols S({L.Load}, {{D.str()}});
  std::optional<symbols::CodeSymbol> Found = S.find(L.address(Area), 100);
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Frames[0].File, "");
  ASSERT_EQ(S.warnings().size(), 1u);
  EXPECT_NE(S.warnings()[0].find("another build id"), std::string::npos);
}

TEST(SeparateSymbolsTest, DebugLink) {
  Loaded L("symbols-linked.so");
  symbols::Symbols S({L.Load}, {{}});
  expectFullSymbols(S, L);
}

TEST(SeparateSymbolsTest, DebugLinkWithWrongChecksumIsRefused) {
  Loaded L("symbols-linked.so");
  Directory D;
  D.copy(L.Path, "symbols-linked.so");
  // The name that the link asks for, with other contents.
  D.copy(input("symbols-4.so"), "symbols.debug");
  L.Load.Info.Path = D.str() + "/symbols-linked.so";
  symbols::Symbols S({L.Load}, {{}});
  EXPECT_TRUE(S.lines("symbols.cpp", 20).empty());
  ASSERT_EQ(S.warnings().size(), 1u);
  EXPECT_NE(S.warnings()[0].find("checksum"), std::string::npos);
}

TEST(SeparateSymbolsTest, OnlyTheDebugFileIsLeft) {
  Loaded L("symbols-stripped.so");
  Directory D;
  StringRef Id = L.Load.Info.BuildId;
  D.copy(input("symbols.debug"), debugFileOf(Id));
  L.Load.Info.Path = "/nonexistent/symbols.so";
  symbols::Symbols S({L.Load}, {{D.str()}});
  std::optional<symbols::CodeSymbol> Found =
      S.find(L.address("inlined_here"), 100);
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Frames.size(), 2u);
  ASSERT_EQ(S.warnings().size(), 1u);
  EXPECT_NE(S.warnings()[0].find("/nonexistent/symbols.so"), std::string::npos);
}

TEST(SeparateSymbolsTest, AnotherBuildIsNeverUsed) {
  Loaded L("symbols-5.so");
  L.Load.Info.BuildId = "0123456789012345678901234567890123456789";
  symbols::Symbols S({L.Load}, {{}});
  std::optional<symbols::CodeSymbol> Found = S.find(L.address(Area), 100);
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Frames.size(), 1u);
  EXPECT_EQ(Found->Frames[0].Function, "");
  EXPECT_TRUE(S.functions("shapes::Circle::area").empty());
  EXPECT_TRUE(S.globals("counter").empty());
  ASSERT_EQ(S.warnings().size(), 1u);
  EXPECT_NE(S.warnings()[0].find("not the file that was recorded"),
            std::string::npos);
}

TEST(SeparateSymbolsTest, WhatIsNoElfFileIsSaid) {
  Loaded L("symbols-5.so");
  L.Load.Info.Path = "/etc/passwd";
  symbols::Symbols S({L.Load}, {{}});
  EXPECT_TRUE(S.find(L.address(Area), 100));
  ASSERT_EQ(S.warnings().size(), 1u);
  EXPECT_NE(S.warnings()[0].find("/etc/passwd"), std::string::npos);
}

// ---- names ----

TEST(SymbolNamesTest, SourceNames) {
  EXPECT_EQ(symbols::sourceName("main"), "main");
  EXPECT_EQ(symbols::sourceName("transfer.isra.0"), "transfer");
  EXPECT_EQ(symbols::sourceName("_Z3addii.constprop.0"), "add(int, int)");
  EXPECT_EQ(symbols::sourceName("write@plt"), "write@plt");
  EXPECT_EQ(symbols::sourceNameWithoutArguments("_ZN1a1bEi"), "a::b");
}

TEST(SymbolNamesTest, Matching) {
  auto Fits = [](StringRef Name, StringRef Linkage, bool Unqualified = false) {
    return symbols::NameMatcher(Name, Unqualified)(Linkage);
  };
  EXPECT_TRUE(Fits("transfer", "transfer.isra.0"));
  EXPECT_FALSE(Fits("transfer", "transfer.cold"));
  EXPECT_FALSE(Fits("transfer", "transfer.part.0"));
  EXPECT_TRUE(Fits("transfer.part.0", "transfer.part.0"));
  EXPECT_FALSE(Fits("b", "_ZN1a1bEi"));
  EXPECT_TRUE(Fits("b", "_ZN1a1bEi", true));
  EXPECT_TRUE(Fits("a::b", "_ZN1a1bEi"));
  EXPECT_TRUE(Fits("std::operator<<", "_ZStlsRSoi"));
  EXPECT_TRUE(Fits("(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEv"));
  EXPECT_TRUE(Fits("f", "_ZN12_GLOBAL__N_11fEv", true));
  EXPECT_FALSE(Fits("a", "_ZN1a1bEi", true));
  // A static variable of a function.
  EXPECT_TRUE(Fits("Count", "Count.0"));
}

} // namespace
