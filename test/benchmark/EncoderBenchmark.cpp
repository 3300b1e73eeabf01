// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the encoders and decoders of trace-format/ on the blocks and pages
// of a real run.

#include "RecordedRun.h"
#include "trace-format/file/Codec.h"
#include "trace-format/pieces/BlockFormat.h"
#include "trace-format/pieces/PageChunkFormat.h"
#include "llvm/Support/Error.h"
#include <benchmark/benchmark.h>

using namespace chronicle;
using namespace llvm;

static ExitOnError Check("micro-benchmarks: ");

static void sequenceEncode(benchmark::State &State) {
  const RecordedRun &Run = RecordedRun::get();
  pieces::SequenceCoder Coder;
  Coder.setExitCount(Run.trace().exitCount());
  uint64_t Symbols = 0;
  for (auto _ : State)
    for (const Block &B : Run.blocks()) {
      Coder.beginBlock();
      for (uint32_t Symbol : B.Symbols)
        Coder.add(Symbol);
      benchmark::DoNotOptimize(Coder.endBlock().data());
      Symbols += B.Symbols.size();
    }
  State.SetItemsProcessed(Symbols);
}
BENCHMARK(sequenceEncode)->Name("sequence-encode-symbol");

/// The sequences of all blocks, each coded by itself.
static std::vector<std::vector<uint8_t>>
codedSequences(const RecordedRun &Run, std::vector<uint32_t> &First) {
  pieces::SequenceCoder Coder;
  Coder.setExitCount(Run.trace().exitCount());
  First.assign(Run.trace().exitCount(), pieces::NoSymbol);
  std::vector<std::vector<uint8_t>> Coded;
  for (const Block &B : Run.blocks()) {
    Coder.beginBlock();
    for (uint32_t Symbol : B.Symbols)
      Coder.add(Symbol);
    Coded.push_back(Coder.endBlock().vec());
    for (auto [Exit, Successor] : Coder.takeNewSuccessors())
      First[Exit] = Successor;
  }
  return Coded;
}

static void sequenceDecode(benchmark::State &State) {
  const RecordedRun &Run = RecordedRun::get();
  std::vector<uint32_t> First, Decoded;
  const auto Coded = codedSequences(Run, First);
  pieces::SequenceScratch Scratch;
  uint64_t Symbols = 0;
  for (auto _ : State)
    for (size_t I = 0; I < Coded.size(); ++I) {
      Check(pieces::decodeSequence(Coded[I], Run.blocks()[I].Symbols.size(),
                                   First, Scratch, Decoded));
      Symbols += Decoded.size();
    }
  State.SetItemsProcessed(Symbols);
}
BENCHMARK(sequenceDecode)->Name("sequence-decode-symbol");

/// The page chunks of the run.
static std::vector<PageChunk> chunksOf(const RecordedRun &Run) {
  std::vector<PageChunk> Chunks;
  for (const PageChunkEntry &E : Run.trace().pageChunks())
    Chunks.push_back(Check(Run.trace().readPageChunk(E)));
  return Chunks;
}

/// Decodes the chunk into pages and codes it again.
static uint64_t encodeChunk(const PageChunk &Chunk,
                            ArrayRef<std::array<uint8_t, PageSize>> Pages,
                            ByteWriter &Out) {
  pieces::PageChunkWriter Writer(Chunk.Frame, Chunk.First);
  uint64_t Written = 0;
  for (size_t I = 0; I < Chunk.Deltas.size(); ++I) {
    const PageDelta &D = Chunk.Deltas[I];
    if (D.Kind == GranulesDelta) {
      std::array<uint8_t, GranulesPerPage> Masks;
      const uint8_t *Mask = D.Masks.data();
      for (unsigned G = 0; G < GranulesPerPage; ++G)
        Masks[G] = D.Granules[G / 64] >> G % 64 & 1 ? *Mask++ : 0;
      Writer.addGranules(D.Block, {Pages[I].data(), D.Granules, Masks.data()});
      Written += D.Masks.size();
    } else if (D.Kind == ZeroDelta) {
      Writer.addZero(D.Block);
    }
  }
  Writer.encode(Out);
  return Written;
}

static void pageChunkEncode(benchmark::State &State) {
  const std::vector<PageChunk> Chunks = chunksOf(RecordedRun::get());
  std::vector<std::vector<std::array<uint8_t, PageSize>>> Pages;
  for (const PageChunk &Chunk : Chunks) {
    std::array<uint8_t, PageSize> Page{};
    Pages.emplace_back();
    for (const PageDelta &D : Chunk.Deltas) {
      pieces::applyDelta(D, Page.data());
      Pages.back().push_back(Page);
    }
  }
  uint64_t Granules = 0;
  ByteWriter Out;
  for (auto _ : State) {
    Out.clear();
    for (size_t I = 0; I < Chunks.size(); ++I)
      Granules += encodeChunk(Chunks[I], Pages[I], Out);
    benchmark::DoNotOptimize(Out.data().data());
  }
  State.SetItemsProcessed(Granules);
}
BENCHMARK(pageChunkEncode)->Name("page-chunk-encode-granule");

