/** The fast executor on kernels of open sizes: one module, a memory of each size, and the bits of each size's own program. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FastExecutor, simulateBytes, watOf } from "../../backends/sim/index.js";
import { dynamicFormOf, targets } from "../../ir/index.js";
import { compile } from "../../src/index.js";
import { gm, inputsFor, openPrograms, openRows, outcomeOf } from "../support/open-programs.js";
import { spawnThread as spawn } from "../../src/device/index.js";
import { parsed } from "../support/parsed.js";

let made = 0;
const { Module } = WebAssembly;

beforeEach(() => {
  made = 0;
  WebAssembly.Module = class extends Module {
    constructor(bytes: BufferSource) {
      super(bytes);
      made++;
    }
  };
});
afterEach(() => {
  WebAssembly.Module = Module;
});

describe("a kernel of open sizes on the fast executor", () => {
  it.for(openPrograms)("is one module, with the bits of each size's own: $name", async (open) => {
    const program = parsed(open.text);
    const options = { target: targets.cpu, ...open.options };
    const kernel = compile(program, options);
    const expected: unknown[] = [];
    for (const bind of open.sizes) {
      const alone = compile(program, { ...options, tile: kernel.tile.schedule.tile!, bind });
      expected.push(await outcomeOf(() => simulateBytes(alone, inputsFor(alone)).output));
    }
    expect(made).toBe(0);
    const bounds = open.sizes.map((bind) => kernel.bind(bind));
    const got: unknown[] = [];
    for (const bound of bounds)
      got.push(await outcomeOf(() => FastExecutor.create(bound.tile).run(inputsFor(bound)).output.slice()));
    expect(got).toEqual(expected);
    const alone = bounds.filter(({ tile }) => dynamicFormOf(tile) === undefined);
    expect(made).toBe(1 + alone.length);
    const texts = new Set(bounds.filter((bound) => !alone.includes(bound)).map(({ tile }) => watOf(tile)));
    expect(texts.size).toBe(1);
    expect([...texts][0]).toMatch(/\(param \$N i32\)/);
  });

  it("takes the memory of each size", () => {
    const kernel = compile(parsed(openRows("f32", 8).replace("N <= 48", "N <= 1000000")), {
      target: targets.cpu,
      ...gm,
    });
    const bytes = (N: number): number => FastExecutor.create(kernel.bind({ V: 40, N }).tile).memoryBytes;
    expect([bytes(5), bytes(1_000_000)]).toEqual([2 ** 16, 36_044_800]);
    expect(made).toBe(1);
  });

  it("cuts the long tasks of large sizes, and leaves small ones whole", () => {
    const kernel = compile(parsed(openRows("u8", 1, "clamp").replace("N <= 48", "N <= 4000000")), {
      target: targets.cpu,
      ...gm,
      tile: [4_000_000, 1],
    });
    for (const N of [4_000_000, 1_048_577, 3]) {
      const data = Uint8Array.from({ length: 40 }, (_, k) => k);
      const indices = Int32Array.from({ length: N }, (_, k) => k % 41);
      const { tile } = kernel.bind({ V: 40, N });
      const { output } = FastExecutor.create(tile).run({
        data: { type: tile.operands[0]!.type, bytes: data },
        indices: { type: tile.operands[1]!.type, bytes: new Uint8Array(indices.buffer) },
      });
      expect(output.every((value, k) => value === Math.min(39, k % 41))).toBe(true);
    }
    expect(made).toBe(1);
    expect(watOf(kernel.bind({ V: 1, N: 1 }).tile)).toContain("for %s0 = 0 to min(4000000, N) step 1048576");
  });

  it("runs on several threads, which are told the sizes", async () => {
    const kernel = compile(parsed(openRows("f32", 8)), { target: targets.cpu, ...gm, tile: [5, 8] });
    for (const bind of [
      { V: 13, N: 37 },
      { V: 40, N: 48 },
    ]) {
      const bound = kernel.bind(bind);
      const inputs = inputsFor(bound);
      const executor = await FastExecutor.open(bound.tile, { threads: 3, spawn });
      const { output } = await executor.runLong(inputs);
      expect([...output]).toEqual([...simulateBytes(bound, inputs).output]);
      await executor.close();
    }
    expect(made).toBe(1);
  });

  it("names the first bad index of each size", () => {
    const kernel = compile(parsed(openRows("f32", 8)), { target: targets.cpu, ...gm });
    for (const V of [5, 40]) {
      const bound = kernel.bind({ V, N: 3 });
      const inputs = inputsFor(bound);
      const indices = { ...inputs.indices, bytes: new Uint8Array(Int32Array.of(0, V, -V - 1).buffer) };
      const run = (): unknown => FastExecutor.create(bound.tile).run({ ...inputs, indices });
      expect(run).toThrow(
        `index ${V} at indices[1] is out of range for dim 0 of data, which takes [-${V}, ${V - 1}]`,
      );
    }
  });
});
