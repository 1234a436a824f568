/**
 * A value row by row (ir/tiling/value-rows.ts): index values by the scalar unit, rows by TLOAD into a tile of
 * their own type, what stands still along a row by TEXPANDS, then an instruction on the row for each step.
 *
 * Types that the headers take beside those of gather-flat.ts (hw-native-sys/pto-isa 3186c381, docs/isa):
 * TADD, TMUL, TMIN, TMAX, TADDS, TMULS, TMINS and TMAXS of `float`; TEXPANDS of words of 8 to 32 bits; TCVT
 * of the pairs of ir/values/vector-steps.ts. No instruction adds along a row or by pairs (TROWSUM, TCOLSUM),
 * and none rounds once for two steps (TAXPY, TMULADDDST): their bits are others.
 */
import type { Coordinate, NamedPoint } from "./forms.js";
import { reductionDim } from "../../ir/access.js";
import { inputsOf } from "../../ir/func.js";
import { atomsOf, dimsOf, mod, type Atom } from "../../ir/linear.js";
import type { Pipe, UbBuffer } from "../../ir/tile.js";
import {
  computedByRow,
  liesInTile,
  programOfRows,
  readForm,
  readsOfSteps,
  type ReadForm,
} from "../../ir/tiling/value-rows.js";
import { assertNever, at, invariant } from "../../ir/types.js";
import { numberOf } from "../../ir/values/index.js";
import type { Reduction } from "../../ir/values/expression.js";
import type { VectorPlace, VectorProgram, VectorStep, VectorWord } from "../../ir/values/vector-steps.js";
import { fixed, type Extent, type PtoContext } from "./context.js";
import { overDims, readerOf } from "./gather-rows.js";
import { outputBuffer, type PtoGather } from "./plan.js";
import { emitIndexSteps, type Reader } from "./indices.js";
import { emitTransfer } from "./transfer.js";
import { conversionText, dataWord, numberWord, type Word } from "./words.js";
import { RowTiles } from "./row-tiles.js";

/**
 * Emits a gather whose output elements are computed (by casts, arithmetic or a reduction), not only copied.
 */
export function emitValues(context: PtoContext, gather: PtoGather): void {
  const types = inputsOf(context.plan.func).map(({ type }) => type.dtype);
  new ValueRows(context, gather, programOfRows(gather.stmt.map, types)).emit();
}

class ValueRows {
  private readonly output: UbBuffer;
  private readonly byRow: boolean;
  /** Elements of a row. */
  private readonly columns: Extent;
  /**
   * Tile that the elements of each read are brought to, by its number; absent where they lie in one as a row
   * does.
   */
  private readonly gathered: readonly (UbBuffer | undefined)[];
  private readonly slots: readonly UbBuffer[];
  private readonly sum: UbBuffer | undefined;
  private readonly readers = new Map<number, Reader>();
  /** Tiles of rows; those of buffers are declared for the whole statement. */
  private readonly rows: RowTiles;

  constructor(
    private readonly context: PtoContext,
    private readonly gather: PtoGather,
    private readonly program: VectorProgram,
  ) {
    const { map, to, scratch = [] } = gather.stmt;
    const { plan } = context;
    this.output = outputBuffer(plan, gather);
    this.byRow = computedByRow(map);
    const last = map.domain.length - 1;
    this.columns = this.byRow ? context.extent(at(to.sizes, last), at(this.output.shape, last)) : fixed(1);
    this.rows = new RowTiles(context, this.columns);
    const buffers = scratch.map((name) => {
      const buffer = plan.buffers.get(name);
      invariant(buffer !== undefined, `%${name} is a tile of the value`);
      return buffer;
    });
    let next = 0;
    this.gathered = map.reads.map((read) =>
      this.inTile(read.table) && liesInTile(map, read) ? undefined : buffers[next++],
    );
    this.slots = buffers.slice(next, next + program.slots + (this.byRow ? 0 : 1));
    this.sum = program.reduction === undefined ? undefined : buffers[next + this.slots.length];
  }

