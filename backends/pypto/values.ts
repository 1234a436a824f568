/**
 * A computed value as operations of PyPTO: rows by `index_select` or `gather_in_ub`, then `cast`, `mul`,
 * `add` and `sum`, as PyPTO's sparse attention dequantizes its rows
 * (models/deepseek_v32_exp/sparse_flash_attention_quant_impl.py).
 *
 * Sources, in hicann/pypto at 883e7df, docs/zh/api: operation/pypto-cast.md (its table of A2 and A3 has every
 * conversion of ir/values/vector-steps.ts; a mode that it does not name is the default), pypto-mul.md and
 * pypto-add.md (broadcast shapes, numbers), pypto-sum.md (a tile of at most 64 KB; no order is stated),
 * pypto-reshape.md (static shapes), datatype/CastMode.md.
 */
import { isRead, type AccessMap, type Read, type IndexOperand } from "../../ir/access.js";
import { defined } from "../../ir/defined.js";
import { inputsOf, outputOf, type AccessFunc } from "../../ir/func.js";
import {
  isDim,
  add,
  constant,
  dim,
  div,
  equalLinear,
  mod,
  scale,
  index,
  soleAtom,
  type Linear,
} from "../../ir/linear.js";
import { resolveSource } from "../../ir/ops/registry.js";
import type { Target } from "../../ir/target.js";
import { programOfRows } from "../../ir/tiling/value-rows.js";
import { assertNever, at, formatShape, type DType, type Shape } from "../../ir/types.js";
import { gridOfLast, gridOfSum, numberOf, type ValueStep } from "../../ir/values/index.js";
import { magnitudes } from "../../ir/values/magnitude.js";
import { valueSteps } from "../../ir/values/steps.js";
import type { VectorPlace, VectorStep } from "../../ir/values/vector-steps.js";
import type { Diagnostic } from "../../ir/diagnostic.js";
import type { Lines } from "../lines.js";
import { pythonFloat } from "./python-float.js";
import { typeNames } from "./type-names.js";

/**
 * Result of {@link pyptoValue}. `write`: emits the PyPTO operations that compute a value and returns the
 * Python expression of the result. `refused`: the part of the value that PyPTO cannot compute.
 */
export type PyptoValue =
  | { readonly ok: true; readonly write: (out: Lines, inputs: readonly string[]) => string }
  | { readonly ok: false; readonly refused: string; readonly diagnostics?: readonly Diagnostic[] };

/** A step or an operand that PyPTO has no operation for. */
class Refused extends Error {
  constructor(
    readonly refused: string,
    readonly diagnostics?: readonly Diagnostic[],
  ) {
    super(refused);
  }
}

/**
 * Returns the PyPTO operations that compute a value for one view of the output, or the part of the value that
 * PyPTO cannot compute. `view`: extents in elements, which must divide the output's extents.
 */
export function pyptoValue(gather: AccessFunc, view: Shape, target: Target): PyptoValue {
  try {
    const value = new ValueOperations(gather, view, target);
    return { ok: true, write: (out, inputs) => value.write(out, inputs) };
  } catch (thrown) {
    if (thrown instanceof Refused)
      return {
        ok: false,
        refused: thrown.refused,
        ...(thrown.diagnostics && { diagnostics: thrown.diagnostics }),
      };
    throw thrown;
  }
}

/** Rows that index values name, as an operation of PyPTO. */
type RowLookup =
  | { readonly op: "index_select"; readonly indices: number; readonly inReduction: boolean }
  | {
      readonly op: "gather_in_ub";
      readonly indices: number;
      readonly pages: number;
      readonly rowsOfPage: number;
    };

/** Shape of an operand as the steps take it, which broadcasts to the output's. */
interface ReadShape {
  /** True if the operation's result has another shape. */
  readonly reshaped: boolean;
  readonly shape: Shape;
}

/** Operand as the steps take it, and the operation that reads its rows, if index values name them. */
interface ReadOperand extends ReadShape {
  readonly table: number;
  readonly lookup?: RowLookup;
}

