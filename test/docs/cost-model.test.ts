/** The cost model beside what others published: docs/cost-model.md shows both, and the model lies within their spread. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { estimateTiming } from "../../backends/sim/index.js";
import { targets } from "../../ir/index.js";
import { compile, onnx, pypto } from "../../src/index.js";

const page = readFileSync(new URL("../../docs/cost-model.md", import.meta.url), "utf8").replaceAll(
  / +/g,
  " ",
);

/** Cycles of the load of a slab of so many bytes that lie together, on one core of ascend-a2. */
function loadCycles(bytes: number): number {
  const op = onnx.gather({ data: ["f32", [1, bytes / 4]], indices: ["i32", [1]], axis: 0 });
  const { tile, target } = compile(op, { target: targets.ascendA2, tile: [1, bytes / 4], cores: 1 });
  const load = estimateTiming(tile, target).events.find((event) => event.name === "load");
  expect(load?.bytes).toBe(bytes);
  return load!.cycles;
}

/** Cycles of the vector gather of one row of f32 by i32, on ascend-a2. */
function gatherCycles(elements: number): number {
  const op = pypto.gather({ input: ["f32", [4, elements]], index: ["i32", [1, elements]], dim: 0 });
  const { tile, target } = compile(op, {
    target: targets.ascendA2,
    tile: [4, elements],
    view: [4, elements],
    cores: 1,
  });
  const gather = estimateTiming(tile, target).events.find((event) => event.name === "gather");
  return gather!.cycles;
}

const clock = 1.85e9;
const gib = 2 ** 30;
/** Cycles of one transfer from global memory to UB, by source (features guide 3b), at 1850 MHz. */
const transfers: readonly { readonly source: string; readonly cycles: (bytes: number) => number }[] = [
  { source: "ISA manual, 128 B per cycle", cycles: (n) => n / 128 },
  { source: "arch_config flat, 100.9 GiB/s", cycles: (n) => (n / (100.9 * gib)) * clock },
  {
    source: "arch_config fit, 247.16 GiB/s x n/(30643 + n)",
    cycles: (n) => ((n + 30643) / (247.16 * gib)) * clock,
  },
  { source: "A2A3.ini, 32 B per cycle after an L2 miss of 200", cycles: (n) => 200 + n / 32 },
];

describe("the cost model beside published figures", () => {
  it.each([1024, 4096, 16384, 65536])("a transfer of %i B lies within their spread", (bytes) => {
    const model = loadCycles(bytes);
    const published = transfers.map(({ cycles }) => cycles(bytes));
    expect(model).toBeGreaterThanOrEqual(Math.min(...published));
    expect(model).toBeLessThanOrEqual(Math.max(...published));
    const row = [bytes, model, ...published.map(Math.round)].join(" | ");
    expect(page).toContain(`| ${row} |`);
  });

  it("a gather row in UB lies between the published call and the measured row", () => {
    // pto-isa cce_costmodel_vector_compute.hpp: about 26 cycles per call, about 46.6 per row measured on a 910B3.
    const model = gatherCycles(64);
    expect(model).toBeGreaterThanOrEqual(26);
    expect(model).toBeLessThanOrEqual(46.6);
    expect(page).toContain(`| 64 f32 in UB | ${model} | 26 | 46.6 |`);
  });

  it("never gives more bytes or more rows fewer cycles", () => {
    const sizes = [256, 1024, 1056, 4096, 8192, 65536];
    const cycles = sizes.map(loadCycles);
    expect([...cycles].sort((a, b) => a - b)).toEqual(cycles);
    const rows = [8, 64, 65, 128, 512].map(gatherCycles);
    expect([...rows].sort((a, b) => a - b)).toEqual(rows);
  });
});
