/**
 * State that the parts of a kernel share while the kernel is emitted: lines, names of tiles and types, and
 * printed linear forms.
 */
import { boundOf } from "../../ir/intervals/range.js";
import { isConstant, largestValue, scale, type Linear } from "../../ir/linear.js";
import { printAddend, printForm, printOperand, type FormLanguage } from "../../ir/text/form-text.js";
import type { Pipe, UbBuffer } from "../../ir/tile.js";
import { at, elementCount, invariant } from "../../ir/types.js";
import { Lines } from "../lines.js";
import { eventOfLowering } from "./events.js";
import { printSize, ptoForms, type Coordinate } from "./forms.js";
import type { PtoPlan } from "./plan.js";
import type { Word } from "./words.js";

/**
 * Extent of a PTO-ISA tile, in rows or words (C++ elements): a C++ expression (`text`), and its maximum.
 * `fixed`: true if the extent is constant.
 */
export interface Extent {
  readonly text: string;
  readonly max: number;
  readonly fixed: boolean;
}

/** Loop of a variable from 0 to `end`, exclusive, in C++. */
interface CountedLoop {
  readonly name: string;
  readonly end: string;
}

/** Returns a product of words, or of what stands in parentheses, so many times. */
const timesText = (text: string, by: number): string => (by === 1 ? text : `${text} * ${by}`);

const numbered = (name: string, k: number): string => (k === 0 ? name : `${name}${k + 1}`);

/** Returns an extent that is a constant number of rows or words. */
export const fixed = (count: number): Extent => ({ text: String(count), max: count, fixed: true });

/**
 * Shape of a PTO-ISA tile: a matrix of words (C++ elements), of which only the part `valid` has data. The
 * bytes of a row are a multiple of the memory block (pto-isa include/pto/common/pto_tile.hpp:1522).
 */
export interface TileShape {
  readonly word: Word;
  readonly rows: number;
  /** Words from one row to the next. */
  readonly columns: number;
  readonly valid: readonly [rows: Extent, columns: Extent];
}

/**
 * State that the emitters of one PTO-ISA kernel have in common: the lines of code, and the names of tiles,
 * types and sizes.
 */
export class PtoContext {
  readonly out = new Lines("    ");
  private readonly types = new Map<string, string[]>();
  private readonly counts = new Map<string, number>();
  /** Names of the variables that hold non-constant sizes, by the printed form of the size. */
  private readonly sizeNames = new Map<string, string>();
  /** The tile that stands for a whole buffer, where one is in scope. */
  private tiles = new Map<string, string>();
  /**
   * True if a quotient was printed whose dividend may be negative: the kernel then needs a function that
   * rounds down.
   */
  private roundsDown = false;

  constructor(readonly plan: PtoPlan) {}

  /** Returns a new name with a number: `tile0`, `tile1`, … */
  fresh(name: string): string {
    const count = this.counts.get(name) ?? 0;
    this.counts.set(name, count + 1);
    return `${name}${count}`;
  }

  /** Emits a block; the tiles declared in it are unknown after it. */
  scope(head: string, body: () => void): void {
    const outer = this.tiles;
    this.tiles = new Map(outer);
    this.out.block(head, body);
    this.tiles = outer;
  }

  /** Emits nested loops, outermost first. The variable of each goes from 0 to `end`, exclusive. */
  nest([loop, ...inner]: readonly CountedLoop[], body: () => void): void {
    if (loop === undefined) {
      body();
      return;
    }
    const { name, end } = loop;
    this.scope(`for (int32_t ${name} = 0; ${name} < ${end}; ${name}++)`, () => {
      this.nest(inner, body);
    });
  }

  tileOf(buffer: string): string | undefined {
    return this.tiles.get(buffer);
  }

  /** Returns the name of a type, declared once at the top of the kernel: `UbData`, `UbData2`, … */
  type(name: string, text: string): string {
    const types = this.types.get(name) ?? [];
    if (!types.includes(text)) types.push(text);
    this.types.set(name, types);
    return numbered(name, types.indexOf(text));
  }

  /** Types of tiles first. */
  typeLines(): string[] {
    const of = (prefix: string): string[] =>
      [...this.types]
        .filter(([name]) => name.startsWith(prefix))
        .flatMap(([name, texts]) => texts.map((text, k) => `using ${numbered(name, k)} = ${text};`));
    return [...of("Ub"), ...of("Gm")];
  }

