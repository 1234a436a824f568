/** Tensors of a scatter of the oracle. */
import type { HostInputs } from "../../backends/index.js";
import type { AccessFunc } from "../../ir/index.js";
import { toHost } from "../../src/index.js";
import type { OracleScatter } from "../oracle/scatter.js";

/** Bytes of an element of a type of the oracle. */
export const bytesOfElement = (type: string): number =>
  type === "bool" ? 1 : Number(/\d+/.exec(type)![0]) / 8;

/** Returns elements as they lie in memory. */
export function bytesOf(elements: readonly bigint[], size: number): Uint8Array {
  const bytes = new Uint8Array(elements.length * size);
  elements.forEach((bits, k) => {
    for (let byte = 0; byte < size; byte++)
      bytes[k * size + byte] = Number((bits >> BigInt(8 * byte)) & 0xffn);
  });
  return bytes;
}

/** Returns fresh tensors for a run: one in place writes in its own. */
export function hostInputs(scatter: OracleScatter, func: AccessFunc): HostInputs {
  const size = bytesOfElement(scatter.type);
  const given = new Map<string, Uint8Array>([
    ["u", bytesOf(scatter.update.bits, size)],
    ...(typeof scatter.base === "bigint" ? [] : [["x", bytesOf(scatter.base, size)] as const]),
    ...scatter.indices.map(
      ({ table: { name, dtype, values } }) =>
        [
          name,
          bytesOf(
            values.map((value) => BigInt.asUintN(64, value)),
            dtype === "i32" ? 4 : 8,
          ),
        ] as const,
    ),
  ]);
  return Object.fromEntries(
    func.operands.flatMap(({ name, type }) => {
      const bytes = given.get(name);
      return bytes === undefined ? [] : [[name, toHost(name, type, bytes)]];
    }),
  );
}
