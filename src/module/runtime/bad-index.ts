/** Which index value of an output element is out of range. */
import { coordinates, describeBadIndex } from "../../../backends/memory.js";
import type { Operand } from "../../../ir/func.js";
import { elementCount } from "../../../ir/types.js";
import { GatherError } from "./gather-error.js";
import type { Sized, SizedOperand } from "./host.js";
import type { ModulePlan, ModuleIndex } from "./plan.js";

/** The value at a position of an input. */
export type ReadIndex = (operand: SizedOperand, table: number, position: number) => Promise<bigint> | bigint;

/** Of an index value: it names an element, names none, or is out of range. */
type Ended = "element" | "none" | "bad";

/**
 * TC601 for the first value that a policy rejects in output elements from `from` to `end`; undefined where
 * none does. `points`: the extents that they are counted in.
 */
export async function badIndexIn(
  plan: ModulePlan,
  sized: Sized,
  [from, end]: readonly [number, number],
  read: ReadIndex,
  points: readonly number[] = sized.output.extents,
): Promise<GatherError | undefined> {
  for (let element = from; element < Math.min(end, elementCount(points)); element++) {
    const bad = await badIndexOf(plan, sized, coordinates(element, points), read);
    if (bad !== undefined) return bad;
  }
  return undefined;
}

/** TC601 where only the output element is known. */
export const badElement = ({ output }: Sized, element: number): GatherError => {
  const point = coordinates(element, output.extents);
  return new GatherError("TC601", `an index for output element [${point.join(", ")}] is out of range`, {
    point,
  });
};

async function badIndexOf(
  { sites, reduced }: ModulePlan,
  { numbers, operands }: Sized,
  point: readonly number[],
  read: ReadIndex,
): Promise<GatherError | undefined> {
  const values: bigint[] = [];
  let error: GatherError | undefined;
  /** One value after the other, to the first that ends the element or the term. */
  const walk = async (inReduction: boolean, d: readonly bigint[]): Promise<Ended> => {
    for (const [s, index] of sites.entries()) {
      if ((index.ofTerm === true) !== inReduction) continue;
      const place = index.at(d, values, numbers);
      const table = operands[index.table];
      const value = table === undefined ? place : await read(table, index.table, Number(place));
      const extent = index.below?.(numbers) ?? 0;
      const wrapNegativeBy = index.fromEnd?.(numbers);
      const [ended, resolved] = resolve(index, value, extent, wrapNegativeBy);
      values[s] = resolved;
      const elements = index.from === undefined ? 0n : resolved - (values[index.from] ?? 0n);
      const max = reduced?.most ?? 0;
      const overflows = ended === "element" && elements > max;
      if (ended === "bad" || overflows) {
        const { axis, picks } = index;
        const segment = { from: Number(resolved - elements), elements: Number(elements), max };
        const { message, data } = describeBadIndex({
          at: {
            index: s,
            axis,
            picks,
            rule: { extent, ...(wrapNegativeBy === undefined ? {} : { wrapNegativeBy }) },
            point,
            ...(table === undefined ? {} : { read: { table: asOperand(table), position: Number(place) } }),
            ...(inReduction ? { r: Number(d[point.length]) } : {}),
          },
          value,
          ...(overflows ? { segment } : {}),
        });
        error = new GatherError("TC601", message, data);
        return "bad";
      }
      if (ended === "none") return ended;
    }
    return "element";
  };
  const output = point.map(BigInt);
  if ((await walk(false, output)) !== "element" || reduced === undefined) return error;
  const { bag, most } = reduced;
  const [first, last] =
    bag === undefined ? [0n, BigInt(most)] : [values[bag.from] ?? 0n, values[bag.to] ?? 0n];
  for (let r = first; r < last; r++) if ((await walk(true, [...output, r])) === "bad") break;
  return error;
}

/** The element that a value names. */
function resolve(
  { outside, but }: ModuleIndex,
  value: bigint,
  bound: number,
  wrapNegativeBy = 0,
): readonly [Ended, bigint] {
  const counted = value < 0n ? value + BigInt(wrapNegativeBy) : value;
  const extent = BigInt(bound);
  if (outside === undefined) return ["element", counted];
  if (counted >= 0n && counted < extent)
    return [but !== undefined && counted === BigInt(but) ? "none" : "element", counted];
  if (outside === "report" || outside === "promised") return ["bad", counted];
  if (outside === "none" || bound === 0) return ["none", counted];
  const named =
    outside === "nearest" ? (counted < 0n ? 0n : extent - 1n) : ((counted % extent) + extent) % extent;
  return [but !== undefined && named === BigInt(but) ? "none" : "element", named];
}

const asOperand = ({ key, extents }: SizedOperand): Operand => ({
  name: key,
  key,
  role: "indices",
  type: { dtype: "i32", shape: extents },
});

/** The index value that begins at a byte. */
export function valueIn({ array, bits }: SizedOperand, bytes: Uint8Array, byte: number): bigint {
  const ArrayType = (globalThis as unknown as Readonly<Record<string, Int32ArrayConstructor>>)[array];
  const element = bytes.slice(byte, byte + bits / 8).buffer;
  return BigInt(new (ArrayType as Int32ArrayConstructor)(element)[0] ?? 0);
}

/** Reads index values of the host. */
export const readingBytes =
  (bytes: readonly Uint8Array[]): ReadIndex =>
  (operand, table, position) =>
    valueIn(operand, bytes[table] ?? new Uint8Array(), (position * operand.bits) / 8);