/** Shape of an operand that only the other steps take: those of elements, or those of a reduction. */
const unread: ReadShape = { reshaped: false, shape: [] };

/** Vector step of two operands, or of one operand and a number. */
type ArithmeticStep = Extract<VectorStep, { readonly of: unknown; readonly word: unknown }>;

/** Names of vector steps that PyPTO's operations do not reach. */
const stepNames: Readonly<
  Record<Exclude<VectorStep["op"], "TCVT" | "TADD" | "TMUL" | "TADDS" | "TMULS" | "TMOV">, string>
> = {
  TSUB: "sub",
  TDIV: "div",
  TDIVS: "div",
  TMIN: "min",
  TMINS: "min",
  TMAX: "max",
  TMAXS: "max",
  TSHLS: "a cast that wraps to 8 bits",
  TSHRS: "a cast that wraps to 8 bits",
  TEXPANDS: "a row of one number",
};

/** Bytes of a tile that `sum` takes at most. */
const sumTileBytes = 2 ** 16;

class ValueOperations {
  private readonly map: AccessMap;
  private readonly types: readonly DType[];
  /** Neighbours that share an element of an operand; undefined where none does. */
  private readonly piece: number | undefined;
  private readonly element: readonly ReadOperand[];
  private readonly term: readonly ReadOperand[];
  private readonly program;

  constructor(
    private readonly gather: AccessFunc,
    private readonly view: Shape,
    private readonly target: Target,
  ) {
    const { map } = gather;
    this.map = map;
    this.types = inputsOf(gather).map(({ type }) => type.dtype);
    this.program = programOfRows(map, this.types);
    if (map.domain.length !== 2) throw new Refused(`an output of ${map.domain.length} dims: rows of two`);
    if (map.reduced?.segment !== undefined)
      throw new Refused("a segment: index values determine its number of elements");
    this.checkTypes();
    this.checkSum();
    for (const read of map.reads) this.checkExtents(read);
    for (const { value } of map.indices) if (isRead(value)) this.checkExtents(value);
    this.piece = this.pieceOf();
    this.element = map.reads.map((read) => this.operandOf(read, false));
    this.term = map.reduced === undefined ? [] : map.reads.map((read) => this.operandOf(read, true));
    // Each place of a step has an operation, or a Refused is thrown here.
    this.lines(
      { line: () => undefined },
      inputsOf(gather).map(({ name }) => name),
    );
  }

  write(out: Lines, inputs: readonly string[]): string {
    return this.lines(out, inputs);
  }

  private lines(out: Pick<Lines, "line">, inputs: readonly string[]): string {
    const { schedule } = this.gather;
    const [rows = 1, columns = 1] = typeof schedule.tile === "object" ? schedule.tile : [];
    const writer = new Writer(out, inputs, this.types);
    const { reduction } = this.program;
    const last = [this.view[0] ?? 1, this.view[1] ?? 1];
    if (reduction !== undefined) {
      const count = this.map.reduced?.max ?? 1;
      if (rows * count * columns * 4 > sumTileBytes)
        throw new Refused(`sum: its tile of ${rows * count * columns * 4} B is above 65536 B`);
      writer.tileShapes([rows, count, columns]);
      writer.load(this.term, readsIn(reduction.steps));
      const steps = reduction.steps.slice(0, -1);
      writer.steps(steps);
      const taken = at(reduction.steps, reduction.steps.length - 1);
      if (!("of" in taken) || "kind" in taken.of) throw new Refused("a reduction element that no step uses");
      writer.sum(taken.of[1]);
      writer.tileShapes([rows, columns]);
    }
    if (this.piece !== undefined) {
      writer.load(this.element, readsIn(this.program.element), () => {
        const piece = this.piece ?? 1;
        writer.tileShapes([rows * Math.max(1, Math.floor(columns / piece)), Math.min(columns, piece)]);
      });
    } else writer.load(this.element, readsIn(this.program.element));
    writer.steps(this.program.element);
    const { name, dtype } = writer.place({ kind: "output" });
    const { type } = outputOf(this.gather);
    if (dtype !== type.dtype) throw new Refused(`a cast of ${dtype} to ${type.dtype}`);
    if (this.piece === undefined) return name;
    writer.tileShapes([rows, columns]);
    return `pypto.reshape(${name}, ${formatShape(last)})`;
  }

