/**
 * The look at the points of a scatter before any is written: their index values, then elements that two of
 * them write.
 */
import { indexed, type AccessMap } from "../ir/access.js";
import { outputOf } from "../ir/func.js";
import { dimsOf } from "../ir/linear.js";
import { noElement, outOfRange } from "../ir/policy.js";
import { at, elementCount, strides, type Shape } from "../ir/types.js";
import { mapAddresses, type MapAddresses } from "./map-addresses.js";
import { pointsOf } from "./region-points.js";
import { badIndexAt, duplicateWrite, type MappedInputs } from "./resolved-indices.js";

/** Points between two steps. */
const pointsAtOnce = 2 ** 12;

/**
 * Checks the index values of all points of a scatter before any element is written; yields 0 regularly, so
 * that the caller can pause. Throws a RunError: TC601 for an index out of range, TC607 for a forbidden
 * duplicate. `written`: returns the output position of the current point.
 */
export function* checkPoints(
  mapped: MappedInputs,
  addresses: MapAddresses,
  written: () => number,
  domain: Shape = mapped.map.domain,
): Generator<number, void> {
  /** Point that writes an element, by the element. */
  const owners = mapped.map.write.duplicates === "error" ? new Map<number, number>() : undefined;
  let duplicate: { readonly point: number; readonly earlier: number; readonly element: number } | undefined;
  let done = 0;
  for (const point of pointsOf(domain)) {
    if (done % pointsAtOnce === 0) yield 0;
    const ended = addresses.to(point);
    if (ended === outOfRange) throw badIndexAt(mapped, point);
    if (ended === 0) {
      for (const address of addresses.reduction?.() ?? [])
        if (address === outOfRange) throw badIndexAt(mapped, point);
    }
    if (owners !== undefined && ended !== noElement) {
      const element = written();
      const earlier = owners.get(element);
      if (earlier === undefined) owners.set(element, done);
      else duplicate ??= { point: done, earlier, element };
    }
    done++;
  }
  if (duplicate === undefined) return;
  throw duplicateWrite(mapped, domain, duplicate);
}

/**
 * Returns the extents of a smaller domain on which {@link checkPoints} finds a fault if and only if the whole
 * scatter has a fault. The extents of dims that cannot cause a fault become 1.
 */
export function tellingPoints(map: AccessMap): Shape {
  if (elementCount(map.domain) === 0) return map.domain;
  const follow = indexed(map);
  return map.domain.map((extent, d) => {
    const coords = map.write.at.filter((coord) => dimsOf(coord).includes(d));
    const [alone, ...others] = coords;
    const isSeparate = others.length === 0 && alone?.terms.length === 1 && alone.terms[0]?.of.kind === "dim";
    return isSeparate && !follow.has(d) ? 1 : extent;
  });
}

/**
 * Checks the index values and the duplicate writes of a scatter; yields 0 regularly. Throws a RunError for
 * the first fault: TC601 for an index out of range, TC607 for a duplicate.
 */
export function* checkScatter(mapped: MappedInputs): Generator<number, void> {
  const addresses = mapAddresses(mapped);
  const by = strides(outputOf(mapped).type.shape);
  const written = (): number => addresses.written().reduce((sum, coord, k) => sum + coord * at(by, k), 0);
  yield* checkPoints(mapped, addresses, written, tellingPoints(mapped.map));
}
