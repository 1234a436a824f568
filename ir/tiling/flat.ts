/**
 * The class `flat`: a tile whose rows lie end to end is one row to the vector unit, so that TGATHER, which
 * costs as much for a short row as for a long one, runs once for all of them.
 *
 * The output tile is worked in strips: a box that is whole behind one dim, worked as one run of words, its
 * padding too. Index values become addresses of the data tile by vector instructions on a run of `int32_t`;
 * what these need beside the program's buffers is listed by name. Every value is brought inside its extent,
 * so that padding, whatever it holds, leads nowhere else.
 *
 * The instructions are plain data: the clock counts them, code generators print them.
 *
 * Headers, at hw-native-sys/pto-isa 3186c381, include/pto/npu/a2a3: TGATHER runs row by row (TGather.hpp:58);
 * tiles of one row are one instruction of any length (TBinOp.hpp:207, TBinSOp.hpp:186); shifts take 32 bits
 * (TBitwiseSOp.hpp:23); a conversion of 64-bit values that saturates keeps them outside every extent
 * (TCvt.hpp:779); values of 16 bits go by way of float, those of 8 bits by way of half, which have each of
 * them (TCvt.hpp:774, 766).
 */
import { defined } from "../defined.js";
import { dataCoords, gatheredTable, inputTile, type AccessMap } from "../access.js";
import { soleAtom } from "../linear.js";
import { indexBytes, indexRule, type IndexBytes, type IndexRule } from "../policy.js";
import type { Target } from "../target.js";
import {
  alignUp,
  assertNever,
  at,
  bytesOf,
  isPacked,
  isPowerOfTwo,
  isSigned,
  byteAligned,
  type ByteAlignedType,
  type Shape,
} from "../types.js";
import type {
  Added,
  AddedName,
  FlatProgram,
  FlatStep,
  FlatChunk,
  WordRun,
  Seed,
  ChunkDim,
} from "./flat-program.js";
import type { LoweringFacts } from "./gather-lowering.js";
import { isPlain, plainIndices } from "./plain.js";

/** Facts of a `flat` gather that are the same for all chunks (parts) of the output tile. */
interface Form {
  readonly target: Target;
  readonly wordBytes: number;
  /** Bytes of a word that is gathered: 2 where 1-byte elements are widened. */
  readonly gatheredBytes: number;
  /** Words of the data tile. */
  readonly dataWords: number;
  readonly each: number;
  readonly rules: readonly IndexRule[];
  /** Words of the data tile between neighbours, by index operand. */
  readonly strides: readonly number[];
  /** The same by output dim: words of data and output, index values. */
  readonly data: readonly number[];
  readonly output: readonly number[];
  readonly index: readonly number[];
  /** Place in its tuple that each index operand reads. */
  readonly positions: readonly number[];
  /**
   * Bytes of what index values are read as: of the low words alone where a 64-bit value wraps by a power of
   * two.
   */
  readonly indexBytes: IndexBytes;
  /**
   * True if each output word first takes its index values through the pattern. The values then become its
   * address.
   */
  readonly spreadFirst: boolean;
  readonly signed: boolean;
  /** Distance between rows of index values in UB, counted in the values that are read. */
  readonly indexPitch: number;
  readonly tile: readonly number[];
  readonly ragged: ReadonlySet<number>;
  readonly fresh: boolean;
}

/** 32-bit words of one block. */
const block = 8;
/**
 * More than every address in UB, few enough that the sum of as many as a map has index operands is an
 * `int32_t`.
 */
const beyond = 2 ** 26;

/**
 * Returns a function that generates the `flat` programs whose buffers fit into the free unified buffer (UB).
 * Programs that split the output tile into few long chunks come first; if no program fits, there are none. If
 * the gather cannot be `flat` even with unlimited UB, returns the reason as text instead.
 */
export function flatPrograms(facts: LoweringFacts, target: Target): (() => Generator<FlatProgram>) | string {
  const form = formOf(facts, target);
  if (typeof form === "string") return form;
  return function* () {
    for (const cut of cutsOf(form)) {
      const sized = sizedOf(form, cut);
      const adds = addsOf(form, sized);
      if (bytesOfAll(adds) <= facts.spareBytes) yield programOf(form, sized, adds);
    }
  };
}

/**
 * Returns the facts about a `flat` gather that are equal for all chunks of a tile, such as strides and index
 * rules. If the gather cannot be `flat`, returns the reason as text instead.
 */
