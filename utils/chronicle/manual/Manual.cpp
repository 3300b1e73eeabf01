// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/manual/Manual.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle::manual {

std::vector<std::string> OptionText::spellings() const {
  std::vector<std::string> Result;
  if (!Letter.empty())
    Result.push_back(("-" + Letter).str());
  if (!Name.empty())
    Result.push_back(("--" + Name).str());
  return Result;
}

std::string OptionText::text() const {
  std::string Text = Meaning.str();
  for (size_t I = 0; I < Choices.size(); ++I) {
    Text += I == 0 ? ": " : I + 1 == Choices.size() ? " or " : ", ";
    Text += Choices[I].Name;
    if (!Choices[I].Meaning.empty())
      Text += (" (" + Choices[I].Meaning + ")").str();
  }
  return Text;
}

std::vector<std::string> paragraphs(StringRef Details) {
  std::vector<std::string> Result;
  SmallVector<StringRef, 8> Parts;
  Details.split(Parts, "\n\n", -1, /*KeepEmpty=*/false);
  for (StringRef Part : Parts) {
    Part = Part.trim('\n');
    Result.push_back(Part.str());
    if (!Part.starts_with(" "))
      llvm::replace(Result.back(), '\n', ' ');
  }
  return Result;
}

} // namespace chronicle::manual
