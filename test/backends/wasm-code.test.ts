import { describe, expect, it } from "vitest";
import { CodeBuilder } from "../../backends/wasm/code.js";
import { encodeModule } from "../../backends/wasm/encode.js";
import type { Instr } from "../../backends/wasm/instructions.js";

describe("locals", () => {
  it("have names of their own, whatever was asked for before", () => {
    const code = new CodeBuilder();
    for (const name of ["row", "row", "row.1", "row", "row.at", "row.1"]) code.local(name);
    const names = code.locals.map((local) => local.name);
    expect(names.slice(0, 2)).toEqual(["row", "row.1"]);
    expect(new Set(names).size).toBe(6);
  });
});

/** What a function of this body gives. */
function run(body: readonly Instr[]): number {
  const bytes = encodeModule({
    name: "run",
    params: [{ name: "from", type: "i32" }],
    result: "i32",
    locals: [
      { name: "from", type: "i32" },
      { name: "wide", type: "i64" },
      { name: "a", type: "i32" },
      { name: "b", type: "i32" },
    ],
    body,
    memory: { pages: 1, shared: false },
  });
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  return (exports["run"] as (from: number) => number)(0);
}

describe("encoded constants", () => {
  const ends = [7, 14, 21, 28].flatMap((bits) => [
    2 ** (bits - 1) - 1,
    2 ** (bits - 1),
    2 ** bits - 1,
    2 ** bits,
  ]);
  const values = [0, ...ends.flatMap((value) => [value, -value, -value - 1]), 2 ** 31 - 1, -(2 ** 31)];

  it("of 32 bits are themselves at each length of their encoding", () => {
    for (const value of values) expect(run([{ op: "i32.const", args: [value] }])).toBe(value);
  });

  it("of 64 bits are themselves, beyond 32 bits too", () => {
    for (const value of [...values, 2 ** 40 + 5, -(2 ** 52), 2 ** 52 - 1]) {
      const high = BigInt.asIntN(32, BigInt(value) >> 20n);
      const shifted: Instr[] = [
        { op: "i64.const", args: [BigInt(value)] },
        { op: "i64.const", args: [20n] },
        { op: "i64.shr_s", args: [] },
        { op: "i32.wrap_i64", args: [] },
      ];
      expect(run(shifted)).toBe(Number(high));
    }
  });
});
