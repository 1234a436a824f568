/** Emits a load: a tile goes from global to workgroup memory, with lanes side by side along its rows. */
import { isConstant } from "../../ir/linear.js";
import { ubStrides } from "../../ir/tile.js";
import type { Amount } from "../../ir/text/form-text.js";
import { at, elementCount, meanBytes } from "../../ir/types.js";
import { inAccesses, type WgslContext } from "./context.js";
import { named, sumText, times, zero } from "./forms.js";
import { axesOf } from "./lanes.js";
import type { LoadMove } from "./load-move.js";
import { laneRowDim } from "./lane-tile.js";
import { emitTileLoops, emitUnrolled } from "./tile-loops.js";

/**
 * Emits the WGSL code that loads a tile from global into workgroup memory. Neighbouring lanes load
 * neighbouring accesses of a row.
 */
export function emitLoad(context: WgslContext, move: LoadMove): void {
  const { out, lanes } = context;
  const { stmt, buffer, waits, width, stagedWidth } = move;
  const { shape } = buffer;
  if (elementCount(shape) === 0) return;
  if (waits) out.line("workgroupBarrier();");
  const units = unitsOf(context, move);
  // If a row has an access for every lane, all lanes work on it; otherwise y lanes take different rows.
  const long = laneRowDim(shape) === undefined || (typeof units === "number" && units >= lanes.count("all"));
  const outer = shape.map((_, k) => k).slice(0, -1);
  const steps = ubStrides(buffer).map((step) => (step * meanBytes(buffer.dtype)) / (4 * stagedWidth));
  const body = (coords: readonly Amount[]): void => {
    const begin =
      move.how === "packed"
        ? context.address(move.row, coords)
        : context.access(move.row, context.elementsOf(width), coords);
    out.line(`let begin = ${begin};`);
    const start = outer.map((k) => times(at(coords, k), at(steps, k)));
    emitUnrolled(context, { name: "unit", end: units, group: 1, axis: long ? "all" : "x" }, () => {
      emitUnit(context, move, (accesses) => sumText([...start, named("unit", accesses)]));
    });
  };
  const loops = {
    tile: shape,
    sizes: stmt.from.sizes,
    groups: shape.map(() => 1),
    axes: long ? shape.map(() => undefined) : axesOf(shape),
    dims: outer,
    body,
  };
  out.block("", () => {
    emitTileLoops(
      context,
      loops,
      shape.map(() => zero),
    );
  });
}

/**
 * Returns the number of memory accesses that load one row of a tile: a number for a constant row size, else a
 * WGSL expression.
 */
function unitsOf(context: WgslContext, { stmt, buffer, width }: LoadMove): number | string {
  const size = at(stmt.from.sizes, buffer.shape.length - 1);
  const elements = (width * 4) / meanBytes(buffer.dtype);
  if (isConstant(size)) return Math.ceil(size.at / elements);
  const form = context.form(size);
  // In parentheses: WGSL takes `a < b >> c` for the list of a template (WGSL, template list discovery).
  return `(${inAccesses(elements > 1 ? `${form} + ${elements - 1}u` : form, elements)})`;
}

/**
 * Emits the WGSL code that copies one access of a row to workgroup memory. `place(n)`: WGSL expression of the
 * target position, for `n` buffer accesses (1 or 4) per tensor access.
 */
function emitUnit(context: WgslContext, move: LoadMove, place: (accesses: number) => string): void {
  const { out, names } = context;
  const { stmt, buffer, how, width, stagedWidth } = move;
  const target = names.buffer(buffer.name);
  const source = names.buffer(stmt.from.buffer);
  if (how === "packed") {
    const { perWord } = context.plan.element;
    const size = context.form(at(stmt.from.sizes, buffer.shape.length - 1));
    out.line("var packed = 0u;");
    out.block(`for (var e = 0u; e < ${perWord}u && unit * ${perWord}u + e < ${size}; e++)`, () => {
      out.line(`let source = begin + unit * ${perWord}u + e;`);
      out.line(
        `packed |= ${context.unpack((place) => `${source}[${place}]`, "source")} << (e * ${32 / perWord}u);`,
      );
    });
    out.line(`${target}[${place(1)}] = packed;`);
    return;
  }
  if (width === stagedWidth) {
    out.line(`${target}[${place(1)}] = ${source}[begin + unit];`);
    return;
  }
  out.line(`let four = ${source}[begin + unit];`);
  out.line(`let to = ${place(4)};`);
  ["x", "y", "z", "w"].forEach((component, k) => {
    out.line(`${target}[to${k === 0 ? "" : ` + ${k}u`}] = four.${component};`);
  });
}