  private language(
    dims: readonly Coordinate[] = [],
    indices: readonly string[] = [],
    isWide = false,
  ): FormLanguage {
    /** Returns the language of a dividend, in `int64_t`. */
    const wide = (): FormLanguage => (isWide ? language : this.language(dims, indices, true));
    const language = ptoForms({
      iv: this.plan.names.iv,
      dims,
      indices,
      isWide,
      quotient: (of, by) => this.quotient(of, by, wide()),
      remainder: (of, by) =>
        this.mayBeNegative(of)
          ? `(${printForm(of, wide())} - ${this.quotient(of, by, wide())} * ${by})`
          : `(${printOperand(of, wide())} % ${by})`,
    });
    return language;
  }

  private quotient(of: Linear, by: number, language: FormLanguage): string {
    if (!this.mayBeNegative(of)) return `(${printOperand(of, language)} / ${by})`;
    this.roundsDown = true;
    return `${this.plan.names.entryPoint}_floor(${printForm(of, language)}, ${by})`;
  }

  private mayBeNegative(of: Linear): boolean {
    const { gather, scatter } = this.plan;
    const ranges = (gather ?? scatter)?.ranges;
    return ranges === undefined || boundOf(of, ranges, "least") < 0;
  }

  /** Functions that what was printed calls. */
  helperLines(): string[] {
    if (!this.roundsDown) return [];
    return [
      "// The quotient, rounded down.",
      `AICORE inline int64_t ${this.plan.names.entryPoint}_floor(int64_t value, int64_t by)`,
      "{",
      "    return value >= 0 ? value / by : -((by - 1 - value) / by);",
      "}",
      "",
    ];
  }

  form(form: Linear, dims: readonly Coordinate[] = [], indices: readonly string[] = []): string {
    return printForm(form, this.language(dims, indices));
  }

  /** Returns the same in `int64_t`. */
  wideForm(form: Linear, dims: readonly Coordinate[], indices: readonly string[]): string {
    return printForm(form, this.language(dims, indices, true));
  }

  /** Returns a form as an addend: ` + …`, or an empty text. */
  more(form: Linear, dims: readonly Coordinate[] = [], indices: readonly string[] = []): string {
    return printAddend(form, this.language(dims, indices));
  }

  /** Declares a size that changes from task to task, or from iteration to iteration. */
  declareSize(form: Linear, variable: string): void {
    const key = this.form(form);
    if (isConstant(form) || this.sizeNames.has(key)) return;
    const wanted = `n${/\d+$/.exec(variable)?.[0] ?? "0"}`;
    const taken = [...this.sizeNames.values()];
    let name = wanted;
    for (let k = 1; taken.includes(name); k++) name = `${wanted}_${k}`;
    this.out.line(`const int32_t ${name} = ${printSize(form, this.language())};`);
    this.sizeNames.set(key, name);
  }

  /** Forgets sizes when their loop is left. */
  sizesWithin(body: () => void): void {
    const before = new Set(this.sizeNames.keys());
    body();
    for (const key of this.sizeNames.keys()) if (!before.has(key)) this.sizeNames.delete(key);
  }

  /** Returns a size, of which each counts for so many words. */
  extent(form: Linear, max: number, each = 1): Extent {
    if (isConstant(form)) return fixed(form.at * each);
    const size = this.sizeNames.get(this.form(form));
    const text = timesText(size ?? `(${this.form(form)})`, each);
    return { text, max: (largestValue(form) ?? max) * each, fixed: false };
  }

  tileType(name: string, { word, rows, columns, valid }: TileShape): string {
    const [validRows, validColumns] = valid;
    const shown = (extent: Extent): string => (extent.fixed ? extent.text : "DYNAMIC");
    const text = `Tile<TileType::Vec, ${word.name}, ${rows}, ${columns}, BLayout::RowMajor, ${shown(validRows)}, ${shown(validColumns)}>`;
    return this.type(`Ub${name}`, text);
  }

  /** Declares a tile at a byte address of UB. */
  tile(variable: string, name: string, shape: TileShape, address: string): void {
    const type = this.tileType(name, shape);
    const [rows, columns] = shape.valid;
    const dynamic = [rows, columns].filter((extent) => !extent.fixed);
    const given = dynamic.length === 0 ? "" : `(${dynamic.map(({ text }) => text).join(", ")})`;
    this.out.line(`${type} ${variable}${given};`);
    this.out.line(`TASSIGN(${variable}, ${address});`);
  }

  /** Returns a tile of a whole buffer: the one in scope, or one that is declared here. */
  bufferTile(buffer: UbBuffer, sizes: readonly Linear[]): string {
    const tile = this.tiles.get(buffer.name);
    if (tile !== undefined) return tile;
    const variable = this.fresh("tile");
    this.tile(variable, this.nameOf(buffer), this.bufferShape(buffer, sizes), this.address(buffer));
    this.setTile(buffer, variable);
    return variable;
  }

