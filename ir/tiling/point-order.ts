/**
 * The order of a scatter's points under a tile: those that write one element are taken in the order of the
 * domain.
 */
import { isOrderFree, type AccessMap } from "../access.js";
import { outputOf, type AccessFunc } from "../func.js";
import { at, type Shape } from "../types.js";

/**
 * Returns the dims of a scatter's iteration space (domain) along which two iterations may write one element.
 * Excluded is each dim `d` for which a written coordinate is `a·d + b`, because iterations that differ in `d`
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
 * Tile of a scatter's iteration space (domain), with the dims along which several iterations may write one
 * element. It is the input of {@link orderFault}.
 */
export interface TiledPoints {
  readonly scatter: Pick<AccessFunc, "map" | "operands">;
  /** Points of a tile along each dim of the domain. */
  readonly tile: Shape;
  /** Dims of the domain that carry points. */
  readonly carrying: readonly number[];
}

/**
 * Pair of dims of a scatter's iteration space whose tile entries change the order in which an element is
 * written. The tile divides dim `cut`, and it has several iterations along the outer dim `outer`.
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
