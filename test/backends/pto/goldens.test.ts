/** PTO-ISA C++ to read in review: one file a way of gathering. `vitest -u` writes them anew. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cyclesOf } from "../../../ir/index.js";
import { compile, targets } from "../../../src/index.js";
import { columns, exampleKernels } from "../../support/pto-kernels.js";

describe.each(Object.entries(exampleKernels))("%s", (name, example) => {
  const kernel = compile(example.func, { ...example.schedule, profile: "head", target: targets.ascendA2 });
  const { code, ubPeak, buffers } = kernel.pto();

  it("is as reviewed", async () => {
    expect(cyclesOf(kernel.tile, kernel.target).lowering?.class).toBe(example.class);
    await expect(code).toMatchFileSnapshot(`goldens/${name}.cpp`);
  });

  it("takes the bytes that the footprint and the lowering count", () => {
    const added = cyclesOf(kernel.tile, kernel.target).lowering?.adds ?? [];
    const bytes = added.reduce((sum, part) => sum + part.bytes, kernel.footprint!.bytes);
    expect(ubPeak).toBe(bytes);
    expect(buffers.reduce((sum, buffer) => sum + buffer.bytes * buffer.addresses.length, 0)).toBe(bytes);
  });
});

/** Identifiers numbered in the order in which they are met, comments and white space gone. */
function withoutNames(code: string): string {
  const names = new Map<string, string>();
  return code
    .replace(/\/\/.*/g, "")
    .replace(/\b[a-z_]\w*\b/gi, (name) => {
      if (!names.has(name)) names.set(name, `x${names.size}`);
      return names.get(name)!;
    })
    .replace(/\s+/g, " ")
    .trim();
}

describe("the specification's example", () => {
  const specified = readFileSync(new URL("goldens/specification.txt", import.meta.url), "utf8");

  it("comes out as its text, names and comments aside", () => {
    const kernel = compile(columns, { tile: [300, 16], buffers: 2, cores: 2, target: targets.ascendA2 });
    expect(withoutNames(kernel.pto().code)).toBe(withoutNames(specified));
    expect(kernel.pto()).toMatchObject({ blocks: 2, ubPeak: 134528, entryPoint: "gather" });
  });

  it("would not with another name in one place", () => {
    const renamed = specified.replace(
      "TGATHER(tile2, tile0, tile1, tile1)",
      "TGATHER(tile2, tile0, tile1, tile0)",
    );
    expect(withoutNames(renamed)).not.toBe(withoutNames(specified));
  });
});
