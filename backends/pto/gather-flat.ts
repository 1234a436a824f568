/**
 * The class `flat` (ir/tiling/flat.ts) as text: every step is an instruction on a tile of one row.
 *
 * Types that the headers take (hw-native-sys/pto-isa 3186c381, include/pto/npu/a2a3, unless a5 is named):
 *
 * - TADDS, TMULS, TMAXS, TMINS: `int32_t`, no `uint32_t` (TAddS.hpp:52, TMulS.hpp:52, TMaxS.hpp:53, TMins.hpp:52).
 * - TADD, TSUB, TMUL, TMAX: the same (TAdd.hpp:62, TSub.hpp:61, TMul.hpp:61, TMax.hpp:61).
 * - TSHRS: 16 and 32 bits (TBitwiseSOp.hpp:24). TAND, TOR: three tiles of one type (TAnd.hpp:75, TOr.hpp:65).
 * - TEXPANDS: integers of 8 to 32 bits (TExpandS.hpp:144).
 * - TGATHER: words of 2 or 4 bytes, 32-bit indices, `tmp` of the type of the indices (TGather.hpp:20, 23, 27) and of their valid
 *   shape (:96); on A5 words of 1 to 8 bytes (a5/TGather.hpp:22), 8 of them by 32-bit indices alone (:29).
 * - TCVT has no assertion. Its dispatch has the pairs of types used here: 8-bit to half (TCvt.hpp:767, 771), 16-bit to float (775),
 *   64-bit to 32-bit (779), float and half to 32-bit (828, 843), half to `uint8_t` (857). *
 * include/pto/npu/a5 takes them too: TADDS, TMULS, TMAXS, TMINS, TSHRS, TEXPANDS of `int32_t` (TAddS.hpp:57,
 * TMulS.hpp:57, TMaxs.hpp:57, TMins.hpp:57, TShrS.hpp:57, TExpandS.hpp:149), TADD, TSUB, TMUL, TMAX
 * (TAdd.hpp:60, TSub.hpp:59, TMul.hpp:59, TMax.hpp:59), TAND and TOR (TAnd.hpp:55, TOr.hpp:54), and the pairs
 * of TCVT: 8-bit to half (TCvt.hpp:1868, 1902), 16-bit to float (1991), 64-bit to 32-bit (2207), float and
 * half to 32-bit (1271, 1420), half to `uint8_t` (1493).
 */
import type { Coordinate } from "./forms.js";
import { dim, scale, sumOf, type Linear } from "../../ir/linear.js";
import type { FlatProgram, FlatStep, FlatChunk, WordRun, ChunkDim } from "../../ir/tiling/flat-program.js";
import type { UbBuffer } from "../../ir/tile.js";
import { alignUp, assertNever, at, invariant } from "../../ir/types.js";
import { fixed, type PtoContext, type Extent } from "./context.js";
import { addedName, dataBuffer, outputBuffer, type PtoGather } from "./plan.js";
import { float, half, i16, i32, i8, indexWord, u8, type Word } from "./words.js";

const programOf = ({ lowering }: PtoGather): FlatProgram => {
  invariant(lowering.flat !== undefined, "a flat gather has a program");
  return lowering.flat;
};

/** Chunk of a gather in the program's tiles: the coordinates of its first element, and the tiles. */
interface Chunk {
  readonly dims: readonly Coordinate[];
  /** Sizes of the output tile that the chunk is in, by dim. */
  readonly sizes: readonly Extent[];
  readonly index: UbBuffer;
  readonly output: UbBuffer;
}

interface Access {
  readonly in: WordRun["in"];
  readonly from: number;
  readonly to: number;
  readonly write: boolean;
}

/**
 * Accesses of the instructions since the last barrier. A barrier is emitted before an instruction that reads
 * or overwrites what another wrote, or overwrites what another read.
 */
class Touched {
  private readonly accesses: Access[] = [];

  constructor(private readonly context: PtoContext) {}

