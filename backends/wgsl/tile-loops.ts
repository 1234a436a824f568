/** Loops over an output tile by lanes: names of its coordinates, and the loops around what they do. */
import { isConstant, type Linear } from "../../ir/linear.js";
import type { Amount } from "../../ir/text/form-text.js";
import { at, type Shape } from "../../ir/types.js";
import type { WgslContext } from "./context.js";
import { numberText, named, sumText, times, zero } from "./forms.js";
import type { LaneAxis } from "./lanes.js";

/**
 * Loop over the coordinates 0 to `end` - 1, usually of one dim of a tile. The lanes of a workgroup along
 * `axis` divide the coordinates among themselves, round-robin or in contiguous ranges.
 */
export interface UnrolledLoop {
  readonly name: string;
  /** End of the coordinates (exclusive). A number, or WGSL text if the end differs from tile to tile. */
  readonly end: number | string;
  /** Largest value of `end`, if `end` is text. */
  readonly max?: number;
  /** Coordinates that a lane takes at a time. */
  readonly group: number;
  /** Axis of the workgroup whose lanes share the coordinates. Absent: every lane takes all coordinates. */
  readonly axis?: LaneAxis;
  /** Coordinates of the enclosing loops. Absent if the loop does not run over a dim of a tile. */
  readonly outside?: readonly Amount[];
}

/**
 * Emits a WGSL loop over one dim of a tile, in steps of `group` coordinates. `body` receives the first
 * coordinate of each group and emits the code for the group.
 */
export function emitUnrolled(
  context: WgslContext,
  { name, end, max, group, axis, outside }: UnrolledLoop,
  body: (coordinate: Amount) => void,
): void {
  const { out, lanes } = context;
  const count = axis === undefined ? 1 : lanes.count(axis);
  const lane = axis === undefined ? zero : lanes.along(axis);
  const unit = group === 1 ? name : `${name}_unit`;
  const coordinate = named(unit, group);
  const place = numberText(coordinate);
  const each = (): void => {
    body(coordinate);
  };
  const loop = (head: string, body: () => void): void => {
    emitLoop(context, outside, head, body);
  };
  const inRuns = axis === "y" && lanes.shape.inRuns;
  if (inRuns && typeof end === "string") {
    const run = emitRunBounds(context, name, end);
    loop(`for (var ${name} = ${run.start}; ${name} < ${run.stop}; ${name} += 1u)`, each);
    return;
  }
  if (typeof end === "string" && context.plan.guardsShortTiles && (max ?? Infinity) <= count * group) {
    out.line(`let ${unit} = ${numberText(lane)};`);
    context.guarded([`${place} < ${end}`], each);
    return;
  }
  if (typeof end === "string" || lane.by === 0) {
    const last = typeof end === "string" ? `${place} < ${end}` : `${unit} < ${Math.ceil(end / group)}u`;
    loop(`for (var ${unit} = ${numberText(lane)}; ${last}; ${unit} += ${count}u)`, each);
    return;
  }
  const steps = Math.ceil(end / (count * group));
  const inside = (): void => {
    context.guarded(end % (count * group) === 0 ? [] : [`${place} < ${end}u`], each);
  };
  if (steps === 1) {
    out.line(`let ${unit} = ${numberText(lane)};`);
    inside();
    return;
  }
  const step = `${name}_turn`;
  loop(`for (var ${step} = 0u; ${step} < ${steps}u; ${step} += 1u)`, () => {
    const pieces = inRuns ? [times(lane, steps), named(step)] : [named(step, count), lane];
    out.line(`let ${unit} = ${sumText(pieces)};`);
    inside();
  });
}

/**
 * Emits a WGSL loop with the header `head` and the given body. `outside`: coordinates of the enclosing loops;
 * undefined if the loop does not run over a dim of a tile.
 */
function emitLoop(
  context: WgslContext,
  outside: readonly Amount[] | undefined,
  head: string,
  body: () => void,
): void {
  const block = (): void => {
    context.out.block(head, body);
  };
  if (outside === undefined) block();
  else context.looped(outside, block);
}

/**
 * Emits the bounds of the contiguous range, among the coordinates 0 to `end` - 1, that the present lane along
 * y takes. Returns the WGSL expressions of the first coordinate and of the end (exclusive).
 */
function emitRunBounds(
  { out, lanes }: WgslContext,
  name: string,
  end: number | string,
): { readonly start: string; readonly stop: string } {
  const count = lanes.count("y");
  const text = typeof end === "number" ? `${end}u` : end;
  if (count === 1) return { start: "0u", stop: text };
  const each = typeof end === "number" ? `${Math.ceil(end / count)}u` : `${name}_run`;
  if (typeof end === "string") out.line(`let ${each} = (${end} + ${count - 1}u) / ${count}u;`);
  const [start, stop] = [`${name}_start`, `${name}_stop`];
  out.line(`let ${start} = ${numberText(lanes.along("y"))} * ${each};`);
  out.line(`let ${stop} = min(${start} + ${each}, ${text});`);
  return { start, stop };
}

/**
 * Loop over the coordinates 0 to `end` - 1 of one dim of a tile, cut at the ends of pages. A page is a block
 * of `by` coordinates whose rows are contiguous. Each lane along y takes a contiguous range of coordinates.
 */
export interface Paged {
  readonly name: string;
  /** End of the coordinates (exclusive). A number, or WGSL text if the end differs from tile to tile. */
  readonly end: number | string;
  readonly by: number;
  /** Coordinates of the enclosing loops. */
  readonly outside: readonly Amount[];
  /** True if a page begins at coordinate 0. */
  readonly aligned: boolean;
  /** Returns the distance of a coordinate from the start of its page. */
  readonly into: (coordinate: Amount) => string;
}

