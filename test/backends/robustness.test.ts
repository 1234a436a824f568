/** Every case on WebGPU without the implementation's own bounds checks, and on the limits that every device has. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defaultLimits } from "../../backends/webgpu/index.js";
import { byteCount } from "../../ir/index.js";
import { readCases } from "../../src/formats/cases.js";
import { checkCase } from "../../src/testing/check-case.js";
import { runnerOr } from "../support/gpu.js";

describe("kernels rely on no help of the implementation", () => {
  const folder = new URL("../conformance/cases/", import.meta.url);

  it.for(readdirSync(folder))("%s passes with robustness off", async (name, context) => {
    const runner = await runnerOr(context, { toggles: ["disable_robustness"] });
    const cases = readCases(readFileSync(new URL(name, folder), "utf8"), name);
    for (const test of cases.filter(({ inputs }) =>
      Object.values(inputs).every(({ type }) => byteCount(type) < 100_000),
    )) {
      const [result] = await checkCase(test, ["webgpu"], { runner });
      expect(result).toMatchObject({ id: test.id, status: "pass" });
    }
  });

  it("runs on the limits that every device has", async (context) => {
    const runner = await runnerOr(context, { limits: "default" });
    expect(runner.limits.maxStorageBufferBindingSize).toBe(defaultLimits.maxStorageBufferBindingSize);
    for (const test of readCases(readFileSync(new URL("seed.json", folder), "utf8"), "seed.json")) {
      const [result] = await checkCase(test, ["webgpu"], { runner });
      expect(result).toMatchObject({ id: test.id, status: "pass" });
    }
  });
});
