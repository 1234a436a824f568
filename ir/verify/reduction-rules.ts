/**
 * The rules of terms. B6 r and a reduction come together, once each; r, and index values that depend on it,
 * stand inside the reduction alone. B8 an element has 1 to 2^24 terms at most, a mean fewer, so that their
 * number is an f32. A9 index values of an element stand before those of its terms, and so they are evaluated.
 */
import { defined } from "../defined.js";
import { formsOf, isInReduction, reductionDim, type AccessMap } from "../access.js";
import { dimsOf, indicesOf, type Linear } from "../linear.js";
import { maxReductionElements, readsIn, reductionsIn, type Expression } from "../values/expression.js";

interface ReductionFault {
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Returns the violations of rules B6 and B8 by an access map; index values are not checked. B6: the map has
 * exactly one reduction if it declares reduction elements, else none. B8: the number of reduction elements is
 * from 1 to the limit of the reduction.
 */
export function reductionFaults(map: AccessMap): ReductionFault[] {
  const reductions = reductionsIn(map.value);
  const [first, second] = reductions;
  const fault = (message: string, hint?: string): ReductionFault[] => [
    { rule: "B6", message, ...defined({ hint }) },
  ];
  if (second !== undefined)
    return fault(`${reductions.map(({ how }) => how).join(" and ")}: a value has one reduction`);
  const { reduced } = map;
  if (reduced === undefined) {
    const declared = "declare the reduction after the output dims: (d0, d1; r < 8)";
    if (first !== undefined) return fault(`${first.how} without a declared reduction`, declared);
    return formsOf(map).some((form) => dimsOf(form).includes(reductionDim(map)))
      ? fault("a coordinate uses r, and the map declares no reduction", declared)
      : [];
  }
  if (first === undefined)
    return fault("r without a reduction", "combine the reduction elements by fold, exact, mean, max or min");
  const { max } = reduced;
  const highest = maxReductionElements(first.how);
  if (Number.isInteger(max) && max >= 1 && max <= highest) return [];
  return [
    { rule: "B8", message: `${first.how} of ${max} reduction elements: the number must be 1 to ${highest}` },
  ];
}

/**
 * Returns the violations of rules B6 and A9 by the index values of an access map; an empty list for a map
 * without a reduction. B6: only the reduction uses index values that depend on its dim r. A9: these index
 * values come last.
 */
export function reductionIndexFaults(map: AccessMap): ReductionFault[] {
  if (map.reduced === undefined) return [];
  const depends = (form: Linear): boolean =>
    dimsOf(form).includes(reductionDim(map)) || indicesOf(form).some((s) => isInReduction(map, s));
  const { segment } = map.reduced;
  const ends = segment === undefined ? [] : [segment.from, segment.to];
  if (ends.some((s) => map.indices[s]?.extent === undefined))
    return [{ rule: "B6", message: "r runs between two index values that have bounds" }];
  if (ends.some((s) => isInReduction(map, s))) return [{ rule: "B6", message: "the bounds of r use r" }];
  const outside = new Set(readsIn(around(map.value)));
  const stray = [map.write, ...[...outside].map((k) => map.reads[k])].some((access) =>
    access?.at.some(depends),
  );
  if (stray)
    return [
      {
        rule: "B6",
        message: "r, or an index value that depends on r, is used outside the reduction",
        hint: "move what depends on r inside the reduction",
      },
    ];
  const early = map.indices.findIndex((_, s) => s > 0 && !isInReduction(map, s) && isInReduction(map, s - 1));
  return early === -1
    ? []
    : [
        {
          rule: "A9",
          message: `index value ${early} does not depend on r, and comes after an index value that does`,
        },
      ];
}

/** Returns a copy of an expression in which the number 0 replaces the reduction. */
function around(value: Expression): Expression {
  switch (value.kind) {
    case "read":
    case "number":
      return value;
    case "cast":
      return { ...value, of: around(value.of) };
    case "op":
      return { ...value, of: [around(value.of[0]), around(value.of[1])] };
    case "reduce":
      return { kind: "number", type: "u32", bits: 0 };
  }
}
