/** gather, by plan: each lane moves groups of elements of the tile. */
import { gatherAccesses, gatherDims, indicesFollow, type IndirectAccess } from "../../ir/access.js";
import { largestValue } from "../../ir/expr.js";
import type { GatherStmt } from "../../ir/tile.js";
import { at, strides } from "../../ir/types.js";
import type { Context } from "./context.js";
import { scaled, sum } from "./expr.js";
import { identifier } from "./names.js";
import type { GatherPlan } from "./plan.js";
import { none, sawWorst } from "./resolve.js";
import { declareElements, mayMiss, positionOf, sourceOf, whereFound } from "./sources.js";
import { emitTileLoops } from "./tile-loops.js";

/** The helpers that `groups` calls, before main. */
export function emitGroupHelpers(context: Context, stmt: GatherStmt): void {
  const { out } = context;
  const { size } = context.element;
  if (size > 4) return;
  const name = identifier(stmt.data.buffer);
  const parts = ["x", "y", "z", "w"];
  out.line("// the elements at four addresses");
  out.block("fn fetch(source: vec4u) -> vec4u", () => {
    if (size === 4) {
      out.line(`return vec4u(${parts.map((c) => `${name}[source.${c}]`).join(", ")});`);
      return;
    }
    const [shift, mask, bits] = size === 2 ? ["1u", "1u", "4u"] : ["2u", "3u", "3u"];
    out.line(`let words = vec4u(${parts.map((c) => `${name}[source.${c} >> ${shift}]`).join(", ")});`);
    const low = size === 2 ? "0xffffu" : "0xffu";
    out.line(`return (words >> ((source & vec4u(${mask})) << vec4u(${bits}))) & vec4u(${low});`);
  });
  out.line("");
  if (size === 4) return;
  out.line("// four elements side by side");
  if (size === 2) {
    out.block("fn pack(e: vec4u) -> vec2u", () => {
      out.line("return e.xz | (e.yw << vec2u(16u));");
    });
  } else {
    out.block("fn pack(e: vec4u) -> u32", () => {
      out.line("return e.x | (e.y << 8u) | (e.z << 16u) | (e.w << 24u);");
    });
  }
  out.line("");
}

export function emitGather(
  context: Context,
  stmt: GatherStmt,
  plan: Exclude<GatherPlan, { readonly kind: "packed" }>,
): void {
  const { out, func, element } = context;
  const rank = stmt.to.sizes.length;
  const gm = strides(func.output.type.shape);
  const tile = stmt.to.sizes.map((size) => largestValue(size) ?? 0);
  const write = identifier(stmt.to.buffer);
  /** The output element of a coordinate, in accesses of the output's width. */
  const target = (coords: readonly string[]): string => {
    const flat = coords.flatMap((name, d) => context.address(at(stmt.to.offsets, d), name, at(gm, d)));
    return inAccesses(sum(flat), plan.width.output, element.size);
  };
  const dims = stmt.to.sizes.map((_, d) => d);
  const follows = indicesFollow(stmt.map);
  const [served, sharing] = [dims.filter((d) => follows.has(d)), dims.filter((d) => !follows.has(d))];
  const loops = { tile, sizes: stmt.to.sizes, group: plan.group };
  const start = dims.map(() => "0u");
  const move = (coords: readonly string[]): void => {
    out.line(`let to = ${target(coords)};`);
    switch (plan.kind) {
      case "groups":
        emitGroup(context, stmt, plan, coords, `${write}[to]`);
        break;
      case "rows":
        emitRow(context, stmt, coords, `${write}[to]`);
        break;
      case "words":
        emitWords(context, stmt, coords, write);
        break;
    }
  };
  const resolve = (coords: readonly string[]): void => {
    if (plan.kind === "groups") declareGroup(context, stmt, plan, coords);
    else declareElements(context, stmt, coords);
  };
  const once = (body: () => void): void => {
    if (rank === 0) out.block(`if (${context.lanes.flat()} == 0u)`, body);
    else out.block("", body);
  };
  // An index is resolved outside the dims that share it.
  once(() => {
    emitTileLoops(
      context,
      {
        ...loops,
        dims: served,
        body(coords) {
          resolve(coords);
          emitTileLoops(context, { ...loops, dims: sharing, body: move }, coords);
        },
      },
      start.slice(),
    );
  });
  if (stmt.oob === "error") emitReports(context, stmt, plan, { ...loops, dims: served }, start);
}

/** 16 bytes of a row that one index serves. */
function emitRow(context: Context, stmt: GatherStmt, coords: readonly string[], write: string): void {
  const { out, element } = context;
  const { name, address } = sourceOf(context, stmt, coords);
  whereFound(
    context,
    stmt,
    () => {
      out.line(`${write} = ${name}[${inAccesses(address, 4, element.size)}];`);
    },
    () => {
      out.line(`${write} = vec4u(0u);`);
    },
  );
}

/** One element, word by word. */
function emitWords(context: Context, stmt: GatherStmt, coords: readonly string[], write: string): void {
  const { out, element } = context;
  const { name, address } = sourceOf(context, stmt, coords);
  const words = Array.from({ length: element.wordsPer }, (_, w) => (w === 0 ? "" : ` + ${w}u`));
  whereFound(
    context,
    stmt,
    () => {
      out.line(`let source = ${sum(scaled(address, element.wordsPer))};`);
      for (const word of words) out.line(`${write}[to${word}] = ${name}[source${word}];`);
    },
    () => {
      for (const word of words) out.line(`${write}[to${word}] = 0u;`);
    },
  );
}