  emit(): void {
    const { context, gather, output } = this;
    const { map, to } = gather.stmt;
    this.hand(gather.pipe, ["S", "V", "MTE2"]);
    context.switchCopy(output);
    for (const table of this.tablesRead())
      this.readers.set(table, readerOf(context, at(gather.stmt.from, table)));
    if (!this.byRow) context.bufferTile(output, to.sizes);
    this.declareTiles();
    const upTo = this.byRow ? map.domain.length - 1 : map.domain.length;
    overDims(context, { sizes: gather.stmt.to.sizes, shape: output.shape }, upTo, (dims) => {
      this.emitRow(dims);
    });
    for (const pipe of ["S", "V", "MTE2"] as const) this.hand(pipe, [gather.pipe]);
  }

  /**
   * Emits waits, so that all work given to a pipe so far precedes the work given to other pipes from here on.
   */
  private hand(from: Pipe, others: readonly Pipe[]): void {
    for (const to of others) if (to !== from) this.context.wait(from, to);
  }

  private inTile(table: number): boolean {
    return this.context.plan.buffers.has(at(this.gather.stmt.from, table).buffer);
  }

  /** Tables that the scalar unit reads. */
  private tablesRead(): readonly number[] {
    const { map } = this.gather.stmt;
    const reads = map.reads.filter(
      (read, k) => this.gathered[k] !== undefined && !this.isLoaded(readForm(map, read), read.table),
    );
    return [
      ...new Set([
        ...this.gather.indexSteps.flatMap(({ table }) => table ?? []),
        ...reads.map(({ table }) => table),
      ]),
    ];
  }

  private isLoaded(form: ReadForm, table: number): boolean {
    return form.kind === "row" && !this.inTile(table);
  }

  private reader(table: number): Reader {
    const reader = this.readers.get(table);
    invariant(reader !== undefined, `table ${table} is read by the scalar unit`);
    return reader;
  }

  private emitRow(dims: readonly Coordinate[]): void {
    const { gather, context } = this;
    const { out } = context;
    const names: string[] = [];
    const ofElement = gather.indexSteps.filter(({ inReduction }) => !inReduction);
    const compute = (): void => {
      if (this.program.reduction !== undefined) this.emitReduction(dims, names);
      this.emitReads(this.program.element, { dims, indices: names });
      this.emitSteps(this.program.element, { dims, indices: names });
      if (!this.byRow) this.emitElement(dims, names);
    };
    if (ofElement.length === 0) {
      compute();
      return;
    }
    emitIndexSteps(context, gather, {
      steps: ofElement,
      read: (table) => this.reader(table),
      dims,
      names,
      inside: "inside",
      marks: gather.reports,
    });
    context.scope("if (inside)", compute);
    context.scope("else", () => {
      const word = dataWord(this.output.dtype, false);
      const fill = `(${word.name})${signedFill(gather.fill)}`;
      if (this.byRow) this.context.vectorInOrder(`TEXPANDS(${this.outputRow(word, dims)}, ${fill})`);
      else out.line(`${this.elementOf(dims)}, ${fill});`);
    });
  }

  /** Returns the first half of the write of one output element. */
  private elementOf(dims: readonly Coordinate[]): string {
    const tile = this.context.tileOf(this.output.name);
    invariant(tile !== undefined, "the output tile is declared");
    return `${tile}.SetValue(${this.context.form(this.gather.addresses.output, dims)}`;
  }

  private emitElement(dims: readonly Coordinate[], indices: readonly string[]): void {
    const word = dataWord(this.output.dtype, false);
    this.context.wait("V", "S");
    this.context.out.line(
      `${this.elementOf(dims)}, ${this.tileOf({ kind: "output" }, word, { dims, indices })}.GetValue(0));`,
    );
    this.context.wait("S", "V");
  }