  private checkTypes(): void {
    const { steps, reduction } = valueSteps(
      this.map.value,
      this.map.reads.map(({ table }) => at(this.types, table)),
    );
    const of = (list: readonly ValueStep[]): void => {
      for (const step of list)
        if (step.type === "u32" || step.type === "u16")
          throw new Refused(`${step.kind === "op" ? step.op : `a ${step.kind}`} of ${step.type}`);
    };
    of(reduction?.steps ?? []);
    of(steps);
  }

  /**
   * Refuses a read of a part of an input along a dim. An operation takes all of a tensor there, and elements
   * beyond the output's extent would be read by nothing.
   */
  private checkExtents({ table, at: coords }: Read): void {
    const { name, type } = at(inputsOf(this.gather), table);
    const extents = [...this.map.domain, this.map.reduced?.max ?? 0];
    coords.forEach((coord, k) => {
      const only = soleAtom(coord);
      if (only?.kind === "dim" && at(type.shape, k) !== at(extents, only.dim))
        throw new Refused(
          `a part of %${name}: ${at(extents, only.dim)} of ${at(type.shape, k)} along dim ${k}`,
        );
    });
  }

  /**
   * Refuses a sum whose bits depend on its order, since PyPTO states no order of a sum. A sum that can be one
   * of -0s is refused too.
   */
  private checkSum(): void {
    const { reduction } = valueSteps(
      this.map.value,
      this.map.reads.map(({ table }) => at(this.types, table)),
    );
    if (reduction === undefined) return;
    const what = `${reduction.how} of ${reduction.type}`;
    if (reduction.how !== "fold") throw new Refused(what);
    if (reduction.type !== "f32") return;
    const sum = gridOfSum(gridOfLast(reduction.steps), this.map.reduced?.max ?? 0, reduction.type);
    const result = magnitudes(reduction.steps, { bounds: () => undefined });
    if (!sum.ok || at(result, result.length - 1).negativeZero)
      throw new Refused(`${what}: pypto.sum states no order, and its bits depend on it`);
  }

  private pieceOf(): number | undefined {
    const result = new Set<number>();
    for (const { at: coords } of this.map.reads)
      for (const coord of coords) {
        const only = soleAtom(coord);
        if (only?.kind === "div" && isDim(only.of, 1)) result.add(only.by);
      }
    const [piece, ...others] = result;
    if (piece === undefined) return undefined;
    const columns = at(outputOf(this.gather).type.shape, 1);
    if (
      others.length > 0 ||
      this.view[1] !== columns ||
      columns % piece !== 0 ||
      this.map.reduced !== undefined
    )
      throw new Refused(`a factor for each ${piece} of ${this.view[1] ?? 0} neighbours`);
    return piece;
  }

  /** Returns a read as the steps take it. Refuses a read at another place than a row's. */
  private operandOf({ table, at: coords }: Read, inReduction: boolean): ReadOperand {
    const { name, type } = at(inputsOf(this.gather), table);
    const [first, ...rest] = coords;
    const only = first === undefined ? undefined : soleAtom(first);
    const entry = only?.kind === "index" ? at(this.map.indices, only.index) : undefined;
    const lookup = entry && this.lookupOf(entry, table);
    const isOfReduction = lookup?.op === "index_select" && lookup.inReduction;
    if (isOfReduction && !inReduction) return { table, ...unread };
    // Rows of an element are the same for all elements of its reduction.
    const isShared = lookup?.op === "index_select" && inReduction && !isOfReduction;
    const shaped =
      lookup === undefined ? undefined : this.rowShape(rest, type.shape[1], inReduction, isShared);
    const result = entry === undefined ? this.plainShape(coords, inReduction) : shaped;
    if (result === undefined) throw new Refused(`%${name}, read at another place than a row's`);
    return { table, ...defined({ lookup }), ...result };
  }

