// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/heap/Allocators.h"

using namespace llvm;

namespace chronicle::heap {

std::vector<AllocatorFunction> standardAllocators() {
  using Kind = AllocatorKind;
  std::vector<AllocatorFunction> All = {
      {"malloc", "malloc", Kind::Size},
      {"calloc", "calloc", Kind::CountSize},
      {"realloc", "realloc", Kind::Resize},
      {"reallocarray", "reallocarray", Kind::ResizeCount},
      {"aligned_alloc", "aligned_alloc", Kind::AlignSize},
      {"memalign", "memalign", Kind::AlignSize},
      {"posix_memalign", "posix_memalign", Kind::StoreAligned},
      {"valloc", "valloc", Kind::Size},
      {"pvalloc", "pvalloc", Kind::Size},
      {"free", "free", Kind::Free},
  };
  // (size), then what else the forms take; (block) and what else.
  for (StringRef Rest : {"", "RKSt9nothrow_t", "St11align_val_t",
                         "St11align_val_tRKSt9nothrow_t"}) {
    All.push_back({"operator new", ("_Znwm" + Rest).str(), Kind::Size});
    All.push_back({"operator new[]", ("_Znam" + Rest).str(), Kind::Size});
  }
  for (StringRef Rest : {"", "m", "RKSt9nothrow_t", "St11align_val_t",
                         "mSt11align_val_t", "St11align_val_tRKSt9nothrow_t"}) {
    All.push_back({"operator delete", ("_ZdlPv" + Rest).str(), Kind::Free});
    All.push_back({"operator delete[]", ("_ZdaPv" + Rest).str(), Kind::Free});
  }
  return All;
}

Expected<std::vector<AllocatorFunction>> allocatorPair(StringRef Text) {
  // C++ names have colons themselves.
  size_t At = 0;
  do {
    At = Text.find(':', At);
    if (At == StringRef::npos)
      break;
    const bool Single =
        Text.substr(At + 1, 1) != ":" && (At == 0 || Text[At - 1] != ':');
    if (Single)
      break;
    At += 2;
  } while (true);
  if (At == StringRef::npos || At == 0 || At + 1 == Text.size())
    return createStringError("invalid allocator '" + Text +
                             "': expected two functions, as in "
                             "my_alloc:my_free");
  StringRef Allocate = Text.take_front(At), Free = Text.drop_front(At + 1);
  return std::vector<AllocatorFunction>{
      {Allocate.str(), Allocate.str(), AllocatorKind::Size},
      {Free.str(), Free.str(), AllocatorKind::Free}};
}

DenseMap<uint64_t, uint16_t>
allocatorEntries(const symbols::Symbols &Names,
                 ArrayRef<AllocatorFunction> Functions) {
  DenseMap<uint64_t, uint16_t> Entries;
  for (size_t I = 0; I < Functions.size(); ++I)
    for (const symbols::SymbolAt &S :
         Names.functions(Functions[I].LinkageName)) {
      // A search by name also finds members of classes.
      StringRef Source = StringRef(S.Name).split('(').first;
      if (S.Indirect || (S.LinkageName != Functions[I].LinkageName &&
                         Source != Functions[I].LinkageName))
        continue;
      Entries.try_emplace(S.Address, uint16_t(I));
    }
  return Entries;
}

} // namespace chronicle::heap
