/** Where the gathered elements of a tile coordinate lie: index positions, and addresses in the data. */
import type { DimAccess } from "../../ir/access.js";
import type { GatherStmt } from "../../ir/tile.js";
import { at, strides } from "../../ir/types.js";
import type { Context } from "./context.js";
import { sum } from "./expr.js";
import { identifier } from "./names.js";
import { canBeNone, none } from "./resolve.js";

/** The address of the element a tile coordinate gathers, in elements, once `lookUps` has declared `at<k>`. */
export function sourceOf(context: Context, stmt: GatherStmt, coords: readonly string[]) {
  const shape = context.func.data.type.shape;
  const by = context.strides(stmt.data.buffer);
  const nones: number[] = [];
  const terms = stmt.map.results.flatMap((access, k) => {
    const offset = at(stmt.data.offsets, k);
    if (access.kind === "direct") return context.address(offset, at(coords, access.dim), at(by, k));
    if (canBeNone(stmt.oob, at(shape, k))) nones.push(k);
    return context.address(offset, `at${k}`, at(by, k));
  });
  return { name: identifier(stmt.data.buffer), address: sum(terms), nones };
}

/** The position in the index tensor of the index that a coordinate reads. */
export function positionOf(
  context: Context,
  stmt: GatherStmt,
  access: Extract<DimAccess, { readonly kind: "indirect" }>,
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
  stmt.map.results.forEach((access, k) => {
    if (access.kind !== "indirect") return;
    context.out.line(`let at${k} = resolve_${k}(${positionOf(context, stmt, access, coords)});`);
  });
}

/** `then` runs where every gather dim has an element, `otherwise` where one reads as zero. */
export function whereFound(
  context: Context,
  nones: readonly number[],
  then: () => void,
  otherwise?: () => void,
): void {
  const { out } = context;
  if (nones.length === 0) {
    then();
    return;
  }
  out.block(`if (${nones.map((k) => `at${k} != ${none}`).join(" && ")})`, then);
  if (otherwise !== undefined) out.block("else", otherwise);
}
