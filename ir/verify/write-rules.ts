/**
 * The rules of what a scatter writes. W1 one coordinate per dim of the output, over the domain's dims and
 * index values. The base is the first input, of the output's type, or bits of one element. W2 an index value
 * that a written coordinate needs has a place or skips the point: it does not fill. Another one does not
 * skip. W3 duplicates stand beside `set`, or are unique; under unique there are no more points that cannot be
 * skipped than elements (its types are in value-rules.ts). W4 what is written in place is the base, and is
 * read by nothing.
 */
import {
  baseFill,
  isScatter,
  readsOf,
  writtenIndices,
  type AccessMap,
  type IndexOperand,
} from "../access.js";
import { defined } from "../defined.js";
import { inputsOf, outputOf, type Func } from "../func.js";
import { isBounded, mayBeNone } from "../policy.js";
import { bitsOf, elementCount, formatType, type TensorType } from "../types.js";
import type { BrokenCode } from "./broken.js";

interface WriteFault {
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
  readonly code?: BrokenCode;
}

/**
 * Returns the violations of rules W1 and W4 by a scatter; an empty list if there are none. W1: the written
 * coordinates match the output's rank, and the base matches the output's type. W4: an operand that is written
 * in place is the base, and the program does not read the operand otherwise.
 */
export function writeFaults(map: AccessMap, func: Func): WriteFault[] {
  const { write } = map;
  const [inputs, output] = [inputsOf(func), outputOf(func)];
  const fault = (rule: string, message: string, hint?: string): WriteFault[] => [
    { rule, message, ...defined({ hint }) },
  ];
  if (write.table !== inputs.length) return fault("W1", `input ${write.table} is written, not the output`);
  if (write.at.length !== output.type.shape.length)
    return fault(
      "W1",
      `${write.at.length} written coordinates for an output of rank ${output.type.shape.length}`,
    );
  const inPlace = inputs.findIndex(({ inout }) => inout === true);
  const others = inputs.filter(({ inout }) => inout === true).length > 1;
  const bits = baseFill(write);
  if (bits !== undefined) {
    if (inPlace !== -1)
      return fault("W4", "a tensor is written in place, and base = fill replaces it", "leave out base");
    return BigInt(bits) >> BigInt(bitsOf(output.type.dtype)) === 0n
      ? []
      : fault(
          "W1",
          `base bits ${bits} are more than the ${bitsOf(output.type.dtype)} of ${output.type.dtype}`,
        );
  }
  const [base] = inputs;
  if (base === undefined || formatType(base.type) !== formatType(output.type)) {
    const type = base === undefined ? "no operand" : `%${base.name}, ${formatType(base.type)}`;
    return fault(
      "W1",
      `the base is ${type}, and the output ${formatType(output.type)}`,
      "the base is the first operand, or base = fill 0",
    );
  }
  if (inPlace === -1) return [];
  if (inPlace !== 0 || others) return fault("W4", "only the base, the first operand, is inout");
  return readsOf(map, 0).length === 0
    ? []
    : fault("W4", `%${base.name} is written in place, and read by the value or an index`, "leave out inout");
}

/**
 * Returns the violations of rules W2 and W3 by an access map. W2: `zero` is a policy only for reads, and
 * `skip` only for writes. W3: `combine = set` states `duplicates` (the rule for points that write the same
 * element); any other combine states no `duplicates`, or `unique`.
 */
export function policyFaults(map: AccessMap): WriteFault[] {
  const written = isScatter(map) ? writtenIndices(map) : new Set<number>();
  const faults = map.indices.flatMap((operand, s): WriteFault[] => {
    const { outOfRange } = operand;
    if (outOfRange === "skip" && !written.has(s))
      return [
        {
          rule: "W2",
          message: `index value ${s} skips, and nothing is written by it`,
          hint: "fill, clamp, wrap or error say what is read in its place",
        },
      ];
    if (outOfRange === "zero" && written.has(s))
      return [
        {
          rule: "W2",
          message: `index value ${s} fills, and an element is written by it`,
          hint: "skip leaves the element as it is",
        },
      ];
    return [];
  });
  if (faults.length > 0 || !isScatter(map)) return faults;
  const { combine, duplicates } = map.write;
  if (combine !== "set" && duplicates !== undefined && duplicates !== "unique")
    return [
      {
        rule: "W3",
        message: `duplicates = ${duplicates} together with combine = ${combine}`,
        hint: "duplicates = unique, or none",
      },
    ];
  if (combine === "set" && duplicates === undefined)
    return [
      {
        rule: "W3",
        message: "duplicates applies to combine = set only: leave duplicates out, or write combine = set",
        hint: "duplicates = last",
      },
    ];
  return [];
}

/**
 * Returns the violations of rule W3 by the sizes of a scatter. `unique` needs at least as many output
 * elements as points, unless points may be skipped.
 */
export function uniqueFaults(map: AccessMap, output: TensorType): WriteFault[] {
  const [points, elements] = [elementCount(map.domain), elementCount(output.shape)];
  if (points <= elements || !promisesUnique(map)) return [];
  const message = `${points} points write ${elements} elements, and none is skipped: they are never unique`;
  return [{ rule: "W3", message, hint: "duplicates = last" }];
}

/** True if the points of a scatter are promised to write different elements, and none of them is skipped. */
export const promisesUnique = (map: AccessMap): boolean =>
  map.write.duplicates === "unique" && !maySkip(map.indices, writtenIndices(map));

/** True if some point may write nothing. */
const maySkip = (indices: readonly IndexOperand[], written: ReadonlySet<number>): boolean =>
  [...written].some((s) => {
    const operand = indices[s];
    return operand !== undefined && isBounded(operand) && mayBeNone(operand);
  });