  next(accesses: readonly Access[]): void {
    const meets = accesses.some((a) =>
      this.accesses.some((b) => a.in === b.in && (a.write || b.write) && a.from < b.to && b.from < a.to),
    );
    if (meets) {
      this.context.barrier();
      this.accesses.length = 0;
    }
    this.accesses.push(...accesses);
  }
}

const everything = Number.MAX_SAFE_INTEGER;

const access = ({ in: name, from }: WordRun, length: number, write = false): Access => ({
  in: name,
  from,
  to: from + length,
  write,
});

/**
 * Returns the ranges of words in the unified buffer (UB) that one step of a flat gather (lowering to vector
 * instructions) reads and writes.
 */
function accessesOf(step: FlatStep): readonly Access[] {
  switch (step.op) {
    case "TADDS":
    case "TMULS":
    case "TMAXS":
    case "TMINS":
    case "TSHRS":
      return [access(step.of, step.length), access(step.to, step.length, true)];
    case "TADD":
    case "TSUB":
    case "TMUL":
    case "TMAX":
    case "TAND":
    case "TOR":
      return [access(step.of, step.length), access(step.by, step.length), access(step.to, step.length, true)];
    case "TEXPANDS":
      return [access(step.to, step.length, true)];
    case "TGATHER":
      return [access(step.of, step.held), access(step.by, step.length), access(step.to, step.length, true)];
    case "TCVT":
      return [
        access({ in: "index", from: 0 }, everything),
        access({ in: "narrow", from: 0 }, everything, true),
      ];
    case "widen":
      return [
        access({ in: "index", from: 0 }, everything),
        access({ in: "narrow", from: 0 }, everything, true),
      ];
    case "see":
      return [access(step.of, everything), access({ in: "seen", from: 0 }, everything, true)];
    default:
      return assertNever(step);
  }
}

/** Tiles of one row that were declared in a scope, by what they are. */
class Rows {
  private readonly rowNames = new Map<string, string>();

  constructor(
    private readonly context: PtoContext,
    private readonly program: Pick<FlatProgram, "wordBytes" | "indexBytes" | "starts">,
    private readonly chunk?: Chunk,
  ) {}

  /** Returns the tile of a run of 32-bit words. */
  of(run: WordRun, length: number): string {
    return this.tile("Row", i32, this.address(run), { rows: 1, columns: length, pitch: length });
  }

  tile(
    type: string,
    word: Word,
    address: string,
    { rows, columns, pitch }: { readonly rows: number; readonly columns: number; readonly pitch: number },
  ): string {
    const key = [type, word.name, address, rows, columns, pitch].join();
    const name = this.rowNames.get(key);
    if (name !== undefined) return name;
    const row = this.context.fresh("row");
    const shape = {
      word,
      rows,
      columns: alignUp(pitch * word.bytes, this.context.plan.target.blockBytes) / word.bytes,
      valid: [fixed(rows), fixed(columns)] as const,
    };
    this.context.tile(row, type, shape, address);
    this.rowNames.set(key, row);
    return row;
  }

  /** Returns a byte address. */
  address({ in: name, from }: WordRun): string {
    const { chunk, program } = this;
    const more = from === 0 ? "" : ` + ${4 * from}`;
    if (name !== "index" && name !== "output") return addedName(name) + more;
    invariant(chunk !== undefined, "strips alone touch the program's tiles");
    return name === "index"
      ? this.within(chunk.index, program.starts.index, program.indexBytes) + more
      : this.within(chunk.output, program.starts.output, program.wordBytes) + more;
  }

  /**
   * Returns the byte address at which a chunk starts in a buffer of the program; in the widened data if
   * `buffer` is undefined.
   */
  within(buffer: UbBuffer | undefined, starts: readonly number[], bytes: number): string {
    const { context, chunk } = this;
    const offset: Linear = sumOf(starts.map((start, d) => scale(dim(d), start * bytes)));
    return (
      (buffer === undefined ? "widened_ub" : context.address(buffer)) +
      context.more(offset, chunk?.dims ?? [])
    );
  }
}

const number = (value: string | number): string =>
  `(int32_t)${/^-?\d+$/.test(String(value)) ? value : `(${value})`}`;

