/** A gather of the class `flat` as plain data: the instructions of a strip, and what is kept in UB for them. */

/** Names of what lowerings keep in UB beside the program's buffers. */
export type AddedName = "addresses" | "base" | "pattern" | "seen" | "narrow" | "widened" | "border";

export interface Added {
  readonly name: AddedName;
  readonly bytes: number;
}

/** Where a run of 32-bit words begins: so many words into a buffer, into the strip's part of it for `index` and `output`. */
export interface WordRun {
  readonly in: AddedName | "index" | "output";
  readonly from: number;
}

/** A dim of the box that a strip is, in some layout: neighbours along it lie so many words apart. */
export interface ChunkDim {
  /** The output dim whose size says how much of it is valid. */
  readonly dim: number;
  readonly extent: number;
  readonly stride: number;
  /** What each element of the dim counts for. */
  readonly each: number;
}

/** A vector instruction on runs of `int32_t`. */
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
  /** Marks of the valid part of a strip, kept for the whole kernel. The last two dims are a tile, those before loops. */
  | { readonly op: "see"; readonly of: WordRun; readonly dims: readonly ChunkDim[] };

/** Words that the scalar unit writes at the start of a run. */
export interface Seed {
  readonly in: AddedName;
  readonly values: readonly number[];
}

/** What one strip of so many entries becomes. */
export interface FlatChunk {
  readonly entries: number;
  readonly steps: readonly FlatStep[];
  /** Addresses of the final TGATHER. */
  readonly addresses: WordRun;
  /** Words that it writes, and words of the data tile that it may read. */
  readonly length: number;
  readonly span: number;
}

export interface FlatProgram {
  /** Bytes of a word of data and output, and words of an element. */
  readonly wordBytes: number;
  readonly each: number;
  /** Bytes of what index values are read as. */
  readonly indexBytes: number;
  /** The dim that strips are cut along, and its extent in the tile; those before it are loops. */
  readonly dim: number;
  readonly extent: number;
  readonly full: FlatChunk;
  /** The last strip, where the extent is no multiple of the entries of the others. */
  readonly tail?: FlatChunk;
  /** How far a strip's start moves with each output dim, in words of data and output and in index values. */
  readonly starts: {
    readonly data: readonly number[];
    readonly index: readonly number[];
    readonly output: readonly number[];
  };
  /** Before a core's first task. */
  readonly setup: { readonly seeds: readonly Seed[]; readonly steps: readonly FlatStep[] };
  /** Behind its last: folds what was seen to 8 words. */
  readonly close: readonly FlatStep[];
  /** Elements of 1 byte as 2-byte ones: so many words of data, and the byte at which those of the output begin. */
  readonly widened?: { readonly words: number; readonly output: number };
  readonly adds: readonly Added[];
}
