/** One change to one statement of a tile program: what a broken pass, or a slip of the hand, leaves behind. */
import {
  add,
  constant,
  iv,
  loopVariables,
  min,
  readPolicies,
  pipes,
  statementsOf,
  sub,
  type Linear,
  type Region,
  type Stmt,
  type TileFunc,
  readData,
  dataCoords,
} from "../../ir/index.js";

/** Uniform in [0, limit). */
type Draw = (limit: number) => number;

const pick = <T>(list: readonly T[], draw: Draw): T => list[draw(list.length)]!;
const replaceAt = <T>(list: readonly T[], k: number, value: T): T[] =>
  list.map((old, j) => (j === k ? value : old));

/** The same program with one of its statements, or its schedule, changed. Legal or not. */
export function mutateTile(func: TileFunc, draw: Draw): TileFunc {
  const all = statementsOf(func);
  if (all.length === 0) return func;
  const chosen = pick(all, draw);
  const { stmt } = chosen;
  const variables = all.flatMap((found) => (found.stmt.op === "for" ? [found.stmt.iv] : []));
  switch (draw(12)) {
    case 0:
      return { ...func, body: edit(func.body, stmt, () => []) };
    case 1:
      return { ...func, body: edit(func.body, stmt, (same) => [same, same]) };
    case 2: {
      const other = pick(all, draw).stmt;
      return { ...func, body: edit(func.body, stmt, (same) => [same, other]) };
    }
    case 3: {
      // Neighbours change places.
      const next = chosen.body[chosen.place + 1];
      if (next === undefined) return func;
      const without = edit(func.body, next, () => []);
      return { ...func, body: edit(without, stmt, (same) => [next, same]) };
    }
    default:
      return { ...func, body: edit(func.body, stmt, (same) => [changed(same, variables, draw)]) };
  }
}

function edit(body: readonly Stmt[], target: Stmt, change: (stmt: Stmt) => readonly Stmt[]): Stmt[] {
  return body.flatMap((stmt) => {
    if (stmt === target) return change(stmt);
    return stmt.op === "for" ? [{ ...stmt, body: edit(stmt.body, target, change) }] : [stmt];
  });
}

/** A form a little off: a constant more, another variable, a bound. */
function off(form: Linear, variables: readonly string[], draw: Draw): Linear {
  const few = 1 + draw(3);
  switch (draw(7)) {
    case 0:
      return add(form, constant(few));
    case 1:
      return sub(form, constant(few));
    case 2:
      return constant(draw(8));
    case 3:
      return variables.length === 0 ? form : iv(pick(variables, draw));
    case 4:
      return variables.length === 0 ? form : add(form, iv(pick(variables, draw)));
    case 5:
      return min(form, constant(draw(9)));
    default:
      return [...loopVariables(form)].length === 0 ? constant(form.at * 2) : { ...form, at: form.at + few };
  }
}

function offRegion(region: Region, variables: readonly string[], draw: Draw): Region {
  if (region.offsets.length === 0) return region;
  const k = draw(region.offsets.length);
  const list = pick(["offsets", "sizes"] as const, draw);
  return { ...region, [list]: replaceAt(region[list], k, off(region[list][k]!, variables, draw)) };
}

function changed(stmt: Stmt, variables: readonly string[], draw: Draw): Stmt {
  switch (stmt.op) {
    case "for":
      switch (draw(4)) {
        case 0:
          return { ...stmt, lower: off(stmt.lower, variables, draw) };
        case 1:
          return { ...stmt, upper: off(stmt.upper, variables, draw) };
        case 2:
          return { ...stmt, step: Math.max(1, stmt.step + draw(5) - 2) };
        default:
          return { ...stmt, mode: stmt.mode === "serial" ? "parallel" : "serial" };
      }
    case "scatter":
      return { ...stmt, to: offRegion(stmt.to, variables, draw) };
    case "fill":
      return { ...stmt, bits: String(draw(256)) };
    case "alloc": {
      const { buffer } = stmt;
      const k = draw(Math.max(1, buffer.shape.length));
      switch (draw(4)) {
        case 0:
          return { ...stmt, buffer: { ...buffer, rowBytes: Math.max(1, buffer.rowBytes + draw(65) - 32) } };
        case 1:
          return {
            ...stmt,
            buffer: { ...buffer, shape: buffer.shape.map((n, d) => (d === k ? n + draw(5) - 2 : n)) },
          };
        case 2:
          return {
            ...stmt,
            buffer: {
              ...buffer,
              addresses: (buffer.addresses ?? []).map((start) => Math.max(0, start + 32 * (draw(5) - 2))),
            },
          };
        default: {
          const buffers = buffer.buffers === 1 ? 2 : 1;
          const [first = 0] = buffer.addresses ?? [];
          return {
            ...stmt,
            buffer: { ...buffer, buffers, addresses: buffers === 1 ? [first] : [first, first + 4096] },
          };
        }
      }
    }
    case "load":
      return { ...stmt, from: offRegion(stmt.from, variables, draw) };
    case "store":
      return { ...stmt, to: offRegion(stmt.to, variables, draw) };
    case "sync":
      return draw(2) === 0
        ? { ...stmt, lag: stmt.lag === 0 ? 1 : 0 }
        : { ...stmt, from: pick(pipes, draw), to: pick(pipes, draw) };
    case "gather":
      switch (draw(7)) {
        case 5: {
          // The indices of another place, and the origin that belongs to them.
          const [data, indices] = stmt.from;
          const k = draw(Math.max(1, indices?.offsets.length ?? 0));
          if (data === undefined || indices?.offsets[k] === undefined) return stmt;
          const by = constant(draw(3) - 1);
          const offsets = replaceAt(indices.offsets, k, add(indices.offsets[k], by));
          const origins = stmt.origins.map((origin) => replaceAt(origin, k, add(origin[k]!, by)));
          return { ...stmt, from: [data, { ...indices, offsets }], origins };
        }
        case 0: {
          const k = draw(stmt.from.length);
          return { ...stmt, from: replaceAt(stmt.from, k, offRegion(stmt.from[k]!, variables, draw)) };
        }
        case 1:
          return { ...stmt, to: offRegion(stmt.to, variables, draw) };
        case 2: {
          // Results change places: another operator.
          const results = dataCoords(stmt.map);
          const [a, b] = [draw(results.length), draw(results.length)];
          const swapped = results.map((result, k) =>
            k === a ? results[b]! : k === b ? results[a]! : result,
          );
          return { ...stmt, map: { ...stmt.map, ...readData(swapped) } };
        }
        case 3: {
          const outOfRange = pick(readPolicies, draw);
          return {
            ...stmt,
            map: { ...stmt.map, indices: stmt.map.indices.map((site) => ({ ...site, outOfRange })) },
          };
        }
        case 4: {
          const origins = stmt.origins.map((origin) =>
            origin.length === 0 ? origin : replaceAt(origin, 0, off(origin[0]!, variables, draw)),
          );
          return { ...stmt, origins };
        }
        default:
          return {
            ...stmt,
            map: {
              ...stmt.map,
              indices: stmt.map.indices.map((site) => {
                const extent = Math.max(0, (site.extent ?? 0) + draw(3) - 1);
                return {
                  ...site,
                  extent,
                  ...(site.wrapNegativeBy === undefined ? {} : { wrapNegativeBy: extent }),
                };
              }),
            },
          };
      }
  }
}
