// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/base/UnknownCommand.h"

using namespace llvm;

namespace chronicle::base {

std::string unknownCommand(StringRef Name, ArrayRef<StringRef> Commands,
                           StringRef Otherwise) {
  StringRef Best;
  unsigned BestDistance = Name.size() / 2 + 1;
  for (StringRef Command : Commands) {
    unsigned Distance = Name.edit_distance(Command);
    if (Distance < BestDistance) {
      BestDistance = Distance;
      Best = Command;
    }
  }
  std::string Text = "unknown command '" + Name.str() + "'; ";
  if (Best.empty())
    return Text + Otherwise.str();
  return Text + "did you mean '" + Best.str() + "'?";
}

} // namespace chronicle::base
