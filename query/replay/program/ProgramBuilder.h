// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Builds replay programs from definitions.

#ifndef CHRONICLE_QUERY_REPLAY_PROGRAM_PROGRAMBUILDER_H
#define CHRONICLE_QUERY_REPLAY_PROGRAM_PROGRAMBUILDER_H

#include "query/replay/program/ProgramAnalysis.h"
#include "query/replay/program/ProgramEmitter.h"
#include "trace-format/pieces/ProgramFormat.h"

namespace chronicle::program {

/// Builds one program after the other, in memory that it keeps. A question that
/// was not asked before needs thousands of programs, most of which run once or
/// twice, so what counts here is instructions per statement. Nothing is
/// allocated but the program itself.
class ProgramBuilder {
public:
  llvm::Expected<std::unique_ptr<ReplayProgram>>
  build(llvm::ArrayRef<uint8_t> Definition, ProgramForm Form);

private:
  ProgramAnalysis Analysis;
  ProgramEmitter Emitter;
};

/// Builds the programs that the indexer stores in a trace.
pieces::ProgramMaker programMaker();

} // namespace chronicle::program

#endif