function formOf(facts: LoweringFacts, target: Target): Form | string {
  const { map, inputs, output, tile, ragged } = facts;
  const [data, index] = inputs;
  if (data?.inTile === undefined) return "data in global memory";
  if (inputs.length !== 2 || index?.inTile === undefined || !isPlain(map))
    return "it takes gather, gather_elements and gather_nd with one index tensor in UB";
  if (tile.length === 0 || output.inTile === undefined) return "an output without dims";
  if (tile.some((extent) => extent === 0)) return "a tile without elements";
  if (isPacked(data.type.dtype)) return "packed elements";
  const words = wordsOf(bytesOf(data.type.dtype), target);
  if (typeof words === "string") return words;
  const { each } = words;
  const dtype = byteAligned(index.type.dtype);
  const rules = rulesOf(map, dtype);
  if (typeof rules === "string") return rules;
  // The high word of a value decides nothing of what is left of it by a power of two: the low ones lie two
  // words apart.
  const apart = bytesOf(dtype) === 8 && rules.some(({ outside }) => outside === "remainder") ? 2 : 1;
  const stepsOfData = data.inTile.map((step) => step * each);
  const stepsOfIndex = index.inTile.map((step) => step * apart);
  const rank = index.inTile.length;
  const [rows = 1, ...inner] = inputTile(map, gatheredTable, tile, data.type.shape);
  const [rowWords = 1] = data.inTile;
  const elementsOfBlock = target.blockBytes / bytesOf(data.type.dtype);
  return {
    target,
    ...words,
    dataWords: (inner.length === 0 ? alignUp(rows, elementsOfBlock) : rows * rowWords) * each,
    rules,
    ...dataSteps(map, tile, stepsOfData),
    output: output.inTile.map((step) => step * each),
    ...indexPositions(map, tile, stepsOfIndex),
    spreadFirst: rules.length > 1 || apart === 2,
    indexBytes: apart === 2 ? 4 : indexBytes(dtype),
    signed: isSigned(dtype),
    indexPitch: rank > 1 ? at(stepsOfIndex, rank - 2) : 0,
    tile,
    ragged,
    fresh: facts.freshIndices,
  };
}

/**
 * Returns the layout of an element of `bytes` bytes for gathers by the vector unit: bytes of a word, bytes to
 * which a word is widened for the gather, and words of an element (`each`). If the vector unit cannot gather
 * such elements, returns the reason as text instead.
 */
function wordsOf(bytes: number, target: Target): Pick<Form, "wordBytes" | "gatheredBytes" | "each"> | string {
  const takes = target.vectorGatherBytes;
  const wordBytes = Math.min(bytes, 4);
  // Each of the 256 values of a byte is one of f16, there and back.
  const gatheredBytes = wordBytes === 1 && !takes.includes(1) ? 2 : wordBytes;
  if (!takes.includes(gatheredBytes)) return `the vector unit gathers no ${8 * bytes}-bit elements`;
  return { wordBytes, gatheredBytes, each: bytes / wordBytes };
}

/**
 * Returns the rule of each index operand, by which an index value selects an element. If vector instructions
 * cannot apply a rule, returns the reason as text instead.
 */
function rulesOf(map: AccessMap, dtype: ByteAlignedType): readonly IndexRule[] | string {
  // As 32-bit values, those of fewer bits are all themselves.
  const signed = isSigned(dtype) || bytesOf(dtype) < 4;
  const rules = plainIndices(map).map((index): IndexRule => ({ ...indexRule(index, dtype), signed }));
  for (const { outside, extent } of rules) {
    if (outside === "remainder" && !isPowerOfTwo(extent))
      return `wraps by ${extent}, which is no power of two`;
    if (extent === 0) return "data without elements";
  }
  return rules;
}

/**
 * Returns the changes of a position in the data tile, in words. Result fields: `data` has the change for a
 * step of 1 along each output dim, `strides` the change for an increase by 1 of each index value. Parameter
 * `steps`: strides of the data tile's dims, in words.
 */
function dataSteps(
  map: AccessMap,
  tile: Shape,
  steps: readonly number[],
): { readonly data: readonly number[]; readonly strides: readonly number[] } {
  const [data, strides] = [tile.map(() => 0), map.indices.map(() => 0)];
  dataCoords(map).forEach((coord, k) => {
    const only = soleAtom(coord);
    if (only?.kind === "dim") data[only.dim] = at(steps, k);
    if (only?.kind === "index") strides[only.index] = at(steps, k);
  });
  return { data, strides };
}

/**
 * Returns the layout of the index tile, counted in index values. Result fields: `index` has the stride along
 * each output dim, `positions` the offset of each index operand's first value in the tile. Parameter `steps`:
 * strides of the index tile's dims.
 */
