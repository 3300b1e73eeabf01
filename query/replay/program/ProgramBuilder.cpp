// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/program/ProgramBuilder.h"

using namespace llvm;

namespace chronicle::program {

Expected<std::unique_ptr<ReplayProgram>>
ProgramBuilder::build(ArrayRef<uint8_t> Definition, ProgramForm Form) {
  if (Error E = Analysis.analyze(Definition, Form))
    return E;
  if (Error E = Emitter.emit(Analysis))
    return E;
  return ReplayProgram::create(Analysis.start(), Emitter.ops(),
                               Analysis.passed(), Analysis.lengths());
}

pieces::ProgramMaker programMaker() {
  return {ReplayProgram::version(),
          [](uint32_t Superblock, ArrayRef<uint8_t> Definition)
              -> std::optional<SmallVector<uint8_t, 0>> {
            static thread_local ProgramBuilder Builder;
            Expected<std::unique_ptr<ReplayProgram>> P =
                Builder.build(Definition, ProgramForm::Fast);
            if (!P) {
              // Replay reports why, if it ever needs the program.
              consumeError(P.takeError());
              return std::nullopt;
            }
            return (*P)->stored(Superblock);
          }};
}

} // namespace chronicle::program