  /**
   * Returns the shape of rows that index values name; undefined where PyPTO has no operation. `rest`:
   * coordinates in a row. `width`: elements of a row of the table. `isShared`: true if all elements of a
   * reduction have the same rows.
   */
  private rowShape(
    rest: readonly Linear[],
    width: number | undefined,
    inReduction: boolean,
    isShared: boolean,
  ): ReadShape | undefined {
    const { piece } = this;
    const [rows, columns] = [at(this.view, 0), at(this.view, 1)];
    const lead = !inReduction ? [rows] : isShared ? [rows, 1] : [rows, this.map.reduced?.max ?? 1];
    const [coord, ...others] = rest;
    if (others.length > 0) return undefined;
    // A row, whole or the part of the view.
    const isRow = coord !== undefined && isDim(coord, 1);
    if (piece === undefined) {
      if (isRow) return { reshaped: isShared, shape: [...lead, columns] };
      const isSingle = coord === undefined || width === 1;
      return isSingle ? { reshaped: coord === undefined || isShared, shape: [...lead, 1] } : undefined;
    }
    const pieces = (rows * columns) / piece;
    if (isRow) return { reshaped: true, shape: [pieces, piece] };
    const only = coord && soleAtom(coord);
    const isOfPiece = only?.kind === "div" && isDim(only.of, 1) && width === columns / piece;
    return isOfPiece ? { reshaped: true, shape: [pieces, 1] } : undefined;
  }

  /** Returns the shape of a read that no index value moves; undefined where PyPTO has no operation. */
  private plainShape(coords: readonly Linear[], inReduction: boolean): ReadShape | undefined {
    if (this.piece !== undefined) return undefined;
    const [rows, columns] = [at(this.view, 0), at(this.view, 1)];
    const middle = inReduction ? [1] : [];
    const isAtDims = (...dims: readonly number[]): boolean =>
      coords.length === dims.length && dims.every((d, k) => isDim(coords[k], d));
    if (isAtDims(0, 1)) return { reshaped: inReduction, shape: [rows, ...middle, columns] };
    if (isAtDims(0, 2))
      return inReduction ? { reshaped: true, shape: [rows, this.map.reduced?.max ?? 1, 1] } : unread;
    if (isAtDims(0)) return { reshaped: true, shape: [rows, ...middle, 1] };
    if (isAtDims(1)) return { reshaped: true, shape: [1, ...middle, columns] };
    return undefined;
  }

  /** Returns how an index value names rows of a table; undefined where PyPTO has no such operation. */
  private lookupOf({ value }: IndexOperand, table: number): RowLookup | undefined {
    const policies = this.map.indices.every(
      ({ outOfRange, wrapNegativeBy, excluded }) =>
        (outOfRange === "error" || outOfRange === "unchecked" || outOfRange === "any") &&
        wrapNegativeBy === undefined &&
        excluded === undefined,
    );
    if (!policies) throw new Refused("an index value that counts from the end, or that need not be in range");
    return isRead(value) ? this.rowLookup(value, table) : this.pagedLookup(value, table);
  }

  /** Returns the `index_select` of the rows; undefined if the index values are read at other coordinates. */
  private rowLookup(
    { table: indices, at: [first, second, ...others] }: Read,
    table: number,
  ): RowLookup | undefined {
    if (others.length > 0 || !isDim(first, 0)) return undefined;
    const inReduction = second !== undefined && this.map.reduced !== undefined && isDim(second, 2);
    if (second !== undefined && !inReduction) return undefined;
    this.checkSource("pypto.index_select", { dim: 0, level: "head" }, [table, indices]);
    return { op: "index_select", indices, inReduction };
  }