function indexPositions(
  map: AccessMap,
  tile: Shape,
  steps: readonly number[],
): { readonly index: readonly number[]; readonly positions: readonly number[] } {
  const index = tile.map(() => 0);
  const positions = plainIndices(map).map(({ value }) => {
    let position = 0;
    value.at.forEach((coord, k) => {
      const only = soleAtom(coord);
      if (only?.kind === "dim") index[only.dim] = at(steps, k);
      else position += coord.at * at(steps, k);
    });
    return position;
  });
  return { index, positions };
}

interface Cut {
  readonly dim: number;
  readonly entries: number;
}

/**
 * Yields ways to split a tile into chunks along one dim: for each number of chunks that is tried, up to three
 * extents of a chunk. The free space of the unified buffer (UB) is not considered.
 */
function* cutsOf(form: Form): Generator<Cut> {
  const { tile } = form;
  for (let dim = 0; dim < tile.length; dim++) {
    const extent = at(tile, dim);
    const unit = unitOf(form, dim);
    if (unit === undefined) return;
    const multiple = Math.max(unit, fullRepeats(form, dim));
    const tried = new Set<number>();
    for (const count of chunkCounts(Math.ceil(extent / unit))) {
      const equal = Math.min(extent, alignUp(Math.ceil(extent / count), unit));
      const longest = count === 1 ? extent : Math.floor((extent - 1) / (count - 1) / multiple) * multiple;
      for (const entries of [equal, alignUp(equal, multiple), longest]) {
        if (entries < equal || entries > extent || tried.has(entries)) continue;
        tried.add(entries);
        yield { dim, entries };
      }
    }
  }
}

/**
 * Yields the numbers of chunks into which to try to split a tile: 1 to 16, 20, 24 and so on to 32, 40, 48 and
 * so on, and `max`. The steps grow because one chunk more costs little if there are many.
 */
function* chunkCounts(max: number): Generator<number> {
  for (let n = 1; n < max; n += n < 16 ? 1 : 2 ** (Math.floor(Math.log2(n)) - 2)) yield n;
  yield max;
}

/**
 * Returns the extent of a chunk along `dim`, in elements, at which addresses and index values fill whole
 * repeats of the vector unit. The result is a power of two, at most the number of 32-bit words of one repeat.
 */
function fullRepeats({ output, index, target: { vectorBytes } }: Form, dim: number): number {
  const wordBytes = [4 * at(output, dim), 4 * at(index, dim)];
  let entries = 1;
  // A figure that is no power of two has none.
  while (4 * entries < vectorBytes && wordBytes.some((bytes) => (bytes * entries) % vectorBytes !== 0))
    entries *= 2;
  return entries;
}

/**
 * Returns the number of elements of which chunk extents along `dim` must be multiples. Each chunk of the
 * output tile then starts at a block of the unified buffer (UB). Undefined if chunks along `dim` cannot start
 * at blocks.
 */
function unitOf(
  { output, data, index, wordBytes, gatheredBytes, indexBytes, tile, target }: Form,
  dim: number,
): number | undefined {
  const steps = (d: number): readonly number[] => [
    at(output, d) * wordBytes,
    at(data, d) * gatheredBytes,
    at(index, d) * indexBytes,
  ];
  const aligned = (bytes: number): boolean => bytes % target.blockBytes === 0;
  for (let d = 0; d < dim; d++) if (at(tile, d) > 1 && !steps(d).every(aligned)) return undefined;
  let unit = 1;
  while (!steps(dim).every((bytes) => aligned(bytes * unit))) unit *= 2;
  return unit;
}

/** A strip with the lengths of its runs, in words. */
interface Sized {
  readonly cut: Cut;
  /** Extents by output dim, 1 before the cut's. */
  readonly extents: readonly number[];
  /**
   * Length of the output in words. `raw`: of the index values as they lie in UB. `resolved`: of the resolved
   * index values.
   */
  readonly length: number;
  readonly raw: number;
  readonly resolved: number;
  /**
   * Index values between neighbours, by output dim, as 32-bit values; and rows of them that a conversion
   * spreads.
   */
  readonly index: readonly number[];
  readonly spread?: { readonly rows: number; readonly toPitch: number };
  /** True if index values have the layout of the output's words. */
  readonly same: boolean;
  /** True if index values may be overwritten in place. */
  readonly mutable: boolean;
  readonly needsOther: boolean;
  /**
   * True if the second operand of steps is in the output's chunk, which the gather overwrites after the
   * steps.
   */
  readonly otherInOutput: boolean;
  readonly hasBase: boolean;
}

/** True if index values are converted to 32 bits, in `narrow`. */
const isConverted = ({ indexBytes }: Form): boolean => indexBytes !== 4;

/**
 * Returns the length of a region: from the start of the region's memory to the end of the last element or
 * padded row. `each`: length of an element. `place`: start of the first element. All lengths and strides are
 * in one unit, words or index values.
 */