/**
 * Emits the setup code of a flat gather (lowering to vector instructions). A core executes the setup before
 * the first task.
 */
export function emitFlatSetup(context: PtoContext, gather: PtoGather): void {
  const program = programOf(gather);
  const { seeds, steps } = program.setup;
  const rows = new Rows(context, program);
  for (const { in: name, values } of seeds) {
    const tile = rows.of({ in: name, from: 0 }, values.length);
    values.forEach((value, k) => {
      context.out.line(`${tile}.SetValue(${k}, ${value});`);
    });
  }
  if (seeds.length > 0) context.flags("S", "V", "EVENT_ID1");
  emitSteps(context, rows, steps, () => "0");
}

/**
 * Emits the test whether a flat gather met an index out of range. The emitted code combines all out-of-range
 * flags and sets `bad` if any flag is not 0.
 */
export function emitOutOfRangeFlags(context: PtoContext, gather: PtoGather): void {
  const program = programOf(gather);
  const rows = new Rows(context, program);
  context.barrier();
  emitSteps(context, rows, program.close, () => "0");
  const words = context.plan.target.blockBytes / i32.bytes;
  const flags = rows.of({ in: "seen", from: 0 }, words);
  context.wait("V", "S");
  context.out.line(`for (int32_t c = 0; c < ${words}; c++) bad = bad || ${flags}.GetValue(c) != 0;`);
}

/**
 * Emits a gather with the lowering `flat`: vector instructions for one chunk of the output tile after
 * another.
 */
export function emitFlat(context: PtoContext, gather: PtoGather): void {
  const { plan } = context;
  const { stmt, pipe } = gather;
  const program = programOf(gather);
  const data = dataBuffer(plan, gather);
  const index = plan.buffers.get(at(stmt.from, 1).buffer);
  invariant(data !== undefined && index !== undefined, "a flat gather reads tiles in UB");
  const output = outputBuffer(plan, gather);
  if (pipe !== "V") context.wait(pipe, "V");
  context.switchCopy(output);
  if (program.widened !== undefined) emitWidened(context, program.widened.words, data);
  const sizes = stmt.to.sizes.map((size, d) => context.extent(size, at(output.shape, d)));
  const chunkOf = (entries: FlatChunk, dims: readonly Coordinate[]): void => {
    emitChunk(context, gather, entries, { dims, index, output, sizes }, data);
  };
  const { dim: cut, extent, full, tail } = program;
  const size = at(sizes, cut);
  const max = Math.floor(extent / full.entries);
  const nest = (d: number, dims: readonly Coordinate[]): void => {
    const rest = (at: Coordinate): readonly Coordinate[] => [...dims, at, ...sizes.slice(d + 1).map(() => 0)];
    const name = `d${d}`;
    if (d < cut) {
      const { text, max: rows } = at(sizes, d);
      if (rows === 1) nest(d + 1, [...dims, 0]);
      else
        context.nest([{ name, end: text }], () => {
          nest(d + 1, [...dims, name]);
        });
      return;
    }
    if (max === 1) chunkOf(full, rest(0));
    else {
      const end = max * full.entries;
      const until = size.fixed
        ? String(Math.min(end, size.max))
        : tail === undefined
          ? size.text
          : `(${size.text} < ${end} ? ${size.text} : ${end})`;
      context.scope(`for (int32_t ${name} = 0; ${name} < ${until}; ${name} += ${full.entries})`, () => {
        chunkOf(full, rest(name));
      });
    }
    if (tail === undefined) return;
    const start = max * full.entries;
    if (size.fixed) chunkOf(tail, rest(start));
    else
      context.scope(`if (${size.text} > ${start})`, () => {
        chunkOf(tail, rest(start));
      });
  };
  nest(0, []);
  if (pipe !== "V") context.wait("V", pipe);
}

/**
 * Emits the conversion of a data tile with 1-byte elements to f16. The gather then moves the bits of the f16
 * elements. `words`: number of elements to convert.
 */