  /**
   * Returns the `gather_in_ub` of rows in pages; undefined if `row` is not the row of a token in its page.
   */
  private pagedLookup(row: Linear, table: number): RowLookup | undefined {
    const { indices } = this.map;
    for (const [page, { value: ofPage }] of indices.entries()) {
      for (const [token, { value: ofToken }] of indices.entries()) {
        if (!isRead(ofPage) || !isRead(ofToken) || this.map.reduced !== undefined) continue;
        const by = rowsOfPage(row, { page, token, ofPage, ofToken });
        if (by === undefined) continue;
        const tables = [table, ofToken.table, ofPage.table];
        this.checkSource("pypto.gather_in_ub", { block_size: by, axis: -2, level: "head" }, tables);
        return { op: "gather_in_ub", indices: ofToken.table, pages: ofPage.table, rowsOfPage: by };
      }
    }
    return undefined;
  }

  /** Refuses an operation that PyPTO does not take with the inputs `tables`, by their numbers. */
  private checkSource(
    op: string,
    attrs: Parameters<typeof resolveSource>[0]["attrs"],
    tables: readonly number[],
  ): void {
    const types = inputsOf(this.gather).map(({ type }) => type);
    const inputs = tables.map((table) => at(types, table));
    const result = resolveSource({ op, attrs, inputs, target: this.target });
    if (!result.ok) throw new Refused(op, result.diagnostics);
  }
}

/** Index operands of a page and of a token, by number, and the reads that are their values. */
interface PagedRead {
  readonly page: number;
  readonly token: number;
  readonly ofPage: Read;
  readonly ofToken: Read;
}

/**
 * Returns the number of rows of a page, if `row` is that of a token in its page: the token's position in the
 * page after the rows of the pages before. Undefined if it is any other expression.
 */
function rowsOfPage(row: Linear, { page, token, ofPage, ofToken }: PagedRead): number | undefined {
  const by = row.terms.find(({ of }) => of.kind === "index" && of.index === page)?.by;
  if (by === undefined || by < 1) return undefined;
  const isPaged =
    equalLinear(row, add(scale(index(page), by), mod(index(token), by))) &&
    isAt(ofPage.at, [constant(0), div(index(token), by)]) &&
    isAt(ofToken.at, [constant(0), dim(0)]);
  return isPaged ? by : undefined;
}

const isAt = (coords: readonly Linear[], wanted: readonly Linear[]): boolean =>
  coords.length === wanted.length && coords.every((coord, k) => equalLinear(coord, at(wanted, k)));

const readsIn = (steps: readonly VectorStep[]): ReadonlySet<number> =>
  new Set(
    steps.flatMap((step) => {
      if (step.op === "TEXPANDS") return [];
      const addresses = "kind" in step.of ? [step.of] : step.of;
      return addresses.flatMap((place) => (place.kind === "read" ? [place.read] : []));
    }),
  );

/** A tensor of the program that is written. */
interface Variable {
  readonly name: string;
  readonly dtype: DType;
}

/** Writes operations one behind the other, each result under a name of its own. */
class Writer {
  private readonly addresses = new Map<string, Variable>();
  private readonly loaded = new Map<string, string>();
  private next = 0;

  constructor(
    private readonly out: Pick<Lines, "line">,
    private readonly inputs: readonly string[],
    private readonly types: readonly DType[],
  ) {}

  tileShapes(shape: Shape): void {
    this.out.line(`pypto.set_vec_tile_shapes(${shape.join(", ")})`);
  }

  /**
   * Brings reads to the shapes in which steps take them; `reshape` is written before the first that takes
   * another.
   */
  load(
    operands: readonly ReadOperand[],
    reads: ReadonlySet<number>,
    reshape: () => void = () => undefined,
  ): void {
    const result = [...reads].map((read) => {
      const operand = at(operands, read);
      if (operand.shape.length === 0) throw new Refused("an operand that is read at two kinds of places");
      return { read, operand, name: this.lookups(operand) };
    });
    reshape();
    for (const { read, operand, name } of result) {
      const { table, reshaped, shape } = operand;
      const entry = reshaped ? this.named(`pypto.reshape(${name}, ${formatShape(shape)})`) : name;
      this.addresses.set(keyOfPlace({ kind: "read", read }), { name: entry, dtype: at(this.types, table) });
    }
  }