function lengthOf(extents: readonly number[], strides: readonly number[], each: number, place = 0): number {
  let [rows, last] = [0, each + place];
  for (let d = 0; d < strides.length; d++) {
    const [extent, stride] = [at(extents, d), at(strides, d)];
    last += (extent - 1) * stride;
    if (stride > each && extent > 1) rows = Math.max(rows, extent * stride);
  }
  return Math.max(rows, last);
}

/**
 * Returns the lengths, in words, of the output and of the index values of a full chunk, if `cut` splits the
 * tile. Result field `otherInOutput`: true if the output tile has space for a second range of addresses.
 */
function sizedOf(form: Form, cut: Cut): Sized {
  const sized = lengthsOf(form, cut);
  const rest = at(form.tile, cut.dim) % cut.entries;
  const all = rest === 0 ? [sized] : [sized, lengthsOf(form, { ...cut, entries: rest })];
  const otherInOutput = all.every(
    ({ resolved, length }) =>
      alignUp(resolved, block) * 4 <= alignUp(length * form.wordBytes, form.target.blockBytes),
  );
  return { ...sized, otherInOutput };
}

/**
 * Returns the lengths, in words, of one chunk of a tile: of the output, of the index values as stored, and of
 * the resolved index values. The result also has facts about the chunk, for example the extents.
 */
function lengthsOf(form: Form, cut: Cut): Omit<Sized, "otherInOutput"> {
  const { tile, output, data, each, positions, indexPitch, spreadFirst } = form;
  const extents = tile.map((extent, d) => (d < cut.dim ? 1 : d === cut.dim ? cut.entries : extent));
  const length = lengthOf(extents, output, each);
  const raw = lengthOf(extents, form.index, 1, Math.max(...positions));
  const spread = spreadRows(form, raw);
  const index =
    spread === undefined
      ? form.index
      : form.index.map((step) => (step < indexPitch ? step : (step / indexPitch) * spread.toPitch));
  const same =
    !spreadFirst &&
    each === 1 &&
    at(positions, 0) === 0 &&
    extents.every((extent, d) => extent === 1 || at(index, d) === at(output, d));
  const resolved = spreadFirst ? length : spread === undefined ? raw : spread.rows * spread.toPitch;
  const mutable = spreadFirst || isConverted(form) || (form.fresh && isAlone(tile, cut, extents, index));
  return {
    cut,
    extents,
    length,
    raw,
    resolved,
    index,
    ...defined({ spread }),
    same,
    mutable,
    needsOther: needsOther(form, mutable),
    hasBase: each > 1 || extents.some((extent, d) => extent > 1 && at(data, d) > 0),
  };
}

/**
 * Returns the rows of index values that the conversion from 64 bits spreads, with their new pitch in 32-bit
 * values. Undefined if it spreads none. `raw`: length of the index values as stored.
 */
function spreadRows({ indexBytes: bytes, indexPitch, spreadFirst }: Form, raw: number): Sized["spread"] {
  // Rows of 64-bit values are blocks of four, of 32-bit ones of eight.
  if (bytes !== 8 || spreadFirst || indexPitch % block === 0 || raw <= indexPitch) return undefined;
  return { rows: Math.ceil(raw / indexPitch), toPitch: alignUp(indexPitch, block) };
}

/**
 * True if no other chunk of the tile reads the index values of this chunk. The chunk then has them as they
 * were loaded. `index`: strides of the index values by output dim.
 */
const isAlone = (
  tile: readonly number[],
  cut: Cut,
  extents: readonly number[],
  index: readonly number[],
): boolean =>
  tile.every(
    (extent, d) =>
      d > cut.dim || extent === 1 || (d === cut.dim && extents[d] === extent) || at(index, d) > 0,
  );

/**
 * True if the steps that resolve index values need a second range of words. `mutable`: true if the index
 * values may be overwritten in place.
 */
const needsOther = ({ rules }: Form, mutable: boolean): boolean =>
  rules.some(
    ({ outside, wrapNegativeBy, signed }) =>
      outside === "report" ||
      outside === "none" ||
      (mutable &&
        (outside === "remainder" || wrapNegativeBy !== undefined || (outside === "nearest" && !signed))),
  );

/**
 * Returns the ranges of words in the buffer `addresses` that the address computation for one chunk of a tile
 * uses. A range that the chunk does not need is undefined; the range `other` is in the output's tile instead
 * if that has space. Result field `bytes`: size of the buffer.
 */
