// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a reader has in memory of a trace from the moment it is open.

#ifndef CHRONICLE_TRACE_FORMAT_FILE_TRACETABLES_H
#define CHRONICLE_TRACE_FORMAT_FILE_TRACETABLES_H

#include "trace-format/TraceData.h"
#include "trace-format/file/DirectoryRebuilder.h"
#include "trace-format/file/PieceFile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace chronicle::file {

/// The tables of blocks, threads and chunks point into the file, so that
/// opening costs a checksum over them and no more. Definitions and timeline are
/// decompressed and decoded.
class TraceTables {
public:
  /// Reads what the directory names. If it was rebuilt by a scan, Rebuilt has
  /// the tables of blocks, threads and chunks, and must outlive this.
  llvm::Error load(const PieceFile &File, const Directory &Dir,
                   const RebuiltDirectory *Rebuilt);

  llvm::ArrayRef<BlockEntry> Blocks;
  llvm::ArrayRef<pieces::ThreadStretch> Threads;
  llvm::ArrayRef<PageChunkEntry> Chunks;
  llvm::json::Object Run;
  std::optional<llvm::json::Object> End;
  std::vector<Definition> Definitions{Definition()}; ///< by id; 0 is none
  std::vector<uint64_t> Addresses{0};                ///< of superblocks, by id
  uint32_t LongestSuperblock = 0;                    ///< in instructions
  std::vector<uint32_t> ExitOwner;                   ///< exit number -> id
  std::vector<uint32_t> FirstSuccessor; ///< exit number -> exit number
  llvm::DenseMap<uint32_t, llvm::StringRef> ReasonNames;
  std::vector<TimelineEvent> Timeline;
  std::vector<ActivationPiece> ActivationPieces;
  uint32_t Activations = 0;
  std::vector<ExecutionPiece> ExecutionPieces;
  std::vector<ExecutionIndexPiece> IndexPieces;
  llvm::ArrayRef<uint8_t> Programs;
  std::vector<OtherPiece> Contents; ///< of packed files
  std::vector<OtherPiece> Files;    ///< tables of packed files
  /// What is missing because its piece is damaged, or empty. Exits that are not
  /// known then have no owner.
  std::string Missing;

private:
  llvm::Error loadPiece(const PieceFile &File, const OtherPiece &P);
  llvm::Error loadWithout(const PieceFile &File, const OtherPiece &P,
                          const Directory &Dir, size_t DefinitionsBefore,
                          llvm::Error Why);
  llvm::Error skipDefinitions(const PieceFile &File, const Directory &Dir,
                              size_t Which, llvm::Error Why);
  llvm::Expected<llvm::ArrayRef<uint8_t>> keep(const PieceFile &File,
                                               const OtherPiece &P);
  llvm::Error addDefinitions(llvm::ArrayRef<uint8_t> Raw);
  llvm::Error addTimeline(llvm::ArrayRef<uint8_t> Raw);
  llvm::Error checkTables(const Directory &Dir, bool InFile) const;
  llvm::Error finishExecutions();
  llvm::Error countActivations(const PieceFile &File);

  /// What Definitions, ReasonNames and Timeline point into.
  std::vector<RawPiece> Kept;
  uint64_t KeptBytes = 0;
};

} // namespace chronicle::file

#endif
