/** Kernels whose cores begin at tasks apart: the oracle's bits, on the judge. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { ascendGather, objectionsTo, trialOf, type Trial } from "../../support/pto-trials.js";
import { cppCompiler } from "../../support/pto.js";
import { CompileError } from "../../../ir/index.js";

it("give the oracle's bits, or tell of the bad index, whichever task a core begins at", async (context) => {
  if (cppCompiler() === undefined) return context.skip();
  const trials: Trial[] = [];
  for (const { schedule, ...rest } of fc.sample(ascendGather, { numRuns: 80, seed: 4 })) {
    const rotated = { ...rest, schedule: { ...schedule, cores: 3, rotate: "on" as const } };
    const trial = trialOf(rotated, `k${trials.length}`);
    if (!(trial instanceof CompileError)) trials.push(trial);
  }
  const many = trials.filter(({ kernel }) => kernel.pto().code.includes("(run + get_block_idx()) % own"));
  expect(many.length).toBeGreaterThan(25);
  expect(await objectionsTo(many)).toEqual(many.map(() => ""));
});
