/** One slip in how a tile program takes in the terms of its elements: what would give a sum other bits, or a tile's place in a byte. */
import {
  add,
  constant,
  dim,
  mapForms,
  min,
  statementsOf,
  sub,
  substitute,
  reductionDim,
  type ForStmt,
  type GatherStmt,
  type Region,
  type Stmt,
  type TileFunc,
} from "../../ir/index.js";
import type { Draw } from "../fuzz/mutate.js";

type Change = (stmt: GatherStmt, loop: ForStmt | undefined, draw: Draw) => GatherStmt;

/** The part of a gather that takes in its terms part by part. */
const parted =
  (
    change: (part: NonNullable<GatherStmt["chunk"]>, draw: Draw) => Partial<NonNullable<GatherStmt["chunk"]>>,
  ): Change =>
  (stmt, _, draw) =>
    stmt.chunk === undefined ? stmt : { ...stmt, chunk: { ...stmt.chunk, ...change(stmt.chunk, draw) } };

/** By what it does to a gather. */
export const sumSlips: Readonly<Record<string, Change>> = {
  "a part that starts late": parted(({ from, to }, draw) => ({
    from: add(from, constant(1 + draw(2))),
    ...(draw(2) === 0 ? {} : { to: add(to, constant(1)) }),
  })),
  "an initialisation in each part": parted(() => ({ from: constant(0) })),
  "rounding in each part": (stmt, loop, draw) => {
    const { chunk, map } = stmt;
    if (chunk === undefined || map.reduced === undefined) return stmt;
    const of = loop?.step ?? chunk.of;
    const own = { ...chunk, of, to: draw(2) === 0 ? constant(of) : min(chunk.to, constant(of)) };
    return { ...stmt, chunk: draw(2) === 0 ? own : { ...own, from: constant(0) } };
  },
  "a part that ends elsewhere": parted(({ to, of }, draw) => {
    const by = 1 - 2 * draw(2);
    return draw(2) === 0 ? { to: add(to, constant(by)) } : { of: Math.max(0, of + by) };
  }),
  "one part for all": parted(({ of }) => ({ from: constant(0), to: constant(of) })),
  "no part": (stmt) => {
    const { chunk: _, ...rest } = stmt;
    return rest;
  },
  "another tile for the sum": parted(({ into }, draw) => ({
    into: draw(2) === 0 ? [...into].reverse() : into.slice(0, draw(into.length + 1)),
  })),
  "a sum in the output's tile": (stmt) => {
    const { chunk, to } = stmt;
    return chunk === undefined
      ? stmt
      : { ...stmt, chunk: { ...chunk, into: chunk.into.map(() => to.buffer) } };
  },
  "more terms": (stmt, _, draw) => {
    const { map } = stmt;
    if (map.reduced === undefined) return stmt;
    const most = Math.max(1, map.reduced.max + 1 - 2 * draw(2));
    return { ...stmt, map: { ...map, reduced: { ...map.reduced, max: most } } };
  },
  "a nibble off": (stmt, _, draw) => {
    const k = draw(stmt.from.length);
    const off = (region: Region): Region => {
      const last = region.sizes.length - 1;
      const key = draw(2) === 0 ? "offsets" : "sizes";
      return {
        ...region,
        [key]: region[key].map((form, d) => (d === last ? add(form, constant(1 - 2 * draw(2))) : form)),
      };
    };
    return { ...stmt, from: stmt.from.map((region, n) => (n === k ? off(region) : region)) };
  },
};

/** Slips of the loop around the parts. */
export const loopSlips: Readonly<Record<string, (loop: ForStmt, draw: Draw) => readonly Stmt[]>> = {
  "a loop that starts late": (loop) => [{ ...loop, lower: add(loop.lower, constant(1)) }],
  "a loop that leaves out its first part": (loop) => [
    { ...loop, lower: add(loop.lower, constant(loop.step)) },
  ],
  "a loop that ends early": (loop) => [{ ...loop, upper: sub(loop.upper, constant(1)) }],
  "a loop of other steps": (loop, draw) => [{ ...loop, step: Math.max(1, loop.step + 1 - 2 * draw(2)) }],
  "a parallel loop": (loop) => [{ ...loop, mode: "parallel" }],
  "the loop twice": (loop) => [loop, loop],
  "its body twice": (loop) => [{ ...loop, body: [...loop.body, ...loop.body] }],
};

function edit(body: readonly Stmt[], target: Stmt, to: readonly Stmt[]): readonly Stmt[] {
  return body.flatMap((stmt) => {
    if (stmt === target) return to;
    return stmt.op === "for" ? [{ ...stmt, body: edit(stmt.body, target, to) }] : [stmt];
  });
}

/** The gather of a program, and the innermost loop around it. */
function gatherOf(func: TileFunc): { readonly stmt: GatherStmt; readonly loop?: ForStmt } | undefined {
  for (const { stmt, loops } of statementsOf(func)) {
    if (stmt.op !== "gather") continue;
    const loop = loops.at(-1);
    return loop === undefined ? { stmt } : { stmt, loop };
  }
  return undefined;
}

/** The program with one of the slips, by its name. */
export function slipped(func: TileFunc, name: string, draw: Draw): TileFunc {
  const found = gatherOf(func);
  if (found === undefined) return func;
  const { stmt, loop } = found;
  const ofLoop = loopSlips[name];
  if (ofLoop !== undefined)
    return loop === undefined ? func : { ...func, body: edit(func.body, loop, ofLoop(loop, draw)) };
  const changed = sumSlips[name]?.(stmt, loop, draw) ?? stmt;
  return { ...func, body: edit(func.body, stmt, [changed]) };
}

/** The program that takes in its terms from the last to the first: another one, where each r stands in its coordinates. */
export function descending(func: TileFunc): TileFunc {
  const found = gatherOf(func);
  if (found === undefined) return func;
  const { stmt } = found;
  const { map } = stmt;
  if (map.reduced === undefined) return func;
  const last = constant(map.reduced.max - 1);
  const turned = mapForms(map, (form) =>
    substitute(form, (of) =>
      of.kind === "dim" && of.dim === reductionDim(map) ? sub(last, dim(reductionDim(map))) : undefined,
    ),
  );
  return { ...func, body: edit(func.body, stmt, [{ ...stmt, map: turned }]) };
}