  private lookups({ table, lookup }: ReadOperand): string {
    const entry = at(this.inputs, table);
    if (lookup === undefined) return entry;
    const call =
      lookup.op === "index_select"
        ? `pypto.index_select(${entry}, 0, ${at(this.inputs, lookup.indices)})`
        : `pypto.experimental.gather_in_ub(${entry}, ${at(this.inputs, lookup.indices)}, ${at(this.inputs, lookup.pages)}, ${lookup.rowsOfPage}, -2)`;
    const cached = this.loaded.get(call);
    if (cached !== undefined) return cached;
    const name = this.named(call);
    this.loaded.set(call, name);
    return name;
  }

  private named(text: string): string {
    const name = `x${this.next++}`;
    this.out.line(`${name} = ${text}`);
    return name;
  }

  place(place: VectorPlace): Variable {
    const result = this.addresses.get(keyOfPlace(place));
    if (result === undefined) throw new Refused("a place that no operation writes");
    return result;
  }

  sum(of: VectorPlace): void {
    const { name, dtype } = this.place(of);
    this.addresses.set("sum", { name: this.named(`pypto.sum(${name}, 1)`), dtype });
  }

  steps(steps: readonly VectorStep[]): void {
    for (const step of steps) this.addresses.set(keyOfPlace(step.to), this.step(step));
  }

  /** Writes a cast and returns its result. Refuses types that PyPTO does not convert. */
  private cast({
    of,
    cast: { from, to, round, saturates },
  }: Extract<VectorStep, { readonly op: "TCVT" }>): Variable {
    const { name, dtype } = this.place(of);
    if (dtype !== from || to === "u16" || to === "u32") throw new Refused(`a cast of ${dtype} to ${to}`);
    const mode = round === "CAST_NONE" ? "" : `, pypto.CastMode.${round}`;
    const isSet = saturates !== undefined && to !== "f16" && to !== "bf16";
    const saturation = isSet ? `, satmode=pypto.SaturationMode.${saturates ? "ON" : "OFF"}` : "";
    return {
      name: this.named(`pypto.cast(${name}, pypto.${typeNames[to] ?? ""}${mode}${saturation})`),
      dtype: to,
    };
  }

  /** Writes an operation of two variables, or of one and a number, and returns its result. */
  private combine(op: "add" | "mul", step: ArithmeticStep): Variable {
    const sides = "kind" in step.of ? [step.of] : step.of;
    const variables = sides.map((side) => this.place(side));
    const other = variables.find(({ dtype }) => dtype !== step.word);
    if (other !== undefined) throw new Refused(`${op} of ${other.dtype}`);
    const numbers = "by" in step ? [numberText(step.word, step.by)] : [];
    const pieces = [...variables.map(({ name }) => name), ...numbers];
    return { name: this.named(`pypto.${op}(${pieces.join(", ")})`), dtype: step.word };
  }

  private step(step: VectorStep): Variable {
    switch (step.op) {
      case "TMOV":
        return this.place(step.of);
      case "TCVT":
        return this.cast(step);
      case "TADD":
      case "TADDS":
        return this.combine("add", step);
      case "TMUL":
      case "TMULS":
        return this.combine("mul", step);
      case "TSUB":
      case "TDIV":
      case "TDIVS":
      case "TMIN":
      case "TMINS":
      case "TMAX":
      case "TMAXS":
      case "TSHLS":
      case "TSHRS":
      case "TEXPANDS":
        throw new Refused(`${stepNames[step.op]} of ${step.word}`);
      default:
        return assertNever(step);
    }
  }
}

const keyOfPlace = (place: VectorPlace): string =>
  place.kind === "read" ? `read ${place.read}` : place.kind === "slot" ? `slot ${place.slot}` : place.kind;

/** Returns a number of Python that is the one of these bits. */
function numberText(word: "f32" | "i32", bits: number): string {
  const value = numberOf(word, bits);
  return word === "i32" ? String(value) : pythonFloat(value);
}
