/**
 * The order of a scatter's points under a tile: those that write one element are taken in the order of the
 * domain.
 */
import { isOrderFree, type AccessMap } from "../access.js";
import { outputOf, type AccessFunc } from "../func.js";
import { at, type Shape } from "../types.js";

/**
 * Returns the dims of a domain of which no written coordinate is a multiple, plus a number: points that
 * differ in others never meet.
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

/** A scatter's points, tile by tile along the dims that carry them. */
export interface TiledPoints {
  readonly scatter: Pick<AccessFunc, "map" | "operands">;
  /** Points of a tile along each dim of the domain. */
  readonly tile: Shape;
  /** Dims of the domain that carry points. */
  readonly carrying: readonly number[];
}

/** Dim of the domain that a tile cuts, and one outside it of which the tile has several points. */
export interface OrderFault {
  readonly cut: number;
  readonly outer: number;
}

/**
 * Returns the carrying dims that break the order of points; undefined where points keep it, or where it
 * cannot be seen.
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
