/** Loops over an output tile by lanes: names of its coordinates, and the loops around what they do. */
import type { IndexExpr } from "../../ir/expr.js";
import { at, type Shape } from "../../ir/types.js";
import type { Context } from "./context.js";
import { emitExpr } from "./expr.js";

export interface TileLoops {
  /** Extents of the whole tile, and of this one. */
  readonly tile: Shape;
  readonly sizes: readonly IndexExpr[];
  /** Elements of the innermost dim that a lane takes at a time. */
  readonly group: number;
  /** Runs inside the loops of all dims but the innermost. */
  readonly row: (coords: readonly string[]) => void;
  /** Runs for each group; its coordinate is that of its first element. */
  readonly body: (coords: readonly string[]) => void;
}

export function emitTileLoops(context: Context, loops: TileLoops): void {
  const { out, lanes } = context;
  const { tile, sizes, group } = loops;
  const rank = tile.length;
  const coords: string[] = new Array<string>(rank).fill("0u");
  const y = rowDim(tile);
  const along = (d: number, start: string, step: number, body: () => void): void => {
    const size = at(sizes, d);
    const whole = size.kind === "const" && size.value === at(tile, d);
    if (whole && (size.value <= 1 || (size.value <= step && start === "0u"))) {
      body();
      return;
    }
    coords[d] = `d${d}`;
    if (whole && size.value === step) {
      out.line(`let d${d} = ${start};`);
      body();
      return;
    }
    out.block(`for (var d${d} = ${start}; d${d} < ${emitExpr(size)}; d${d} += ${step}u)`, body);
  };
  const outer = (d: number): void => {
    if (d < rank - 1) {
      const [start, step] = d === y ? [lanes.along("y"), lanes.shape.y] : ["0u", 1];
      along(d, start, step, () => {
        outer(d + 1);
      });
      return;
    }
    loops.row(coords);
    if (rank === 0) {
      out.block(`if (${lanes.flat()} == 0u)`, () => {
        loops.body(coords);
      });
      return;
    }
    const lane = lanes.along("x");
    const start = group === 1 || lane === "0u" ? lane : `${lane} * ${group}u`;
    along(rank - 1, start, lanes.shape.x * group, () => {
      loops.body(coords);
    });
  };
  outer(0);
}

/** The dim that y lanes share: the innermost one outside the rows that has more than one entry. */
export function rowDim(tile: Shape): number | undefined {
  for (let d = tile.length - 2; d >= 0; d--) if (at(tile, d) > 1) return d;
  return undefined;
}
