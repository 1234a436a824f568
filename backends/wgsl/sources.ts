/** Where the gathered elements of a tile coordinate lie: index positions, and addresses in the data. */
import { gatherAccesses, gatherDims, type IndirectAccess } from "../../ir/access.js";
import type { GatherStmt } from "../../ir/tile.js";
import { at, strides } from "../../ir/types.js";
import type { Context } from "./context.js";
import { sum } from "./expr.js";
import { identifier } from "./names.js";
import { canBeNone, none } from "./resolve.js";

/** The address of the element a tile coordinate gathers, in elements, once `declareElements` has declared `at<k>`. */
export function sourceOf(context: Context, stmt: GatherStmt, coords: readonly string[]) {
  const by = context.strides(stmt.data.buffer);
  const terms = stmt.map.results.flatMap((access, k) => {
    const offset = at(stmt.data.offsets, k);
    if (access.kind === "direct") return context.address(offset, at(coords, access.dim), at(by, k));
    return context.address(offset, `at${k}`, at(by, k));
  });
  return { name: identifier(stmt.data.buffer), address: sum(terms) };
}

/** The position in the index tensor of the index that a coordinate reads. */
export function positionOf(
  context: Context,
  stmt: GatherStmt,
  access: IndirectAccess,
  coords: readonly string[],
): string {
  const index = strides(context.func.indices.type.shape);
  const terms = access.at.flatMap((c, dim) => {
    const coord = c.kind === "dim" ? at(coords, c.dim) : `${c.value}u`;
    return context.address(at(stmt.origin, dim), coord, at(index, dim));
  });
  return sum(terms);
}

/** Declares `at<k>` for every gather dim, at a coordinate. */
export function declareElements(context: Context, stmt: GatherStmt, coords: readonly string[]): void {
  for (const { dim, access } of gatherAccesses(stmt.map)) {
    context.out.line(`let at${dim} = resolve_${dim}(${positionOf(context, stmt, access, coords)});`);
  }
}

/** Gather dims whose index may name no element. */
export const mayMiss = (context: Context, stmt: GatherStmt): number[] =>
  gatherDims(stmt.map).filter((dim) => canBeNone(stmt.oob, at(context.func.data.type.shape, dim)));

/** `then` runs where every gather dim has an element, `otherwise` where one reads as zero. */
export function whereFound(
  context: Context,
  stmt: GatherStmt,
  then: () => void,
  otherwise?: () => void,
): void {
  const { out } = context;
  const nones = mayMiss(context, stmt);
  if (nones.length === 0) {
    then();
    return;
  }
  out.block(`if (${nones.map((k) => `at${k} != ${none}`).join(" && ")})`, then);
  if (otherwise !== undefined) out.block("else", otherwise);
}