function emitWidened(context: PtoContext, words: number, data: UbBuffer): void {
  const rows = new Rows(context, {
    wordBytes: 1,
    indexBytes: 4,
    starts: { data: [], index: [], output: [] },
  });
  const shape = { rows: 1, columns: words, pitch: words };
  const bytes = rows.tile("Bytes", u8, context.address(data), shape);
  const wide = rows.tile("Halves", half, "widened_ub", shape);
  context.barrier();
  context.out.line(`TCVT(${wide}, ${bytes}, RoundMode::CAST_NONE);`);
}

/**
 * Emits a flat gather for one chunk of the output tile: address computation, TGATHER, then conversions from
 * f16 for widened elements.
 */
function emitChunk(
  context: PtoContext,
  gather: PtoGather,
  { steps, addresses, length, span }: FlatChunk,
  chunk: Chunk,
  data: UbBuffer,
): void {
  const program = programOf(gather);
  const { starts } = program;
  const rows = new Rows(context, program, chunk);
  const { widened } = program;
  const word = widened === undefined ? context.plan.words(chunk.output.name) : i16;
  const from = rows.within(widened === undefined ? data : undefined, starts.data, word.bytes);
  const border = `(border_ub - ${/ [+-] /.test(from) ? `(${from})` : from}) / ${word.bytes}`;
  // Strips share what they work in.
  context.barrier();
  const touched = emitSteps(context, rows, steps, () => border, chunk);
  touched.next([access(addresses, length, true), access({ in: "output", from: 0 }, everything, true)]);
  const source = rows.tile("Source", word, from, { rows: 1, columns: span, pitch: span });
  const shape = { rows: 1, columns: length, pitch: length };
  const place = rows.address({ in: "output", from: 0 });
  const address = widened === undefined ? place : `widened_ub + ${widened.output}`;
  const to = rows.tile("Words", word, address, shape);
  const picked = rows.of(addresses, length);
  context.out.line(`TGATHER(${to}, ${source}, ${picked}, ${picked});`);
  if (widened === undefined) return;
  const halves = rows.tile("Halves", half, address, shape);
  const bytes = rows.tile("Bytes", u8, place, shape);
  context.barrier();
  // To `uint8_t`: a conversion to `int8_t` that does not saturate takes scratch (pto-isa
  // include/pto/npu/a2a3/TCvt.hpp:948).
  context.out.line(`TCVT(${bytes}, ${halves}, RoundMode::CAST_TRUNC, SaturationMode::ON);`);
}

/**
 * Returns the length, in rows or 32-bit words, of the part of a chunk that lies inside the output tile, along
 * one dim. A tile at the end of the output may be smaller than a chunk. `each`: number of rows or words that
 * one element takes.
 */
function validExtent({ dims, sizes }: Chunk, { dim: d, extent, each }: ChunkDim): Extent {
  const size = at(sizes, d);
  const start = at(dims, d);
  if (size.fixed) return fixed(extent * each);
  const left = start === 0 ? size.text : `${size.text} - ${start}`;
  const valid = extent === size.max ? size.text : `(${left} < ${extent} ? ${left} : ${extent})`;
  return { text: each === 1 ? valid : `${valid} * ${each}`, max: extent * each, fixed: false };
}

/**
 * Emits the instructions of a flat gather's steps, with barriers between dependent steps. Returns the
 * accesses since the last barrier.
 */