function addressRuns(form: Form, sized: Sized) {
  const { resolved, length, same, mutable, needsOther, otherInOutput } = sized;
  const { rules, spreadFirst } = form;
  let end = 0;
  const take = (words: number): WordRun => {
    const run: WordRun = { in: "addresses", from: end };
    end += alignUp(words, block);
    return run;
  };
  const sum = spreadFirst ? take(resolved) : undefined;
  const write = rules.length > 1 || !mutable ? take(resolved) : undefined;
  const spreadTo = spreadFirst || same ? undefined : take(length);
  const other = !needsOther
    ? undefined
    : otherInOutput
      ? ({ in: "output", from: 0 } as const)
      : take(resolved);
  return { sum, write, spreadTo, other, bytes: 4 * end };
}

type AddressRuns = ReturnType<typeof addressRuns>;

/**
 * Returns the extra buffers, beside the operands' tiles, that a `flat` gather needs in the unified buffer
 * (UB). Sizes are in bytes, for one way to split the tile.
 */
function addsOf(form: Form, sized: Sized): readonly Added[] {
  const { rules, target } = form;
  const { raw, length, resolved, same, hasBase, spread } = sized;
  const words = (count: number): number => 4 * alignUp(count, block);
  const narrow = spread === undefined ? raw : spread.rows * spread.toPitch;
  // Behind what values of 8 and 16 bits become, what they are on their way.
  const between = form.indexBytes < 4 ? words(form.indexBytes === 1 ? raw / 2 : raw) : 0;
  const added: Added[] = [
    { name: "narrow", bytes: isConverted(form) ? words(narrow) + between : 0 },
    { name: "addresses", bytes: addressRuns(form, sized).bytes },
    { name: "pattern", bytes: same ? 0 : words(length) },
    { name: "base", bytes: hasBase ? words(length) : 0 },
    {
      name: "seen",
      bytes: rules.some(({ outside }) => outside === "report") ? words(resolved) : 0,
    },
    { name: "widened", bytes: isWidened(form) ? widenedOutput(form) + 2 * alignUp(length, 16) : 0 },
    { name: "border", bytes: hasBorder(form) ? target.blockBytes : 0 },
  ];
  return added.filter(({ bytes }) => bytes > 0);
}

const hasBorder = ({ rules }: Form): boolean => rules.some(({ outside }) => outside === "none");

const isWidened = ({ wordBytes, gatheredBytes }: Form): boolean => wordBytes !== gatheredBytes;

/** Returns the bytes of the widened data; the widened words of the output follow them. */
const widenedOutput = ({ dataWords, target }: Form): number => alignUp(2 * dataWords, target.blockBytes);

const bytesOfAll = (adds: readonly Added[]): number => adds.reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * Returns the program of a `flat` gather for one way to split the tile into chunks. `adds`: extra buffers,
 * beside the operands' tiles, that the gather needs in the unified buffer (UB).
 */
function programOf(form: Form, sized: Sized, adds: readonly Added[]): FlatProgram {
  const { wordBytes, each, data, index, output, tile, rules } = form;
  const { cut } = sized;
  const extent = at(tile, cut.dim);
  const rest = extent % cut.entries;
  const moving = (strides: readonly number[]): number[] =>
    strides.map((stride, d) => (d < cut.dim || (d === cut.dim && cut.entries < extent) ? stride : 0));
  const flagBytes = rules.some(({ outside }) => outside === "report") ? alignUp(sized.resolved, block) : 0;
  return {
    wordBytes,
    each,
    indexBytes: form.indexBytes,
    dim: cut.dim,
    extent,
    full: chunkOf(form, sized, sized),
    ...(rest === 0 ? {} : { tail: chunkOf(form, sizedOf(form, { ...cut, entries: rest }), sized) }),
    starts: { data: moving(data), index: moving(index), output: moving(output) },
    setup: setupOf(form, sized, flagBytes),
    close: folded(flagBytes),
    ...(isWidened(form) ? { widened: { words: form.dataWords, output: widenedOutput(form) } } : {}),
    adds,
  };
}

/**
 * Returns the instructions of a `flat` gather for one chunk of the tile. `sized`: lengths of the chunk.
 * `available`: lengths of a full chunk, for which the buffers are laid out.
 */
function chunkOf(form: Form, sized: Sized, available: Sized): FlatChunk {
  const { length } = sized;
  const { sum, ...runs } = addressRuns(form, available);
  const steps: FlatStep[] = [];
  convert(form, sized, available, steps);
  const addresses =
    sum === undefined
      ? resolveOne(form, sized, runs, steps)
      : resolveSum(form, sized, { ...runs, sum }, steps);
  if (hasBorder(form)) steps.push({ op: "TMINS", to: addresses, of: addresses, by: "border", length });
  return { entries: sized.cut.entries, steps, addresses, length, span: spanOf(form, sized) };
}

/** Returns the start of the index values of 32 bits. */
const sourceOf = (form: Form): WordRun => ({ in: isConverted(form) ? "narrow" : "index", from: 0 });

