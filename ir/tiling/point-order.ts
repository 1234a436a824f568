/**
 * The order of a scatter's points under a tile: those that write one element are taken in the order of the
 * domain.
 */
import { isOrderFree, type AccessMap } from "../access.js";
import { outputOf, type AccessFunc } from "../func.js";
import { at, type Shape } from "../types.js";

/**
 * Returns the carrying dims of a scatter's domain: dims along which two points may write the same element.
 */
export function carryingDims({ write, domain }: Pick<AccessMap, "write" | "domain">): readonly number[] {
  const separating = new Set(
    write.at.flatMap((coord) => {
      const [term, ...others] = coord.terms;
      return term?.of.kind === "dim" && others.length === 0 ? [term.of.dim] : [];
    }),
  );
  return [...domain.keys()].filter((d) => !separating.has(d));
}

/** Input of {@link orderFault}: a scatter, a tile of its domain, and the carrying dims. */
export interface TiledPoints {
  readonly scatter: Pick<AccessFunc, "map" | "operands">;
  /** Points of a tile along each dim of the domain. */
  readonly tile: Shape;
  /** Carrying dims: dims along which two points may write the same element. */
  readonly carrying: readonly number[];
}

/**
 * Pair of carrying dims for which a scatter's tile breaks the order of writes to the same element. `cut`: dim
 * that the tile splits. `outer`: an earlier dim along which the tile has several points.
 */
export interface OrderFault {
  readonly cut: number;
  readonly outer: number;
}

/**
 * Returns the first pair of carrying dims in which a scatter's tile breaks the row-major order of writes.
 * Undefined if the tile keeps the order, or if the order cannot affect the output.
 */
export function orderFault({ scatter, tile, carrying }: TiledPoints): OrderFault | undefined {
  const { map } = scatter;
  if (isOrderFree(map.write, outputOf(scatter).type.dtype)) return undefined;
  for (const cut of carrying) {
    if (at(tile, cut) >= at(map.domain, cut)) continue;
    const outer = carrying.find((d) => d < cut && at(tile, d) > 1);
    if (outer !== undefined) return { cut, outer };
  }
  return undefined;
}
