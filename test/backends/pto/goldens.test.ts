/** PTO-ISA C++ to read in review: one file a way of gathering. `vitest -u` writes them anew. */
import { describe, expect, it } from "vitest";
import { cyclesOf } from "../../../ir/index.js";
import { compile, pypto, targets } from "../../../src/index.js";
import { exampleKernels } from "../../support/pto-kernels.js";

describe.each(Object.entries(exampleKernels))("%s", (name, example) => {
  const kernel = compile(example.func, { ...example.schedule, profile: "head", target: targets.ascendA2 });
  const { code, ubPeak, buffers } = kernel.pto();

  it("is as reviewed", async () => {
    expect(cyclesOf(kernel.tile, kernel.target).lowering?.class).toBe(example.class);
    await expect(code).toMatchFileSnapshot(`goldens/${name}.cpp`);
  });

  it("takes the bytes that the footprint counts, with what the lowering adds", () => {
    const { parts, bytes } = kernel.footprint!;
    const added = parts
      .filter(({ use }) => use === "added")
      .map(({ part, bytes }) => ({ name: part, bytes }));
    expect(added).toEqual(cyclesOf(kernel.tile, kernel.target).lowering?.adds);
    expect(ubPeak).toBe(bytes);
    expect(buffers.reduce((sum, buffer) => sum + buffer.bytes * buffer.addresses.length, 0)).toBe(bytes);
  });
});

it("rows through a table of pages are as reviewed", async () => {
  const func = pypto.gatherInUb({
    param: ["f16", [100, 20]],
    indices: ["i32", [1, 30]],
    blockTable: ["i32", [1, 6]],
    blockSize: 16,
    axis: -2,
  });
  const schedule = { tile: [8, 16], buffers: 2, cores: 2, residency: "gm" } as const;
  const { code } = compile(func, { ...schedule, target: targets.ascendA2 }).pto();
  await expect(code).toMatchFileSnapshot("goldens/paged-rows.cpp");
});