  private emitReduction(dims: readonly Coordinate[], names: string[]): void {
    const { context, gather, program } = this;
    const { out } = context;
    const { map } = gather.stmt;
    const { reduction } = program;
    invariant(reduction !== undefined && map.reduced !== undefined, "an element has terms");
    const sum = this.tileOf({ kind: "sum" }, numberWord("i32"), { dims, indices: names });
    const word = gather.values?.reduction?.type === "f32" ? "f32" : "i32";
    this.context.vectorInOrder(`TEXPANDS(${sum}, (int32_t)${startOf(reduction.how, word)})`);
    const starts = reduction.how !== "fold";
    if (starts) out.line("bool any = false;");
    const { max, segment } = map.reduced;
    const [from, to] =
      segment === undefined
        ? ["0", String(max)]
        : [`(int32_t)${at(names, segment.from)}`, at(names, segment.to)];
    context.scope(`for (int32_t term = ${from}; term < ${to}; term++)`, () => {
      const within = [...dims];
      within[reductionDim(map)] = "term";
      const point = { dims: within, indices: names };
      const take = (): void => {
        this.emitReads(reduction.steps, point);
        this.emitSteps(reduction.steps, point);
        if (starts) out.line("any = true;");
      };
      const reduced = gather.indexSteps.filter(({ inReduction }) => inReduction);
      if (reduced.length === 0) {
        take();
        return;
      }
      emitIndexSteps(context, gather, {
        steps: reduced,
        read: (table) => this.reader(table),
        dims: within,
        names,
        inside: "taken",
        marks: gather.reports,
      });
      context.scope("if (taken)", take);
    });
    if (starts) {
      context.scope("if (!any)", () => {
        this.context.vectorInOrder(`TEXPANDS(${sum}, (int32_t)0)`);
      });
    }
  }

  /** Brings what the steps read to UB, but what lies there. */
  private emitReads(steps: readonly VectorStep[], point: NamedPoint): void {
    const { map } = this.gather.stmt;
    const copied = readsOfSteps(steps).flatMap((read) => {
      const to = this.gathered[read];
      return to === undefined ? [] : [{ read, to, form: readForm(map, at(map.reads, read)) }];
    });
    const loads = copied.filter(({ read, form }) => this.isLoaded(form, at(map.reads, read).table));
    if (loads.length > 0) this.context.wait("V", "MTE2");
    for (const { read, to } of loads) this.load(read, to, point);
    if (loads.length > 0) this.context.wait("MTE2", "V");
    for (const { read, to, form } of copied) {
      const { table } = at(map.reads, read);
      if (this.isLoaded(form, table)) continue;
      switch (form.kind) {
        case "still":
          this.context.vectorInOrder(
            `TEXPANDS(${this.rows.of(to, dataWord(to.dtype, false))}, ${this.element(read, point)})`,
          );
          break;
        case "pieces":
          this.spread(read, to, point);
          break;
        case "row":
        case "elements":
          this.copy(read, to, point);
          break;
        default:
          assertNever(form);
      }
    }
  }

  private load(read: number, to: UbBuffer, { dims, indices }: NamedPoint): void {
    const { gather, context } = this;
    const { map, from } = gather.stmt;
    emitTransfer(context, {
      what: "load",
      operand: at(from, at(map.reads, read).table).buffer,
      start: at(gather.addresses.reads, read),
      strides: [1],
      buffer: to,
      shape: to.shape,
      address: context.address(to),
      sizes: [at(gather.stmt.to.sizes, map.domain.length - 1)],
      dims,
      indices,
    });
  }

  /** Returns the word of an element, at a column where one is named. */
  private element(read: number, { dims, indices }: NamedPoint, column?: string): string {
    const { map } = this.gather.stmt;
    const point = [...dims];
    if (column !== undefined) point[map.domain.length - 1] = column;
    return this.reader(at(map.reads, read).table)(
      this.context.form(at(this.gather.addresses.reads, read), point, indices),
    );
  }