/**
 * Emits a loop over one dim of a tile in pieces, none of which crosses the end of a page. `body` receives the
 * first coordinate and the length of a piece, and emits the code for the piece.
 */
export function emitPages(
  context: WgslContext,
  { name, end, by, outside, aligned, into }: Paged,
  body: (start: Amount, length: number | string) => void,
): void {
  const { out, lanes } = context;
  const run = typeof end === "number" ? end / lanes.count("y") : NaN;
  if (aligned && Number.isInteger(run) && (run % by === 0 || by % run === 0)) {
    const length = Math.min(by, run);
    const step = `${name}_turn`;
    const emitChunk = (): void => {
      const start = times(lanes.along("y"), run);
      out.line(`let ${name} = ${sumText(length === run ? [start] : [start, named(step, length)])};`);
      body(named(name), length);
    };
    if (length === run) emitChunk();
    else
      emitLoop(
        context,
        outside,
        `for (var ${step} = 0u; ${step} < ${run / length}u; ${step} += 1u)`,
        emitChunk,
      );
    return;
  }
  const { start, stop } = emitRunBounds(context, name, end);
  emitLoop(context, outside, `for (var ${name} = ${start}; ${name} < ${stop};)`, () => {
    out.line(`let rows = min(${by}u - ${into(named(name))}, ${stop} - ${name});`);
    body(named(name), "rows");
    out.line(`${name} += rows;`);
  });
}

/**
 * Emits the code for `end` consecutive accesses, which lanes along x take round-robin. `body` emits one
 * access and receives the text to append to the start address: `" + unit"` or nothing.
 */
export function emitRun(context: WgslContext, end: number | string, body: (shift: string) => void): void {
  if (end === 1) body("");
  else
    emitUnrolled(context, { name: "unit", end, group: 1, axis: "x" }, () => {
      body(" + unit");
    });
}

/**
 * Description of nested loops over the dims of a tile: extents, the lane axis of each dim, and a function
 * that emits the innermost body.
 */
export interface TileLoops {
  /** Extents of a full tile; `sizes`: extents of the present tile, which may be smaller. */
  readonly tile: Shape;
  readonly sizes: readonly Linear[];
  /** Coordinates of each dim that a lane takes at a time. */
  readonly groups: readonly number[];
  /** Axis of the lanes that share each dim; undefined if every lane takes the whole dim. */
  readonly axes: readonly (LaneAxis | undefined)[];
  /** Dims to loop over, outermost first. */
  readonly dims: readonly number[];
  readonly body: (coords: Amount[]) => void;
}

/**
 * Emits nested loops over the dims `loops.dims` of a tile, outermost first, around the code of `loops.body`.
 * Each loop sets its dim's coordinate in `coords`; other coordinates stay unchanged.
 */
export function emitTileLoops(context: WgslContext, loops: TileLoops, coords: Amount[]): void {
  const { tile, sizes } = loops;
  const [d, ...rest] = loops.dims;
  if (d === undefined) {
    loops.body(coords);
    return;
  }
  const inside = (coordinate = at(coords, d)): void => {
    coords[d] = coordinate;
    emitTileLoops(context, { ...loops, dims: rest }, coords);
  };
  if (context.lanes.shape.acrossRows && at(loops.axes, d) === "y") {
    emitAcrossRows(context, loops, d, coords);
    return;
  }
  const group = at(loops.groups, d);
  const axis = at(loops.axes, d);
  const size = at(sizes, d);
  const isFull = isConstant(size) && size.at === at(tile, d);
  const alone = axis === undefined || context.lanes.count(axis) === 1;
  if (isFull && size.at <= (alone ? group : 1)) {
    inside();
    return;
  }
  const end = isFull ? size.at : context.form(size);
  const loop = { name: `d${d}`, end, max: at(tile, d), group, outside: [...coords] };
  emitUnrolled(context, axis === undefined ? loop : { ...loop, axis }, inside);
}

/**
 * Emits one loop over all groups of neighbouring elements of dim `d` and the innermost dim. Lanes along x
 * take the groups round-robin. `coords`: coordinates by dim, already set for the dims of the enclosing loops.
 */
function emitAcrossRows(context: WgslContext, loops: TileLoops, d: number, coords: Amount[]): void {
  const { out } = context;
  const { tile, sizes, groups } = loops;
  const last = tile.length - 1;
  const group = at(groups, last);
  const units = Math.ceil(at(tile, last) / group);
  const column = group === 1 ? `d${last}` : `d${last}_unit`;
  const loop = { name: "unit", end: at(tile, d) * units, group: 1, axis: "x" } as const;
  const body = (unit: Amount): void => {
    out.line(`let d${d} = ${numberText(unit)} / ${units}u;`);
    out.line(`let ${column} = ${numberText(unit)} - d${d} * ${units}u;`);
    coords[d] = named(`d${d}`);
    coords[last] = named(column, group);
    const isPartial = (k: number): boolean => {
      const size = at(sizes, k);
      return !isConstant(size) || size.at < at(tile, k);
    };
    const conditions = loops.dims.flatMap((k) =>
      isPartial(k) ? [`${numberText(at(coords, k))} < ${context.form(at(sizes, k))}`] : [],
    );
    context.guarded(conditions, () => {
      loops.body(coords);
    });
  };
  const emit = (): void => {
    emitUnrolled(context, loop, body);
  };
  // A single turn has no loop: a loop around it has the parts of addresses that it does not move.
  if (loop.end <= context.lanes.count("x") && context.isInLoop) emit();
  else context.looped([...coords], emit);
}
