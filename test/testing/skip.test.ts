/** What a test is told where WebGPU is missing: after its other assertions, as node:test's context takes it. */
import { expect, it, vi } from "vitest";
import { compile, gatherElements } from "../../src/index.js";
import { assertThat } from "../../src/testing/index.js";

vi.mock("../../src/testing/device.js", async (original) => ({
  ...(await original<object>()),
  testDevice: () =>
    Promise.resolve({ ok: false, problem: { code: "TC503", severity: "error", message: "no device here" } }),
}));

const kernel = compile(gatherElements({ data: ["f32", [8, 4]], indices: ["i32", [8, 4]], axis: 0 }));

it.each([
  [true, ["webgpu: no device here"]],
  [false, []],
])("is skipped when it is over, unless it failed: passed %s", async (passed, expected) => {
  const told: string[] = [];
  const hooks: (() => void)[] = [];
  const context = {
    passed,
    skip: (reason: string): void => {
      told.push(reason);
    },
    after: (run: () => void): void => {
      hooks.push(run);
    },
  };
  await assertThat(kernel, context).toMatchReference({ backends: ["webgpu", "sim"] });
  expect(told).toEqual([]);
  for (const run of hooks) run();
  expect(told).toEqual(expected);
});

it("is told at once by a context without hooks", async () => {
  const told: string[] = [];
  const skip = (reason: string): void => {
    told.push(reason);
  };
  await assertThat(kernel, { skip }).toMatchReference({ backends: ["webgpu"] });
  expect(told).toEqual(["webgpu: no device here"]);
});