  /**
   * Emits the words that several neighbours share, from the last word to the first. Each word fills the row
   * from its start to the end of its neighbours, since a tile begins at a block.
   */
  private spread(read: number, to: UbBuffer, point: NamedPoint): void {
    const { context, gather } = this;
    const { out } = context;
    const last = gather.stmt.map.domain.length - 1;
    const word = dataWord(to.dtype, false);
    const quotient = atomsOf(at(gather.addresses.reads, read)).find((atom) => isQuotientOf(atom, last));
    if (quotient?.kind !== "div") {
      // A dim of one piece has no address.
      this.context.vectorInOrder(`TEXPANDS(${this.rows.of(to, word)}, ${this.element(read, point)})`);
      return;
    }
    context.scope(`for (int32_t end = ${this.columns.text}; end > 0;)`, () => {
      const dims = [...point.dims];
      dims[last] = "column";
      out.line("const int32_t column = end - 1;");
      const piece = context.fresh("row");
      const upTo: Extent = { text: "end", max: this.columns.max, fixed: false };
      context.tile(piece, "Row", { ...this.rows.shape(word), valid: [fixed(1), upTo] }, context.address(to));
      this.context.vectorInOrder(`TEXPANDS(${piece}, ${this.element(read, { ...point, dims })})`);
      out.line(
        `end = column - (int32_t)${context.form(mod(quotient.of, quotient.by), dims, point.indices)};`,
      );
    });
  }

  private copy(read: number, to: UbBuffer, point: NamedPoint): void {
    const { context } = this;
    const tile = this.rows.of(to, dataWord(to.dtype, false));
    context.wait("V", "S");
    context.nest([{ name: "column", end: this.columns.text }], () => {
      context.out.line(`${tile}.SetValue(column, ${this.element(read, point, "column")});`);
    });
    context.wait("S", "V");
  }

  private emitSteps(steps: readonly VectorStep[], point: NamedPoint): void {
    for (const step of steps) this.context.vectorInOrder(this.instruction(step, point));
  }

  private instruction(step: VectorStep, point: NamedPoint): string {
    const tile = (place: VectorPlace, word: Word): string => this.tileOf(place, word, point);
    switch (step.op) {
      case "TCVT": {
        const { from, to } = step.cast;
        return conversionText(tile(step.to, numberWord(to)), tile(step.of, numberWord(from)), step.cast);
      }
      case "TADD":
      case "TSUB":
      case "TMUL":
      case "TDIV":
      case "TMIN":
      case "TMAX": {
        const word = numberWord(step.word);
        return `${step.op}(${[step.to, ...step.of].map((place) => tile(place, word)).join(", ")})`;
      }
      case "TADDS":
      case "TMULS":
      case "TDIVS":
      case "TMINS":
      case "TMAXS":
      case "TSHLS":
      case "TSHRS": {
        const word = numberWord(step.word);
        return `${step.op}(${tile(step.to, word)}, ${tile(step.of, word)}, ${scalarText(step.word, step.by)})`;
      }
      case "TEXPANDS":
        return `TEXPANDS(${tile(step.to, numberWord(step.word))}, ${scalarText(step.word, step.by)})`;
      case "TMOV": {
        const word = dataWord(step.type, false);
        return `TMOV(${tile(step.to, word)}, ${tile(step.of, word)})`;
      }
      default:
        return assertNever(step);
    }
  }

  /** Returns the tile of a place as words. */
  private tileOf(place: VectorPlace, word: Word, point: NamedPoint): string {
    switch (place.kind) {
      case "slot":
        return this.rows.of(at(this.slots, place.slot), word);
      case "sum":
        invariant(this.sum !== undefined, "terms have a sum");
        return this.rows.of(this.sum, word);
      case "output":
        return this.byRow
          ? this.outputRow(word, point.dims)
          : this.rows.of(at(this.slots, this.slots.length - 1), word);
      case "read": {
        const gathered = this.gathered[place.read];
        if (gathered !== undefined) return this.rows.of(gathered, word);
        const { map, from } = this.gather.stmt;
        const buffer = this.context.plan.buffers.get(at(from, at(map.reads, place.read).table).buffer);
        invariant(buffer !== undefined, "what lies in a tile is in UB");
        const address = at(this.gather.addresses.reads, place.read);
        return this.rows.declare(this.context.within(buffer, address, point.dims, point.indices), word);
      }
      default:
        return assertNever(place);
    }
  }