const pattern: WordRun = { in: "pattern", from: 0 };
const base: WordRun = { in: "base", from: 0 };

/** Appends to `steps` the vector instructions that convert index values to 32 bits, if they have others. */
function convert(form: Form, { raw, spread }: Sized, available: Sized, steps: FlatStep[]): void {
  const { indexBytes: bytes, signed, indexPitch } = form;
  if (bytes === 1 || bytes === 2) {
    const between: WordRun = { in: "narrow", from: alignUp(available.raw, block) };
    steps.push({ op: "widen", bytes, signed, by: between, length: raw });
    if (bytes === 2 && !signed) {
      const source = sourceOf(form);
      // Read as signed: the bits above are those of the sign.
      steps.push({ op: "TEXPANDS", to: between, by: 2 ** 16 - 1, length: raw });
      steps.push({ op: "TAND", to: source, of: source, by: between, length: raw });
    }
  }
  if (bytes === 8) {
    const [rows, columns, toPitch] =
      spread === undefined ? [1, raw, alignUp(raw, block)] : [spread.rows, indexPitch, spread.toPitch];
    steps.push({ op: "TCVT", rows, columns, fromPitch: columns, toPitch });
  }
}

/**
 * Appends to `steps` the vector instructions that compute addresses if each output word first takes its index
 * values through the pattern: the sum of the resolved values, scaled by their strides, and of the base.
 * Returns the range of words with the addresses.
 */
function resolveSum(
  form: Form,
  sized: Sized,
  { sum, write, other }: Pick<AddressRuns, "write" | "other"> & { readonly sum: WordRun },
  steps: FlatStep[],
): WordRun {
  const { rules, strides, positions } = form;
  const { length, raw, resolved, hasBase } = sized;
  for (let k = 0; k < rules.length; k++) {
    const step = at(positions, k) - at(positions, Math.max(0, k - 1));
    if (step !== 0) steps.push({ op: "TADDS", to: pattern, of: pattern, by: step, length });
    const run = k === 0 ? sum : (write ?? sum);
    steps.push({ op: "TGATHER", to: run, of: sourceOf(form), by: pattern, length: resolved, held: raw });
    const low = resolvedBy(form, at(rules, k), { read: run, write: run, other }, sized, steps);
    const scaled = scaledBy(at(strides, k), low, run, length, steps);
    if (k > 0) steps.push({ op: "TADD", to: sum, of: sum, by: scaled, length });
    else if (!sameRun(scaled, sum)) steps.push({ op: "TADDS", to: sum, of: scaled, by: 0, length });
  }
  const back = at(positions, 0) - at(positions, positions.length - 1);
  if (back !== 0) steps.push({ op: "TADDS", to: pattern, of: pattern, by: back, length });
  if (hasBase) steps.push({ op: "TADD", to: sum, of: sum, by: base, length });
  return sum;
}

/**
 * Appends to `steps` the vector instructions that compute addresses if the values of the one index operand
 * are resolved before the pattern spreads them. Returns the range of words with the addresses.
 */
function resolveOne(
  form: Form,
  sized: Sized,
  runs: Pick<AddressRuns, "write" | "spreadTo" | "other">,
  steps: FlatStep[],
): WordRun {
  const { length, resolved, hasBase, mutable } = sized;
  const source = sourceOf(form);
  const write = mutable ? source : (runs.write ?? source);
  const low = resolvedBy(form, at(form.rules, 0), { read: source, write, other: runs.other }, sized, steps);
  const scaled = scaledBy(at(form.strides, 0), low, write, resolved, steps);
  const { spreadTo } = runs;
  if (spreadTo !== undefined) {
    steps.push({ op: "TGATHER", to: spreadTo, of: scaled, by: pattern, length, held: resolved });
    if (hasBase) steps.push({ op: "TADD", to: spreadTo, of: spreadTo, by: base, length });
    return spreadTo;
  }
  if (hasBase) steps.push({ op: "TADD", to: write, of: scaled, by: base, length });
  else if (!sameRun(scaled, write)) steps.push({ op: "TADDS", to: write, of: scaled, by: 0, length });
  return write;
}

const sameRun = (a: WordRun, b: WordRun): boolean => a.in === b.in && a.from === b.from;

interface Resolving {
  readonly read: WordRun;
  readonly write: WordRun;
  readonly other: WordRun | undefined;
}

/** Runs of the resolved values and, under `zero`, of the marks of values out of range. */
interface Resolved {
  readonly value: WordRun;
  readonly mark?: WordRun;
}

/**
 * Appends to `steps` the vector instructions that resolve index values by a rule. Returns the range of words
 * with the resolved values and, under policy `zero`, the range with the out-of-range flags.
 */
