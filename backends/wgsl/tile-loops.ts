/** Loops over an output tile by lanes: names of its coordinates, and the loops around what they do. */
import { isConstant, type Linear } from "../../ir/linear.js";
import { at, type Shape } from "../../ir/types.js";
import type { Context } from "./context.js";
import { rowDim } from "./lanes.js";

export interface TileLoops {
  /** Extents of the whole tile, and of this one. */
  readonly tile: Shape;
  readonly sizes: readonly Linear[];
  /** Elements of the innermost dim that a lane takes at a time. */
  readonly group: number;
  /** Dims to loop over, outermost first. */
  readonly dims: readonly number[];
  readonly body: (coords: string[]) => void;
}

/** Nests loops outside in; the coordinates of dims without a loop stay as they are. */
export function emitTileLoops(context: Context, loops: TileLoops, coords: string[]): void {
  const { out, lanes } = context;
  const { tile, sizes, group } = loops;
  const innermost = tile.length - 1;
  const y = rowDim(tile);
  const [d, ...rest] = loops.dims;
  if (d === undefined) {
    loops.body(coords);
    return;
  }
  const inside = (): void => {
    emitTileLoops(context, { ...loops, dims: rest }, coords);
  };
  const [lane, step] =
    d === innermost
      ? [lanes.along("x"), lanes.shape.x * group]
      : d === y
        ? [lanes.along("y"), lanes.shape.y]
        : ["0u", 1];
  const start = d === innermost && group > 1 && lane !== "0u" ? `${lane} * ${group}u` : lane;
  const size = at(sizes, d);
  const whole = isConstant(size) && size.at === at(tile, d);
  if (whole && (size.at <= 1 || (size.at <= step && start === "0u"))) {
    inside();
    return;
  }
  coords[d] = `d${d}`;
  if (whole && size.at === step) {
    out.line(`let d${d} = ${start};`);
    inside();
    return;
  }
  out.block(`for (var d${d} = ${start}; d${d} < ${context.form(size)}; d${d} += ${step}u)`, inside);
}