  setTile(buffer: UbBuffer, variable: string): void {
    this.tiles.set(buffer.name, variable);
  }

  /**
   * Returns a buffer as a matrix, of which a box from its origin is valid: the rows of its leading dims,
   * folded.
   */
  bufferShape(buffer: UbBuffer, sizes: readonly Linear[]): TileShape {
    const word = this.plan.words(buffer.name);
    const outer = buffer.shape.slice(0, -1);
    const extents = outer.map((max, k) => this.extent(at(sizes, k), max));
    // Rows of a box whose inner dims are short lie apart: all rows count then. The first dim of several rows
    // may be short.
    const first = outer.findIndex((rows) => rows > 1);
    const packed = extents.every((extent, k) => k <= first || (extent.fixed && extent.max === at(outer, k)));
    const last = sizes[buffer.shape.length - 1];
    return {
      word,
      rows: elementCount(outer),
      columns: buffer.rowBytes / word.bytes,
      valid: [
        packed ? product(extents) : fixed(elementCount(outer)),
        last === undefined ? fixed(word.each) : this.extent(last, at(buffer.shape, outer.length), word.each),
      ],
    };
  }

  /** Returns the name of a buffer's role, which types are named after: `Data`, `Index` or `Output`. */
  nameOf({ name }: Pick<UbBuffer, "name">): string {
    const { gather, scatter, func } = this.plan;
    const operand = func.operands.find((other) => other.name === name);
    if (scatter !== undefined) {
      if (operand?.role === "output" || name === scatter.stmt.to.buffer) return roleNames.output;
      return scatter.indexBuffers.has(name) ? roleNames.indices : roleNames.data;
    }
    if (operand !== undefined) return roleNames[operand.role];
    invariant(gather !== undefined, "a kernel with buffers has a gather or a scatter");
    if (name === gather.stmt.to.buffer) return roleNames.output;
    return name === gather.stmt.from[0]?.buffer ? roleNames.data : roleNames.indices;
  }

  /** Returns the byte address of the copy of a buffer that was written last. */
  address({ name, buffers }: UbBuffer): string {
    const variable = this.plan.names.buffer(name);
    return buffers === 2 ? `${variable}[${this.plan.names.copyIndex(name)}]` : variable;
  }

  /** Emits the switch to the other copy of a double buffer, for all code from here on. */
  switchCopy({ name, buffers }: UbBuffer): void {
    if (buffers === 2) this.out.line(`${this.plan.names.copyIndex(name)} ^= 1;`);
    this.tiles.delete(name);
  }

  /** Returns a byte address inside a buffer. */
  within(
    buffer: UbBuffer,
    elements: Linear,
    dims: readonly Coordinate[],
    indices: readonly string[] = [],
  ): string {
    const { bytes, each } = this.plan.words(buffer.name);
    return this.address(buffer) + this.more(scale(elements, bytes * each), dims, indices);
  }

  /** Waits of the lowering: `to` for all that `from` was given. */
  wait(from: Pipe, to: Pipe): void {
    this.flags(from, to, `EVENT_ID${eventOfLowering}`);
  }

  flags(from: Pipe, to: Pipe, event: string): void {
    this.out.line(`set_flag(PIPE_${from}, PIPE_${to}, ${event});`);
    this.out.line(`wait_flag(PIPE_${from}, PIPE_${to}, ${event});`);
  }

  /** Emits vector instructions of which each needs the result of the one before. */
  vector(...instructions: readonly string[]): void {
    instructions.forEach((instruction, k) => {
      if (k > 0) this.barrier();
      this.out.line(`${instruction};`);
    });
  }

  /** Emits an instruction of V after a barrier, so that it follows everything V was given before. */
  vectorInOrder(instruction: string): void {
    this.barrier();
    this.out.line(`${instruction};`);
  }

  barrier(): void {
    this.out.line("pipe_barrier(PIPE_V);");
  }
}

const roleNames = { data: "Data", indices: "Index", output: "Output" } as const;

/** Returns the product of extents as an extent: a C++ expression and a maximum. */
export function product(extents: readonly Extent[]): Extent {
  const dynamic = extents.filter((extent) => !extent.fixed);
  const count = elementCount(extents.flatMap((extent) => (extent.fixed ? [extent.max] : [])));
  if (dynamic.length === 0) return fixed(count);
  const text = dynamic.map((extent) => extent.text).join(" * ");
  return { text: timesText(text, count), max: extents.reduce((n, { max }) => n * max, 1), fixed: false };
}