static void pageChunkDecode(benchmark::State &State) {
  const std::vector<PageChunk> Chunks = chunksOf(RecordedRun::get());
  std::vector<ByteWriter> Coded(Chunks.size());
  uint64_t Each = 0;
  for (size_t I = 0; I < Chunks.size(); ++I) {
    std::vector<std::array<uint8_t, PageSize>> Pages(Chunks[I].Deltas.size());
    Each += encodeChunk(Chunks[I], Pages, Coded[I]);
  }
  std::array<uint8_t, PageSize> Page{};
  uint64_t Granules = 0;
  for (auto _ : State) {
    for (const ByteWriter &Chunk : Coded)
      Check(pieces::readPage(Chunk.data(), ~BlockNumber(0), Page.data()));
    benchmark::DoNotOptimize(Page.data());
    Granules += Each;
  }
  State.SetItemsProcessed(Granules);
}
BENCHMARK(pageChunkDecode)->Name("page-chunk-decode-granule");

/// A block as the indexer has it when it encodes it.
struct BlockParts {
  pieces::BlockHead Head;
  pieces::EventsWriter Events;
  std::vector<uint8_t> Sequence;
};

static std::vector<BlockParts> partsOf(const RecordedRun &Run) {
  std::vector<uint32_t> First;
  auto Sequences = codedSequences(Run, First);
  std::vector<BlockParts> Parts(Run.blocks().size());
  for (size_t I = 0; I < Parts.size(); ++I) {
    const Block &B = Run.blocks()[I];
    for (const Event &E : B.Events)
      Parts[I].Events.add(E.Execution, E.Kind, E.Payload);
    Parts[I].Head = {B.First,         B.Instructions, B.Symbols.size(),
                     B.Events.size(), B.DirtyPages,   B.DirtyGranules,
                     B.Opaque.size()};
    Parts[I].Sequence = std::move(Sequences[I]);
  }
  return Parts;
}

static std::vector<SmallVector<uint8_t, 0>> rawBlocks(const RecordedRun &Run) {
  std::vector<SmallVector<uint8_t, 0>> Raw;
  const std::vector<BlockParts> Parts = partsOf(Run);
  for (size_t I = 0; I < Parts.size(); ++I) {
    ByteWriter Out;
    pieces::encodeBlock(Out, Parts[I].Head, Parts[I].Events.Bytes.data(),
                        Parts[I].Sequence, Run.blocks()[I].Opaque);
    Raw.push_back(Out.take());
  }
  return Raw;
}

static void blockEncode(benchmark::State &State) {
  const RecordedRun &Run = RecordedRun::get();
  const std::vector<BlockParts> Parts = partsOf(Run);
  uint64_t Blocks = 0;
  ByteWriter Out;
  pieces::EventsWriter Events;
  for (auto _ : State)
    for (size_t I = 0; I < Parts.size(); ++I) {
      Out.clear();
      Events.clear();
      for (const Event &E : Run.blocks()[I].Events)
        Events.add(E.Execution, E.Kind, E.Payload);
      pieces::encodeBlock(Out, Parts[I].Head, Events.Bytes.data(),
                          Parts[I].Sequence, Run.blocks()[I].Opaque);
      benchmark::DoNotOptimize(Out.data().data());
      ++Blocks;
    }
  State.SetItemsProcessed(Blocks);
}
BENCHMARK(blockEncode)->Name("block-encode-block");

static void blockDecode(benchmark::State &State) {
  const auto Raw = rawBlocks(RecordedRun::get());
  uint64_t Blocks = 0;
  for (auto _ : State)
    for (const auto &Bytes : Raw) {
      pieces::BlockSections Sections = Check(pieces::splitBlock(Bytes));
      benchmark::DoNotOptimize(
          Check(pieces::decodeEvents(Sections.Events, Sections.Head)).data());
      ++Blocks;
    }
  State.SetItemsProcessed(Blocks);
}
BENCHMARK(blockDecode)->Name("block-decode-block");

/// Bulk is packed by lz4, the rest by zstd.
static void compress(benchmark::State &State, file::Codec Kind) {
  const auto Raw = rawBlocks(RecordedRun::get());
  file::Compressor C(Kind, /*Level=*/1);
  SmallVector<uint8_t, 0> Out;
  uint64_t Bytes = 0;
  for (auto _ : State)
    for (const auto &Block : Raw) {
      C.compress(Block, Out);
      Bytes += Block.size();
    }
  State.SetItemsProcessed(Bytes);
}
BENCHMARK_CAPTURE(compress, lz4, file::Codec::Lz4)->Name("compress-lz4-byte");
BENCHMARK_CAPTURE(compress, zstd, file::Codec::Zstd)
    ->Name("compress-zstd-byte");

static void decompressBlocks(benchmark::State &State, file::Codec Kind) {
  file::Compressor C(Kind, /*Level=*/1);
  struct Piece {
    file::Codec Kind;
    SmallVector<uint8_t, 0> Stored;
    size_t RawSize;
  };
  std::vector<Piece> Pieces;
  size_t Largest = 0;
  for (const auto &Block : rawBlocks(RecordedRun::get())) {
    Piece P{file::Codec::None, {}, Block.size()};
    P.Kind = C.compress(Block, P.Stored);
    if (P.Kind == file::Codec::None)
      P.Stored = Block;
    Largest = std::max(Largest, Block.size());
    Pieces.push_back(std::move(P));
  }
  std::vector<uint8_t> Out(Largest);
  uint64_t Bytes = 0;
  for (auto _ : State)
    for (const Piece &P : Pieces) {
      Check(file::decompress(P.Kind, P.Stored, Out.data(), P.RawSize));
      Bytes += P.RawSize;
    }
  State.SetItemsProcessed(Bytes);
}
BENCHMARK_CAPTURE(decompressBlocks, lz4, file::Codec::Lz4)
    ->Name("decompress-lz4-byte");
BENCHMARK_CAPTURE(decompressBlocks, zstd, file::Codec::Zstd)
    ->Name("decompress-zstd-byte");