  private outputRow(word: Word, dims: readonly Coordinate[]): string {
    return this.rows.declare(this.context.within(this.output, this.gather.addresses.output, dims), word);
  }

  /** Declares the tiles of all that is no part of an operand, before any loop. */
  private declareTiles(): void {
    const { map } = this.gather.stmt;
    const { element, reduction } = this.program;
    const nowhere: NamedPoint = { dims: [], indices: [] };
    const declare = (place: VectorPlace, word: Word): void => {
      const inOperand =
        place.kind === "output"
          ? this.byRow
          : place.kind === "read" && this.gathered[place.read] === undefined;
      if (!inOperand) this.tileOf(place, word, nowhere);
    };
    for (const [read, to] of this.gathered.entries()) {
      if (to !== undefined && !this.isLoaded(readForm(map, at(map.reads, read)), at(map.reads, read).table))
        this.rows.of(to, dataWord(to.dtype, false));
    }
    if (this.sum !== undefined) this.rows.of(this.sum, numberWord("i32"));
    for (const step of [...(reduction?.steps ?? []), ...element]) {
      for (const [place, word] of wordsOf(step)) declare(place, word);
    }
    if (!this.byRow) declare({ kind: "output" }, dataWord(this.output.dtype, false));
  }
}

/**
 * Returns the operands of a vector instruction, each with the word type (C++ element type) in which the
 * instruction reads or writes it.
 */
function wordsOf(step: VectorStep): readonly (readonly [VectorPlace, Word])[] {
  const as = (word: Word, ...locations: readonly VectorPlace[]) =>
    locations.map((place) => [place, word] as const);
  if (step.op === "TCVT")
    return [...as(numberWord(step.cast.to), step.to), ...as(numberWord(step.cast.from), step.of)];
  if (step.op === "TMOV") return as(dataWord(step.type, false), step.to, step.of);
  const word = numberWord(step.word);
  if (step.op === "TEXPANDS") return as(word, step.to);
  return as(word, step.to, ...("kind" in step.of ? [step.of] : step.of));
}

const isQuotientOf = (atom: Atom, dim: number): boolean =>
  atom.kind === "div" && dimsOf(atom.of).includes(dim);

/** Returns the bits that a maximum or minimum begins at, and +0 of a sum, as an `int32_t`. */
function startOf(how: Reduction, word: VectorWord): number {
  if (how !== "max" && how !== "min") return 0;
  const top = how === "max" ? -1 : 1;
  if (word === "f32") return top < 0 ? 0xff800000 | 0 : 0x7f800000;
  return top < 0 ? -(2 ** 31) : 2 ** 31 - 1;
}

/** Returns the fill bits as a signed word. */
const signedFill = (bytes: Uint8Array): string =>
  String(
    BigInt.asIntN(
      8 * bytes.length,
      bytes.reduceRight((bits, byte) => bits * 256n + BigInt(byte), 0n),
    ),
  );

/** Returns the C++ literal of a scalar with the given bits, as `int32_t` or `float`. */
function scalarText(word: VectorWord, bits: number): string {
  if (word === "i32") return `(int32_t)${bits | 0}`;
  const value = numberOf("f32", bits);
  // The shortest decimal of an f32 as f64 is read as that f32 again.
  const text = Object.is(value, -0) ? "-0" : String(value);
  return `${/^-?\d+$/.test(text) ? `${text}.0` : text}f`;
}