function resolvedBy(
  form: Form,
  { extent, wrapNegativeBy, outside, signed }: IndexRule,
  { read, write, other = write }: Resolving,
  sized: Sized,
  steps: FlatStep[],
): Resolved {
  const length = sized.resolved;
  let from = read;
  // -n where a value is negative, n above it: a shift spreads the sign.
  const negatives = (): WordRun => {
    const by = sameRun(from, write) ? other : write;
    steps.push({ op: "TSHRS", to: by, of: from, by: 31, length });
    steps.push({ op: "TMULS", to: by, of: by, by: -extent, length });
    return by;
  };
  if (wrapNegativeBy !== undefined && outside !== "remainder") {
    steps.push({ op: "TADD", to: write, of: from, by: negatives(), length });
    from = write;
  }
  switch (outside) {
    case "nearest":
    case "promised":
      // An unsigned value above 2^31 reads as a negative one, and is nearest to the last element.
      if (outside === "nearest" && !signed)
        steps.push({ op: "TMAX", to: write, of: from, by: negatives(), length });
      else steps.push({ op: "TMAXS", to: write, of: from, by: 0, length });
      steps.push({ op: "TMINS", to: write, of: write, by: extent - 1, length });
      return { value: write };
    case "remainder": {
      const by = sameRun(from, write) ? other : write;
      steps.push({ op: "TEXPANDS", to: by, by: extent - 1, length });
      steps.push({ op: "TAND", to: write, of: from, by, length });
      return { value: write };
    }
    case "report":
    case "none":
      steps.push({ op: "TMAXS", to: other, of: from, by: 0, length });
      steps.push({ op: "TMINS", to: other, of: other, by: extent - 1, length });
      // Not 0 where the value was outside.
      steps.push({ op: "TSUB", to: write, of: from, by: other, length });
      if (outside === "report") {
        steps.push({ op: "see", of: write, dims: outOfRangeDims(form, sized) });
        return { value: other };
      }
      steps.push({ op: "TMINS", to: write, of: write, by: 1, length });
      steps.push({ op: "TMAXS", to: write, of: write, by: -1, length });
      steps.push({ op: "TMUL", to: write, of: write, by: write, length });
      steps.push({ op: "TMULS", to: write, of: write, by: beyond, length });
      return { value: other, mark: write };
    default:
      return assertNever(outside);
  }
}

/**
 * Appends to `steps` the vector instructions that multiply resolved index values by `stride`. Returns the
 * range of words with the products. `stride`: distance in words between neighbours in the data tile.
 * `length`: number of words to multiply.
 */
function scaledBy(
  stride: number,
  { value, mark }: Resolved,
  write: WordRun,
  length: number,
  steps: FlatStep[],
): WordRun {
  const to = mark === undefined ? write : value;
  if (stride !== 1) steps.push({ op: "TMULS", to, of: value, by: stride, length });
  const scaled = stride === 1 ? value : to;
  if (mark === undefined) return scaled;
  steps.push({ op: "TADD", to: write, of: scaled, by: mark, length });
  return write;
}

/**
 * Returns the dims, outermost first, over which the out-of-range flags of one chunk (part of the output tile)
 * are laid out. There is one flag for each resolved 32-bit index value of the chunk. Contiguous dims are
 * merged into one.
 */
function outOfRangeDims(form: Form, { extents, index }: Sized): readonly ChunkDim[] {
  const { spreadFirst, output, each, tile, ragged } = form;
  const strides = spreadFirst ? output : index;
  const last = tile.length - 1;
  const counted = spreadFirst ? each : 1;
  const dims = tile
    .map((_, dim): ChunkDim => ({ dim, extent: at(extents, dim), stride: at(strides, dim), each: 1 }))
    .filter(({ extent, stride }) => extent > 1 && stride > 0)
    .sort((a, b) => b.stride - a.stride);
  const inner = dims.at(-1);
  const columns =
    inner?.stride === counted
      ? { ...inner, stride: 1, each: counted }
      : { dim: last, extent: 1, stride: 1, each: counted };
  const outer = inner?.stride === counted ? dims.slice(0, -1) : dims;
  const joined: ChunkDim[] = [];
  for (const dim of outer) {
    const before = joined.at(-1);
    if (before !== undefined && !ragged.has(dim.dim) && before.stride === dim.stride * dim.extent)
      joined[joined.length - 1] = { ...before, stride: dim.stride, each: before.each * dim.extent };
    else joined.push(dim);
  }
  // Rows that are whole, and end where the next begins, are one row.
  const row = joined.at(-1);
  const words = columns.extent * columns.each;
  if (row === undefined || ragged.has(columns.dim) || row.stride !== words) return [...joined, columns];
  return [...joined.slice(0, -1), { ...row, stride: 1, each: row.each * words }];
}

