/**
 * The order of a scatter's points under a tile: those that write one element are taken in the order of the
 * domain.
 */
import { isOrderFree, type AccessMap } from "../access.js";
import { outputOf, type AccessFunc } from "../func.js";
import { at, type Shape } from "../types.js";

/**
 * Returns the dims of a scatter's iteration space (domain) along which two iterations may write the same
 * element. A dim `d` is left out if a written coordinate is `a·d + b`. Iterations that differ in `d` then
 * write different elements.
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
 * Input of {@link orderFault}: a scatter, the tile of its iteration space (domain), and the dims along which
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
 * Pair of dims of a scatter's iteration space whose tile entries break the row-major order of writes to the
 * same element. The tile covers only part of dim `cut`. It has several iterations along `outer`, a dim
 * outside `cut`.
 */
export interface OrderFault {
  readonly cut: number;
  readonly outer: number;
}

/**
 * Returns the pair of dims whose tile entries make a scatter write out of row-major order. Undefined if the
 * order is preserved, or if it cannot affect the result.
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
