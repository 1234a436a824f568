/**
 * The order of a scatter's points under a tile: those that write one element are taken in the order of the
 * domain.
 */
import { isOrderFree, type AccessMap } from "../access.js";
import { outputOf, type AccessFunc } from "../func.js";
import { at, type Shape } from "../types.js";

/**
 * Returns the dims of a scatter's iteration space (domain) along which two iterations may write the same
 * element.
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

/**
 * Input of {@link orderFault}: a scatter, the tile of the iteration space (domain), and the dims along which
 * several iterations may write the same element.
 */
export interface TiledPoints {
  readonly scatter: Pick<AccessFunc, "map" | "operands">;
  /** Points of a tile along each dim of the domain. */
  readonly tile: Shape;
  /** Dims of the domain that carry points. */
  readonly carrying: readonly number[];
}

/**
 * Pair of dims of a scatter's iteration space along which a tile breaks the order of writes to the same
 * element. `cut`: dim that the tile splits. `outer`: dim outside `cut` with several iterations in the tile.
 */
export interface OrderFault {
  readonly cut: number;
  readonly outer: number;
}

/**
 * Returns the pair of dims along which a scatter's tile breaks the row-major order of writes. Undefined if
 * the order is preserved or cannot affect the result.
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