/**
 * Returns the length, in words, of the range of the data tile from which a chunk of the output tile may read,
 * rounded up to whole blocks of the unified buffer (UB).
 */
function spanOf(form: Form, sized: Sized): number {
  const { rules, strides, target, wordBytes } = form;
  const picked = rules.reduce((sum, { extent }, s) => sum + (extent - 1) * at(strides, s), 0);
  return alignUp((picked + maxBase(form, sized) + 1) * wordBytes, target.blockBytes) / wordBytes;
}

/** Returns the largest part of an address that the output's place decides, in words. */
const maxBase = ({ data, each }: Form, { extents }: Sized): number =>
  extents.reduce((sum, extent, d) => sum + (extent - 1) * at(data, d), each - 1);

/**
 * Returns the instructions before a core's first task, which fill those of the buffers `pattern`, `base`,
 * `seen` and `border` that the gather needs. `flagBytes`: length of the buffer `seen` in 32-bit words; 0 if
 * the gather does not need it.
 */
function setupOf(form: Form, sized: Sized, flagBytes: number): FlatProgram["setup"] {
  const { data, each, target, positions } = form;
  const { same, hasBase, index } = sized;
  const seeds: Seed[] = [];
  const steps: FlatStep[] = [];
  if (!same) {
    const start = at(positions, 0);
    fill(form, sized, { in: "pattern", start, by: index, word: 0, padded: false }, seeds, steps);
  }
  if (hasBase) {
    // Rows that data and output have alike are padded alike.
    const padded = at(data, data.length - 1) === each;
    fill(form, sized, { in: "base", start: 0, by: data, word: 1, padded }, seeds, steps);
  }
  if (flagBytes > 0) steps.push({ op: "TEXPANDS", to: { in: "seen", from: 0 }, by: 0, length: flagBytes });
  if (hasBorder(form))
    steps.push({ op: "TEXPANDS", to: { in: "border", from: 0 }, by: 0, length: target.blockBytes / 4 });
  return { seeds, steps };
}

interface Filling {
  readonly in: AddedName;
  readonly start: number;
  /** By output dim, and by word of an element. */
  readonly by: readonly number[];
  readonly word: number;
  /** True if the padding of a row maps to the padding of another row, which exists. */
  readonly padded: boolean;
}

/**
 * Appends to `seeds` the scalar writes, and to `steps` the vector instructions, that fill a buffer for one
 * chunk of a tile. Each word of the buffer is a linear function of the word's coordinates in the chunk.
 */
function fill(
  { each, output, tile }: Form,
  { extents, length }: Sized,
  { in: name, start, by, word, padded }: Filling,
  seeds: Seed[],
  steps: FlatStep[],
): void {
  const last = tile.length - 1;
  const along = at(by, last);
  seeds.push({
    in: name,
    values: Array.from({ length: block }, (_, p) => start + Math.floor(p / each) * along + (p % each) * word),
  });
  const copy = (at: number, words: number, more: number): void => {
    steps.push({
      op: "TADDS",
      to: { in: name, from: at },
      of: { in: name, from: 0 },
      by: more,
      length: words,
    });
  };
  const severalRows = extents.slice(0, last).some((extent) => extent > 1);
  const row = severalRows ? at(output, last - 1) : length;
  for (let have = block; have < row; have *= 2) {
    copy(have, Math.min(have, row - have), (have / each) * along);
  }
  const max = start + (at(extents, last) - 1) * along + (each - 1) * word;
  // Words behind a row's last element are as that: what they name is there, whatever strip they are in.
  if (!padded && along > 0 && row > at(extents, last) * each) {
    const run: WordRun = { in: name, from: 0 };
    steps.push({ op: "TMINS", to: run, of: run, by: max, length: row });
  }
  for (let d = last - 1; d >= 0; d--) {
    for (let have = 1; have < at(extents, d); have *= 2) {
      copy(have * at(output, d), Math.min(have, at(extents, d) - have) * at(output, d), have * at(by, d));
    }
  }
}

/**
 * Returns the instructions that reduce the out-of-range flags in the buffer `seen` with OR to one block.
 * `length`: number of flags, in 32-bit words.
 */
function folded(length: number): FlatStep[] {
  const steps: FlatStep[] = [];
  const flagRun = (from: number): WordRun => ({ in: "seen", from });
  for (let words = length; words > block;) {
    const half = alignUp(words / 2, block);
    steps.push({ op: "TOR", to: flagRun(0), of: flagRun(0), by: flagRun(half), length: words - half });
    words = half;
  }
  return steps;
}