function emitSteps(
  context: PtoContext,
  rows: Rows,
  steps: readonly FlatStep[],
  border: () => string,
  chunk?: Chunk,
): Touched {
  const touched = new Touched(context);
  for (const step of steps) {
    touched.next(accessesOf(step));
    switch (step.op) {
      case "TADDS":
      case "TMULS":
      case "TMAXS":
      case "TMINS":
      case "TSHRS": {
        const { op, to, of, by, length } = step;
        const value = number(by === "border" ? border() : by);
        context.out.line(`${op}(${rows.of(to, length)}, ${rows.of(of, length)}, ${value});`);
        break;
      }
      case "TADD":
      case "TSUB":
      case "TMUL":
      case "TMAX":
      case "TAND":
      case "TOR": {
        const { op, to, of, by, length } = step;
        const [a, b, c] = [to, of, by].map((run) => rows.of(run, length));
        context.out.line(`${op}(${a ?? ""}, ${b ?? ""}, ${c ?? ""});`);
        break;
      }
      case "TEXPANDS":
        context.out.line(`TEXPANDS(${rows.of(step.to, step.length)}, ${number(step.by)});`);
        break;
      case "TGATHER": {
        const picked = rows.of(step.by, step.length);
        context.out.line(
          `TGATHER(${rows.of(step.to, step.length)}, ${rows.of(step.of, step.held)}, ${picked}, ${picked});`,
        );
        break;
      }
      case "TCVT": {
        invariant(chunk !== undefined, "strips alone hold index values");
        const { rows: count, columns, fromPitch, toPitch } = step;
        const wide = rows.tile("Wide", indexWord(chunk.index.dtype), rows.address({ in: "index", from: 0 }), {
          rows: count,
          columns,
          pitch: fromPitch,
        });
        const narrow = rows.tile("Narrow", i32, rows.address({ in: "narrow", from: 0 }), {
          rows: count,
          columns,
          pitch: toPitch,
        });
        context.out.line(`TCVT(${narrow}, ${wide}, RoundMode::CAST_NONE, SaturationMode::ON);`);
        break;
      }
      case "widen":
        emitWiden(context, rows, step);
        break;
      case "see":
        invariant(chunk !== undefined, "strips alone have a valid part");
        emitSee(context, rows, step.of, step.dims, (dim) => validExtent(chunk, dim));
        break;
      default:
        assertNever(step);
    }
  }
  return touched;
}

/**
 * Emits the conversion of 8-bit or 16-bit index values to 32 bits. The intermediate type is half for 8 bits
 * and float for 16 bits.
 */
function emitWiden(
  context: PtoContext,
  rows: Rows,
  { bytes, signed, by, length }: Extract<FlatStep, { op: "widen" }>,
): void {
  const shape = { rows: 1, columns: length, pitch: length };
  const [name, word] = bytes === 2 ? (["Floats", float] as const) : (["Halves", half] as const);
  const type = bytes === 2 ? i16 : signed ? i8 : u8;
  const read = rows.tile("Short", type, rows.address({ in: "index", from: 0 }), shape);
  const between = rows.tile(name, word, rows.address(by), shape);
  const to = rows.of({ in: "narrow", from: 0 }, length);
  context.out.line(`TCVT(${between}, ${read}, RoundMode::CAST_NONE);`);
  context.barrier();
  context.out.line(`TCVT(${to}, ${between}, RoundMode::CAST_TRUNC);`);
}

/**
 * Emits instructions that combine (OR) the out-of-range flags of a chunk of the tile with the flags of
 * earlier chunks. Only the valid part of the chunk counts.
 */
function emitSee(
  context: PtoContext,
  rows: Rows,
  mark: WordRun,
  dims: readonly ChunkDim[],
  valid: (dim: ChunkDim) => Extent,
): void {
  const columns = at(dims, dims.length - 1);
  const inTile: ChunkDim | undefined = dims[dims.length - 2];
  const outer = dims.slice(0, -2);
  const shape = {
    word: i32,
    rows: inTile === undefined ? 1 : inTile.extent * inTile.each,
    columns:
      inTile?.stride ?? alignUp(columns.extent * columns.each, context.plan.target.blockBytes / i32.bytes),
    valid: [inTile === undefined ? fixed(1) : valid(inTile), valid(columns)] as const,
  };
  const loops = outer.map((dim, k) => ({ name: `m${k}`, end: valid(dim).text }));
  context.nest(loops, () => {
    const shift = loops.map(({ name }, n) => ` + ${name} * ${4 * at(outer, n).stride}`).join("");
    const [flags, flagsBefore] = [context.fresh("row"), context.fresh("row")];
    context.tile(flagsBefore, "Seen", shape, `seen_ub${shift}`);
    context.tile(flags, "Seen", shape, rows.address(mark) + shift);
    context.out.line(`TOR(${flagsBefore}, ${flagsBefore}, ${flags});`);
  });
}
