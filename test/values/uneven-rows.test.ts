/**
 * Rows of 4- and 2-bit elements of any length. ONNX packs the elements of the whole tensor, the first in the low bits, so that a row
 * which does not fill its bytes ends inside the byte in which the next one begins.
 */
import { describe, expect, it } from "vitest";
import { referenceOfMap } from "../../backends/reference/index.js";
import { countTraffic } from "../../backends/sim/count.js";
import { simulateChecked } from "../../backends/sim/index.js";
import { summarize } from "../../backends/sim/summary.js";
import { inputsOf, keyOf, targets, Tiling, type AccessFunc, type ResolvedSchedule } from "../../ir/index.js";
import { compile, run, tryCompile } from "../../src/index.js";
import { asHost } from "../../src/formats/tensor.js";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import { matching } from "../../src/cli/matching.js";
import { fastOutput } from "../support/fast.js";
import { runnerOr } from "../support/gpu.js";
import { parsedAccess } from "../support/parsed.js";

type Packed = "u4" | "i4" | "u2" | "i2";
const types: readonly Packed[] = ["u4", "i4", "u2", "i2"];
const lengths = Array.from({ length: 17 }, (_, k) => k + 1);

/** An element of a tensor by its number, from what ONNX says of bits and of two's complement alone. */
function element(bytes: Uint8Array, type: Packed, k: number): number {
  const bits = Number(type[1]);
  let value = 0;
  for (let b = 0; b < bits; b++) {
    const bit = k * bits + b;
    value += ((bytes[Math.floor(bit / 8)]! >> (bit % 8)) & 1) * 2 ** b;
  }
  return type.startsWith("i") && value >= 2 ** (bits - 1) ? value - 2 ** bits : value;
}

const rows = 6;
const indices = Int32Array.from([5, 0, 3, 3, 1, 4, 2]);

/** A table in blocks of three elements, each with a scale and a zero point, the zero points of another packed type. */
function quantized(length: number, type: Packed) {
  const zeroType = types[(types.indexOf(type) + length) % 4]!;
  const blocks = Math.ceil(length / 3);
  const bytesOf = (own: Packed, elements: number): Uint8Array =>
    Uint8Array.from({ length: Math.ceil((rows * elements * Number(own[1])) / 8) }, (_, k) => 89 * k + 27);
  const [q, z] = [bytesOf(type, length), bytesOf(zeroType, blocks)];
  const s = Float32Array.from({ length: rows * blocks }, (_, k) => (k + 1) / 3);
  const text = `func @f(%q: tensor<${rows}x${length}x${type}>, %z: tensor<${rows}x${blocks}x${zeroType}>, %s: tensor<${rows}x${blocks}xf32>, %i: tensor<${indices.length}xi32>) -> tensor<${indices.length}x${length}xf32> {
  %y = access.gather %q, %z, %s, %i (d0, d1) let t = error(%i[d0] in ${rows}) yield f32(i32(%q[t, d1]) - i32(%z[t, d1 div 3])) * %s[t, d1 div 3] {oob = error}
  return %y
}
`;
  const output = new Float32Array(indices.length * length);
  indices.forEach((t, row) => {
    for (let c = 0; c < length; c++) {
      const block = t * blocks + Math.floor(c / 3);
      const number = element(q, type, t * length + c) - element(z, zeroType, block);
      output[row * length + c] = number * s[block]!;
    }
  });
  const func = parsedAccess(text);
  return { func, given: { q, z, s, i: indices }, output };
}

/** The bytes as they lie, by the program's keys. */
const hostsOf = (func: AccessFunc, given: Readonly<Record<string, ArrayBufferView>>) =>
  Object.fromEntries(
    inputsOf(func).map((operand) => {
      const { buffer, byteOffset, byteLength } = given[operand.name]!;
      return [keyOf(operand), { type: operand.type, bytes: new Uint8Array(buffer, byteOffset, byteLength) }];
    }),
  );

