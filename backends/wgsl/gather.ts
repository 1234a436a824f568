/** gather, by plan: each lane moves groups of elements of the tile. */
import { largestValue } from "../../ir/expr.js";
import type { GatherStmt } from "../../ir/tile.js";
import { at, strides } from "../../ir/types.js";
import type { Context } from "./context.js";
import { scaled, sum } from "./expr.js";
import { identifier } from "./names.js";
import type { GatherPlan } from "./plan.js";
import { canBeNone, none } from "./resolve.js";
import { declareElements, positionOf, sourceOf, whereFound } from "./sources.js";
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

export function emitGather(context: Context, stmt: GatherStmt, plan: GatherPlan): void {
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
  const found = sourceOf(
    context,
    stmt,
    stmt.to.sizes.map((_, d) => `d${d}`),
  );
  const follows = new Set(
    stmt.map.results.flatMap((r) =>
      r.kind === "indirect" ? r.at.map((c) => (c.kind === "dim" ? c.dim : -1)) : [],
    ),
  );
  const perRow = !follows.has(rank - 1);
  emitTileLoops(context, {
    tile,
    sizes: stmt.to.sizes,
    group: plan.group,
    row(coords) {
      if (perRow) declareElements(context, stmt, coords);
    },
    body(coords) {
      out.line(`let to = ${target(coords)};`);
      if (plan.kind === "groups") {
        emitGroup(context, stmt, plan, coords, `${write}[to]`);
        return;
      }
      if (!perRow) declareElements(context, stmt, coords);
      const { name, address } = sourceOf(context, stmt, coords);
      if (plan.kind === "rows") {
        whereFound(
          context,
          found.nones,
          () => {
            out.line(`${write}[to] = ${name}[${inAccesses(address, 4, element.size)}];`);
          },
          () => {
            out.line(`${write}[to] = vec4u(0u);`);
          },
        );
        return;
      }
      const words = Array.from({ length: element.wordsPer }, (_, w) => (w === 0 ? "" : ` + ${w}u`));
      whereFound(
        context,
        found.nones,
        () => {
          out.line(`let source = ${sum(scaled(address, element.wordsPer))};`);
          for (const word of words) out.line(`${write}[to${word}] = ${name}[source${word}];`);
        },
        () => {
          for (const word of words) out.line(`${write}[to${word}] = 0u;`);
        },
      );
    },
  });
}

/** A flat element number as a number of accesses of `width` words. */
function inAccesses(flat: string, width: 1 | 2 | 4, size: number): string {
  const elements = (width * 4) / size;
  if (elements < 1) return sum(scaled(flat, 1 / elements));
  if (elements === 1) return flat;
  return `(${flat}) >> ${Math.log2(elements)}u`;
}

/** 16 bytes of output from as many elements as they hold. */
function emitGroup(
  context: Context,
  stmt: GatherStmt,
  plan: GatherPlan,
  coords: readonly string[],
  write: string,
): void {
  const { out, element } = context;
  const rank = coords.length;
  const shifted = (by: number): string[] =>
    coords.map((name, d) =>
      d < rank - 1 || by === 0 ? name : name === "0u" ? `${by}u` : `${name} + ${by}u`,
    );
  if (element.size > 4) {
    const values = Array.from({ length: plan.group }, (_, e) => {
      out.line(`var element_${e} = ${element.size === 16 ? "vec4u" : "vec2u"}(0u);`);
      out.block("", () => {
        const here = shifted(e);
        declareElements(context, stmt, here);
        const { name, address, nones } = sourceOf(context, stmt, here);
        whereFound(context, nones, () => {
          out.line(`element_${e} = ${name}[${address}];`);
        });
      });
      return `element_${e}`;
    });
    out.line(`${write} = ${values.length === 1 ? at(values, 0) : `vec4u(${values.join(", ")})`};`);
    return;
  }
  const quads = Array.from({ length: plan.group / 4 }, (_, q) =>
    emitQuad(context, stmt, plan, shifted(4 * q), q, shifted),
  );
  const [first] = quads;
  out.line(
    `${write} = ${element.size === 4 ? first : `vec4u(${quads.map((quad) => `pack(${quad})`).join(", ")})`};`,
  );
}

/** Declares and names the four elements from a coordinate on. */
function emitQuad(
  context: Context,
  stmt: GatherStmt,
  plan: GatherPlan,
  coords: readonly string[],
  quad: number,
  shifted: (by: number) => readonly string[],
): string {
  const { out, func } = context;
  const rank = coords.length;
  const by = context.strides(stmt.data.buffer);
  const suffix = plan.group === 4 ? "" : `_${quad}`;
  const missing: string[] = [];
  const terms = stmt.map.results.flatMap((access, k): string[] => {
    const offset = at(stmt.data.offsets, k);
    if (access.kind === "direct") {
      const base = sum(context.address(offset, at(coords, access.dim), at(by, k)));
      const step =
        access.dim === rank - 1 ? [`vec4u(0u, ${by[k]}u, ${2 * at(by, k)}u, ${3 * at(by, k)}u)`] : [];
      return [...(base === "0u" ? [] : [`vec4u(${base})`]), ...step];
    }
    const name = `at${k}${suffix}`;
    const positions = [0, 1, 2, 3].map((e) => positionOf(context, stmt, access, shifted(4 * quad + e)));
    const value =
      plan.width.indices === 4
        ? `resolve_${k}(${at(positions, 0)})`
        : `vec4u(${positions.map((position) => `resolve_${k}(${position})`).join(", ")})`;
    if (!canBeNone(stmt.oob, at(func.data.type.shape, k))) {
      out.line(`let ${name} = ${value};`);
    } else {
      out.line(`let found${k}${suffix} = ${value};`);
      out.line(`let none${k}${suffix} = found${k}${suffix} == vec4u(${none});`);
      out.line(`let ${name} = select(found${k}${suffix}, vec4u(0u), none${k}${suffix});`);
      missing.push(`none${k}${suffix}`);
    }
    const base = sum(context.address(offset, "0u", at(by, k)));
    const scaledName = at(by, k) === 1 ? name : `${name} * vec4u(${at(by, k)}u)`;
    return [...(base === "0u" ? [] : [`vec4u(${base})`]), scaledName];
  });
  const fetched = `fetch(${terms.join(" + ")})`;
  if (missing.length === 0) {
    out.line(`let elements${suffix} = ${fetched};`);
  } else {
    out.line(`let elements${suffix} = select(${fetched}, vec4u(0u), ${missing.join(" | ")});`);
  }
  return `elements${suffix}`;
}
