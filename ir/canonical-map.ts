/**
 * The one form of a map, whether an operator, a model or a text made it: its text says nothing else, and
 * parses to an equal map. Reads are in the order in which the value names them, each once; an index operand
 * that is no more than the value of another is one index operand with it; index operands of terms stand
 * behind those of the element.
 */
import {
  coordsOf,
  formsOf,
  isRead,
  mapForms,
  sameRead,
  reductionDim,
  type AccessMap,
  type Read,
} from "./access.js";
import { dimsOf, index, indicesOf, soleAtom, substitute, type Linear } from "./linear.js";
import { at } from "./types.js";
import { readsIn, withReads } from "./values/expression.js";

/**
 * An index operand with what tells whether another may take its place. Without `outOfRange`, or under `any`:
 * no policy bounds it by itself.
 */
interface CanonicalIndex {
  readonly value: Read | Linear;
  readonly outOfRange?: string;
  readonly wrapNegativeBy?: unknown;
}

/** Parts of a map that have an order, whatever stands beside the values of its index operands. */
interface Ordered extends Pick<AccessMap, "domain" | "reduced" | "reads" | "value" | "write"> {
  readonly indices: readonly CanonicalIndex[];
}

/**
 * Returns an access map in canonical form; the same object if the map is already canonical. All reads and
 * index operands to which the map refers must exist (rule A9).
 */
export function canonicalMap<M extends Ordered>(map: M): M {
  return reductionLast(merged(readsInOrder(map)));
}

/** Returns the map with the reads in order of first use in the map's value. Equal reads are merged. */
function readsInOrder<M extends Pick<AccessMap, "reads" | "value">>(map: M): M {
  const reads: Read[] = [];
  const numbers = readsIn(map.value).map((k): [own: number, other: number] => {
    const read = at(map.reads, k);
    const position = reads.findIndex((other) => sameRead(other, read));
    return [k, position === -1 ? reads.push(read) - 1 : position];
  });
  if (reads.length === map.reads.length && numbers.every(([position, other]) => position === other))
    return map;
  const numberOf = new Map(numbers);
  return {
    ...map,
    reads,
    value: withReads(map.value, (k) => ({ kind: "read", read: numberOf.get(k) ?? k })),
  };
}

/**
 * Returns the map with redundant index operands merged. Index operand A is merged into index operand B if the
 * value of B is A alone, and A has no policy and no other use. If negative values count from the end for both
 * A and B, the two stay separate.
 */
function merged<M extends Ordered>(map: M): M {
  const { indices } = map;
  /** Index operands that are all of another's value, by their number. */
  const dividendOf = new Map<number, number>();
  const noteDividend = ({ value }: CanonicalIndex, s: number): void => {
    const only = isRead(value) ? undefined : soleAtom(value);
    if (only?.kind === "index") dividendOf.set(only.index, s);
  };
  indices.forEach(noteDividend);
  if (dividendOf.size === 0) return map;
  const uses = indices.map(() => 0);
  for (const form of formsOf(map)) {
    for (const s of new Set(indicesOf(form))) uses[s] = at(uses, s) + 1;
  }
  const left: (CanonicalIndex | undefined)[] = [...indices];
  for (let inner = indices.length - 1; inner >= 0; inner--) {
    const outer = dividendOf.get(inner);
    const [first, other] = [left[inner], outer === undefined ? undefined : left[outer]];
    if (first === undefined || outer === undefined || other === undefined) continue;
    if ((first.outOfRange ?? "any") !== "any" || at(uses, inner) > 1) continue;
    const { value: _, ...policy } = other;
    if (first.wrapNegativeBy !== undefined && policy.wrapNegativeBy !== undefined) continue;
    left[inner] = undefined;
    left[outer] = { ...first, ...policy };
    noteDividend(first, outer);
  }
  const order = left.flatMap((draft, s) => (draft === undefined ? [] : [s]));
  if (order.length === indices.length) return map;
  return inOrder({ ...map, indices: left.map((draft, s) => draft ?? at(indices, s)) }, order);
}

/** Returns the map with the index operands that depend on the reduction dim r moved to the end. */
function reductionLast<M extends Ordered>(map: M): M {
  if (map.reduced === undefined) return map;
  const inReduction = new Set<number>();
  map.indices.forEach((operand, s) => {
    const depends = (form: Linear): boolean =>
      dimsOf(form).includes(reductionDim(map)) || indicesOf(form).some((inner) => inReduction.has(inner));
    if (coordsOf(operand).some(depends)) inReduction.add(s);
  });
  const numbers = map.indices.map((_, s) => s);
  return inOrder(map, [...numbers.filter((s) => !inReduction.has(s)), ...inReduction]);
}

/** Returns the map with only the index operands at the positions in `order`, in that order. */
function inOrder<M extends Ordered>(map: M, order: readonly number[]): M {
  if (order.length === map.indices.length && order.every((s, k) => s === k)) return map;
  const numbers = new Map(order.map((s, k) => [s, k]));
  const numberOf = (s: number): number => numbers.get(s) ?? s;
  const renumber = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "index" ? index(numberOf(of.index)) : undefined));
  const placed = mapForms({ ...map, indices: order.map((s) => at(map.indices, s)) }, renumber);
  const { reduced } = placed;
  if (reduced?.segment === undefined) return placed;
  const { from, to } = reduced.segment;
  return { ...placed, reduced: { ...reduced, segment: { from: numberOf(from), to: numberOf(to) } } };
}