const numbers = (bytes: Uint8Array): Float32Array => new Float32Array(bytes.slice().buffer);

const places = [
  { target: targets.ascendA2, residency: "ub" },
  { target: targets.ascendA2, residency: "gm" },
  { target: targets.cpu, residency: "ub" },
] as const;

describe("rows of packed elements", () => {
  it.each(types)(
    "of %s and any length are read as ONNX packs them, by every executor, in every residency and tile, and counted alike",
    (type) => {
      for (const length of lengths) {
        const { func, given, output } = quantized(length, type);
        const inputs = hostsOf(func, given);
        expect(numbers(referenceOfMap(func.map, func.operands, inputs))).toEqual(output);
        for (const [k, { target, residency }] of places.entries()) {
          const tile = [1 + ((length + k) % 7), Math.max(1, length - 1 - k)];
          for (const schedule of [{ residency }, { residency, tile }]) {
            const built = tryCompile(func, { target, ...schedule });
            if (!built.ok) {
              // A row of whole bytes, and a tile that begins inside one of them.
              expect(built.diagnostics.map(({ code }) => code)).toEqual(["TC304"]);
              expect((length * Number(type[1])) % 8).toBe(0);
              continue;
            }
            const { tile: program } = built.kernel;
            const what = `${length} of ${type} on ${target.name}, ${residency}, tile ${String(program.schedule.tile)}`;
            const checked = simulateChecked(program, inputs, target);
            expect(numbers(checked.output), what).toEqual(output);
            expect(numbers(fastOutput(built.kernel, inputs)), what).toEqual(output);
            const counts = countTraffic(program, inputs, target);
            const how = { executor: "checked", copiedBytes: 0 } as const;
            expect(summarize(program, target, inputs, counts, how), what).toEqual(checked.report);
            const { traffic } = new Tiling(func, program.schedule as ResolvedSchedule, target);
            for (const { operand, bytes, compulsory } of traffic.operands) {
              const ran = checked.report.operands[operand]!;
              expect([operand, compulsory], what).toEqual([operand, ran.compulsory]);
              // Scales and zero points that are looked up in place are counted at their most.
              const atMost = (operand === "s" || operand === "z") && k > 0;
              if (atMost) expect(bytes, what).toBeGreaterThanOrEqual(ran.bytes);
              else expect([operand, bytes], what).toEqual([operand, ran.bytes]);
            }
          }
        }
      }
    },
  );

  for (const type of types)
    it(`of ${type} and any length are read so by kernels on WebGPU`, async (context) => {
      const runner = await runnerOr(context);
      for (const length of lengths) {
        const { func, given, output } = quantized(length, type);
        const residency = length % 2 === 0 ? "gm" : "ub";
        const kernel = compile(func, { target: targets.webgpu, residency });
        const { outputs } = await run(kernel, given, { backend: "webgpu", runner });
        expect(outputs.output, `${length} of ${type}, ${residency}`).toEqual(output);
      }
    });

  it("are passed and saved packed, or as one number each", async () => {
    for (const type of types)
      for (const length of lengths) {
        const { func, given, output } = quantized(length, type);
        const kernel = compile(func, { target: targets.cpu });
        const own = inputsOf(func)[0]!.type;
        const each = Array.from({ length: rows * length }, (_, k) => element(given.q, type, k));
        const list = type.startsWith("i") ? Int8Array.from(each) : Uint8Array.from(each);
        for (const q of [given.q, list]) {
          const { outputs } = await run(kernel, { ...given, q });
          expect(outputs.output).toEqual(output);
        }
        const saved = readNpy(writeNpy({ type: own, bytes: given.q }), "q.npy");
        const again = asHost("q", matching(saved, own, "q", "q.npy"));
        // What lies behind the last element is of no tensor.
        const { outputs } = await run(kernel, { ...given, q: again.bytes });
        expect(outputs.output).toEqual(output);
      }
  });
});
