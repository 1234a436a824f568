/**
 * A gather of the class `flat` as plain data: the instructions of a strip, and what is kept in UB for them.
 */

/** Name of a buffer that the lowering of a gather adds to the unified buffer (UB). */
export type AddedName = "addresses" | "base" | "pattern" | "seen" | "narrow" | "widened" | "border";

/** Buffer that the lowering of a gather adds to the unified buffer (UB), with the size in bytes. */
export interface Added {
  readonly name: AddedName;
  readonly bytes: number;
}

/**
 * Start of a range of 32-bit words in the buffer `in`. `from`: distance in words from the start of the buffer
 * or, in the buffers `index` and `output`, from the start of the current chunk.
 */
export interface WordRun {
  readonly in: AddedName | "index" | "output";
  readonly from: number;
}

/**
 * Dim of a chunk of the output tile, as laid out in one buffer. `stride`: distance between neighbours along
 * the dim, in 32-bit words.
 */
export interface ChunkDim {
  /** Output dim whose size in the current tile decides how much of this dim is valid. */
  readonly dim: number;
  readonly extent: number;
  readonly stride: number;
  /** Number of rows or words for each element of the dim. */
  readonly each: number;
}

/**
 * Vector instruction of a `flat` gather, which gathers the rows of a tile as one long row. Operands are
 * ranges of `int32_t` words.
 */
export type FlatStep =
  | {
      readonly op: "TADDS" | "TMULS" | "TMAXS" | "TMINS" | "TSHRS";
      readonly to: WordRun;
      readonly of: WordRun;
      /** `border`: the address of the block of zeros. */
      readonly by: number | "border";
      readonly length: number;
    }
  | {
      readonly op: "TADD" | "TSUB" | "TMUL" | "TMAX" | "TAND" | "TOR";
      readonly to: WordRun;
      readonly of: WordRun;
      readonly by: WordRun;
      readonly length: number;
    }
  | { readonly op: "TEXPANDS"; readonly to: WordRun; readonly by: number; readonly length: number }
  /** `to[k] = of[by[k]]`, where `of` holds so many words. */
  | {
      readonly op: "TGATHER";
      readonly to: WordRun;
      readonly of: WordRun;
      readonly by: WordRun;
      readonly length: number;
      readonly held: number;
    }
  /** 64-bit index values as 32-bit ones, rows of them `pitch` apart. */
  | {
      readonly op: "TCVT";
      readonly rows: number;
      readonly columns: number;
      readonly fromPitch: number;
      readonly toPitch: number;
    }
  /** Index values of 8 or 16 bits as 32-bit ones, by way of half or float. */
  | {
      readonly op: "widen";
      readonly bytes: 1 | 2;
      readonly signed: boolean;
      readonly by: WordRun;
      readonly length: number;
    }
  /**
   * Marks of the valid part of a strip, kept for the whole kernel. The last two dims are a tile, those before
   * loops.
   */
  | { readonly op: "see"; readonly of: WordRun; readonly dims: readonly ChunkDim[] };

/** 32-bit words that the scalar unit writes at the start of a buffer, before the first gather. */
export interface Seed {
  readonly in: AddedName;
  readonly values: readonly number[];
}

/**
 * Instructions of a `flat` gather for one chunk of the tile. `entries`: extent of the chunk, in elements,
 * along the dim that is split into chunks.
 */
export interface FlatChunk {
  readonly entries: number;
  readonly steps: readonly FlatStep[];
  /** Addresses of the final TGATHER. */
  readonly addresses: WordRun;
  /** Number of words that the final TGATHER writes, and number of words of the data tile that it may read. */
  readonly length: number;
  readonly span: number;
}

/**
 * Program of a `flat` gather, which gathers the rows of a tile as one long row, in chunks. Has the
 * instructions and the added buffers in the unified buffer (UB).
 */
export interface FlatProgram {
  /** `wordBytes`: bytes of a word of data and output. `each`: words of an element. */
  readonly wordBytes: number;
  readonly each: number;
  /** Bytes of an index value as the instructions read it. */
  readonly indexBytes: number;
  /**
   * Dim along which the tile is split into chunks, and the tile's extent along this dim. Dims before it
   * become loops.
   */
  readonly dim: number;
  readonly extent: number;
  readonly full: FlatChunk;
  /** Last chunk, if the extent is no multiple of the `entries` of the other chunks. */
  readonly tail?: FlatChunk;
  /**
   * Distance by which a chunk's start moves with each output dim. Units are words for data and output, and
   * index values for the index.
   */
  readonly starts: {
    readonly data: readonly number[];
    readonly index: readonly number[];
    readonly output: readonly number[];
  };
  /** Before a core's first task. */
  readonly setup: { readonly seeds: readonly Seed[]; readonly steps: readonly FlatStep[] };
  /** Steps after a core's last task. They reduce the out-of-range flags to 8 words. */
  readonly close: readonly FlatStep[];
  /**
   * Elements of 1 byte as 2-byte ones: so many words of data, and the byte at which those of the output
   * begin.
   */
  readonly widened?: { readonly words: number; readonly output: number };
  readonly adds: readonly Added[];
}