/** Looks for the lowest index out of range of this workgroup, once some lane has seen one. */
function emitReports(
  context: Context,
  stmt: GatherStmt,
  plan: GatherPlan,
  loops: Omit<Parameters<typeof emitTileLoops>[1], "body">,
  start: readonly string[],
): void {
  const { out, func } = context;
  const innermost = start.length - 1;
  const tests = gatherDims(stmt.map).map((k) =>
    sawWorst(k, at(func.data.type.shape, k), plan.width.indices === 4),
  );
  out.line("// report the first index out of range");
  out.block(`for (var again = ${tests.join(" || ")}; again; again = false)`, () => {
    const report = (coords: readonly string[]): void => {
      for (const { dim: k, access } of gatherAccesses(stmt.map)) {
        out.line(`report_${k}(${positionOf(context, stmt, access, coords)});`);
      }
    };
    const body = (coords: string[]): void => {
      if (plan.group === 1 || !loops.dims.includes(innermost)) {
        report(coords);
        return;
      }
      out.block(`for (var e = 0u; e < ${plan.group}u; e++)`, () => {
        report(coords.map((name, d) => (d === innermost ? (name === "0u" ? "e" : `${name} + e`) : name)));
      });
    };
    emitTileLoops(context, { ...loops, body }, start.slice());
  });
}

/** A flat element number as a number of accesses of `width` words. */
function inAccesses(flat: string, width: 1 | 2 | 4, size: number): string {
  const elements = (width * 4) / size;
  if (elements < 1) return sum(scaled(flat, 1 / elements));
  if (elements === 1) return flat;
  return `(${flat}) >> ${Math.log2(elements)}u`;
}

const shiftedBy = (coords: readonly string[], by: number): string[] =>
  coords.map((name, d) =>
    d < coords.length - 1 || by === 0 ? name : name === "0u" ? `${by}u` : `${name} + ${by}u`,
  );

/** Declares `at<k>_<n>` for the elements of a group, and `none<k>_<n>` where an index may have none. */
function declareGroup(context: Context, stmt: GatherStmt, plan: GatherPlan, coords: readonly string[]): void {
  const { out, element } = context;
  const resolved = (k: number, access: IndirectAccess, shift: number): string =>
    `resolve_${k}(${positionOf(context, stmt, access, shiftedBy(coords, shift))})`;
  const wide = element.size > 4;
  for (let n = 0; n < (wide ? plan.group : 1); n++) {
    for (const { dim: k, access } of gatherAccesses(stmt.map)) {
      const calls = [0, 1, 2, 3].map((e) => resolved(k, access, e));
      const four = plan.width.indices === 4 ? at(calls, 0) : `vec4u(${calls.join(", ")})`;
      out.line(`let at${k}_${n} = ${wide ? resolved(k, access, n) : four};`);
      if (!mayMiss(context, stmt).includes(k)) continue;
      out.line(`let none${k}_${n} = at${k}_${n} == ${wide ? none : `vec4u(${none})`};`);
    }
  }
}

/** The output of a group from the elements it gathers. */
function emitGroup(
  context: Context,
  stmt: GatherStmt,
  plan: GatherPlan,
  coords: readonly string[],
  write: string,
): void {
  const { out, element } = context;
  const nones = mayMiss(context, stmt);
  const wide = element.size > 4;
  const values = Array.from({ length: wide ? plan.group : 1 }, (_, n) => {
    const value = wide
      ? elementAt(context, stmt, shiftedBy(coords, n), n)
      : `fetch(${quadAddress(context, stmt, coords)})`;
    const missing = nones.map((k) => `none${k}_${n}`).join(wide ? " || " : " | ");
    const zero = `vec${element.size === 8 ? 2 : 4}u(0u)`;
    return missing === "" ? value : `select(${value}, ${zero}, ${missing})`;
  });
  const [first = ""] = values;
  const whole = values.length === 1 ? first : `vec4u(${values.join(", ")})`;
  out.line(`${write} = ${element.size < 4 ? `pack(${first})` : whole};`);
}

/** One element wider than a word. An index without an element reads element 0, and its bits are dropped. */
function elementAt(context: Context, stmt: GatherStmt, coords: readonly string[], n: number): string {
  const by = context.strides(stmt.data.buffer);
  const terms = stmt.map.results.flatMap((access, k) => {
    const offset = at(stmt.data.offsets, k);
    const coord = access.kind === "direct" ? at(coords, access.dim) : found(context, stmt, k, n, "0u");
    return context.address(offset, coord, at(by, k));
  });
  return `${identifier(stmt.data.buffer)}[${sum(terms)}]`;
}

const found = (context: Context, stmt: GatherStmt, k: number, n: number, zero: string): string =>
  mayMiss(context, stmt).includes(k) ? `select(at${k}_${n}, ${zero}, none${k}_${n})` : `at${k}_${n}`;

/** The addresses of four elements from a coordinate on. */
function quadAddress(context: Context, stmt: GatherStmt, coords: readonly string[]): string {
  const innermost = coords.length - 1;
  const by = context.strides(stmt.data.buffer);
  const scalar: string[] = [];
  const vectors: string[] = [];
  stmt.map.results.forEach((access, k) => {
    const stride = at(by, k);
    const offset = at(stmt.data.offsets, k);
    if (access.kind === "direct") {
      scalar.push(...context.address(offset, at(coords, access.dim), stride));
      if (access.dim === innermost) {
        vectors.push(`vec4u(0u, ${stride}u, ${2 * stride}u, ${3 * stride}u)`);
      }
      return;
    }
    scalar.push(...context.address(offset, "0u", stride));
    const name = found(context, stmt, k, 0, "vec4u(0u)");
    vectors.push(stride === 1 ? name : `${name} * vec4u(${stride}u)`);
  });
  const base = scalar.length === 0 ? [] : [`vec4u(${sum(scalar)})`];
  return [...base, ...vectors].join(" + ");
}
