// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/VariablePlace.h"
#include "query/questions/QueryError.h"
#include "query/symbols/Symbols.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::questions {

/// Whether both are the same variable.
static bool areSame(const symbols::SymbolAt &A, const symbols::SymbolAt &B) {
  return A.Address == B.Address && A.ThreadLocal == B.ThreadLocal &&
         (!A.ThreadLocal || A.Module == B.Module);
}

static Expected<symbols::SymbolAt>
globalNamed(const query::Trace &T, StringRef Name, answers::TimeRange When) {
  std::optional<symbols::SymbolAt> Found;
  for (const symbols::SymbolAt &S : T.symbols().globals(Name)) {
    if (S.Module->Loaded > When.Last || S.Module->Unloaded <= When.First)
      continue;
    if (Found && !areSame(*Found, S))
      return queryError(
          "bad-argument",
          formatv("several variables are called '{0}', at {1:x} and {2:x}: "
                  "give an address",
                  Name, Found->Address, S.Address)
              .str());
    Found = S;
  }
  if (!Found)
    return queryError("not-found",
                      "no variable is called '" + Name +
                          "' in the modules whose symbols could be read");
  return *Found;
}

static Expected<uint64_t> addressOf(const query::Trace &T,
                                    const symbols::SymbolAt &S, uint32_t Thread,
                                    Timestamp At) {
  if (!S.ThreadLocal)
    return S.Address;
  if (!Thread) {
    Expected<uint32_t> Running = T.threadAt(At);
    if (!Running)
      return Running.takeError();
    Thread = *Running;
  }
  Expected<uint64_t> Address = T.threadLocalAddress(S, Thread, At);
  if (!Address)
    return queryError("not-found", toString(Address.takeError()));
  return Address;
}

Expected<answers::AddressRange> findVariable(const query::Trace &T,
                                             const VariableName &Variable,
                                             answers::TimeRange When,
                                             Timestamp At) {
  Expected<symbols::SymbolAt> Symbol = globalNamed(T, Variable.Name, When);
  if (!Symbol)
    return Symbol.takeError();
  const uint64_t Size = std::max<uint64_t>(Symbol->Size, 1);
  const uint64_t Offset = Variable.Offset;
  const uint64_t Length =
      Variable.Length.value_or(Size - std::min(Offset, Size));
  if (Offset >= Size || Length == 0 || Length > Size - Offset)
    return queryError("bad-argument",
                      "'" + Variable.Name + "' has " + Twine(Size) +
                          " bytes; 'offset' and 'length' do not fit into it");
  Expected<uint64_t> Address = addressOf(T, *Symbol, Variable.Thread, At);
  if (!Address)
    return Address.takeError();
  uint64_t First = *Address + Offset;
  return answers::AddressRange{First, First + Length - 1};
}

} // namespace chronicle::questions
