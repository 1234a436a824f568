/** Steps that WebGPU computes otherwise than by integers of 64 bits: every source type beside f32, f16 and bf16, ends and specials too. */
import { describe, expect, it } from "vitest";
import { inputsOf, targets, type AccessFunc } from "../../ir/index.js";
import { compile } from "../../src/index.js";
import {
  bitsOf,
  float8Types,
  packedTypes,
  types,
  widthOf,
  type Node,
  type Stored,
} from "../oracle/values.js";
import { runnerOr } from "../support/gpu.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { parsedAccess } from "../support/parsed.js";

const [rows, columns] = [16, 32];

/** Packed elements of a tensor: bits drawn evenly, and one time in four those of an end, a zero, an infinity or NaN. */
function elements(type: Stored, draw: Draw): bigint[] {
  const width = widthOf(type);
  const all = (1n << BigInt(width)) - 1n;
  const fraction = type === "f32" ? 23n : type === "f16" ? 10n : type === "bf16" ? 7n : 2n;
  const ends = [
    0n,
    1n,
    all,
    all >> 1n,
    (all >> 1n) + 1n,
    (all >> (fraction + 1n)) << fraction,
    1n << fraction,
  ];
  return Array.from({ length: rows * columns }, () => {
    const bits = BigInt(draw(2 ** 16)) | (BigInt(draw(2 ** 16)) << 16n);
    return draw(4) === 0 ? ends[draw(ends.length)]! & all : bits & all;
  });
}

/** The bytes of elements, the first in the lowest bits. */
function bytesOf(type: Stored, bits: readonly bigint[]): Uint8Array {
  const width = widthOf(type);
  const bytes = new Uint8Array((bits.length * width) / 8);
  bits.forEach((own, k) => {
    for (let bit = 0; bit < width; bit++) {
      const place = k * width + bit;
      if ((own >> BigInt(bit)) & 1n) bytes[place >> 3]! |= 1 << (place & 7);
    }
  });
  return bytes;
}

interface Case {
  readonly source: Stored;
  readonly other: "f32" | "f16" | "bf16";
  readonly op: "add" | "sub" | "mul";
  readonly output: "f32" | "f16" | "bf16" | "i8" | "u16";
  /** Whether rows have one number of the other type, or one for each element. */
  readonly still: boolean;
}

const signs = { add: "+", sub: "-", mul: "*" } as const;

function programOf({ source, other, op, output, still }: Case): AccessFunc {
  const wide = (name: string, type: Stored, at: string): string =>
    type === "f32" ? `%${name}[${at}]` : `f32(%${name}[${at}])`;
  const value = `${wide("a", source, "t, d1")} ${signs[op]} ${wide("b", other, still ? "t, 5" : "t, d1")}`;
  const text = `func @f(%a: tensor<${rows}x${columns}x${source}>, %b: tensor<${rows}x${columns}x${other}>, %i: tensor<${rows}xi32>) -> tensor<${rows}x${columns}x${output}> {
  %y = access.gather %a, %b, %i (d0, d1) let t = error(%i[d0] in ${rows}) yield ${output === "f32" ? value : `${output}(${value})`} {oob = error}
  return %y
}
`;
  return parsedAccess(text);
}

const reads = (name: string, type: Stored): Node => ({ kind: "read", name, type });
const asF32 = (name: string, type: Stored): Node =>
  type === "f32" ? reads(name, type) : { kind: "cast", type: "f32", of: reads(name, type) };

function expected(
  { source, other, op, output, still }: Case,
  a: readonly bigint[],
  b: readonly bigint[],
): bigint[] {
  const step: Node = { kind: op, type: "f32", of: [asF32("a", source), asF32("b", other)] };
  const node: Node = output === "f32" ? step : { kind: "cast", type: output, of: step };
  return a.map((own, k) =>
    bitsOf(node, (name) => (name === "a" ? own : b[still ? k - (k % columns) + 5 : k]!)),
  );
}

const others = ["f32", "f16", "bf16"] as const;
const operations = ["add", "sub", "mul"] as const;
const outputs = ["f32", "f16", "bf16", "i8", "u16"] as const;

describe("a step on WebGPU", () => {
  it.for([...types, ...packedTypes, ...float8Types])(
    "has its bits for %s beside floats",
    async (source, context) => {
      const runner = await runnerOr(context);
      const draw = drawer(widthOf(source) * 31 + source.length);
      for (const [k, other] of others.entries()) {
        const op = operations[(k + draw(3)) % 3]!;
        const one: Case = { source, other, op, output: outputs[draw(outputs.length)]!, still: draw(2) === 0 };
        const [a, b] = [elements(source, draw), elements(other, draw)];
        const kernel = compile(programOf(one), { target: targets.webgpu });
        const tables = {
          a: bytesOf(source, a),
          b: bytesOf(other, b),
          i: new Uint8Array(Int32Array.from({ length: rows }, (_, row) => row).buffer),
        };
        const inputs = Object.fromEntries(
          inputsOf(kernel.tile).map(({ name, type }) => [
            name,
            { type, bytes: tables[name as "a" | "b" | "i"] },
          ]),
        );
        const found = await runner.runBytes(kernel, inputs);
        const wanted = bytesOf(one.output, expected(one, a, b));
        expect(Buffer.from(found).toString("hex"), JSON.stringify(one)).toBe(
          Buffer.from(wanted).toString("hex"),
        );
      }
    },
  );
});
