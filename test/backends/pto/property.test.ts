/** Random gathers under random schedules on the judge: the oracle's bits, or its bad index, or a refusal by name. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CompileError, programLowering } from "../../../ir/index.js";
import { ascendGather, objectionsTo, trialOf, type Trial } from "../../support/pto-trials.js";
import { canTell, cppCompiler } from "../../support/pto.js";

const seed = 20_261;
const mostOfOne = 50;

describe("random programs as PTO-ISA kernels", () => {
  it("give the oracle's bits, or tell of the bad index", { timeout: 300_000 }, async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const trials: Trial[] = [];
    const classes = new Map<string, number>();
    const refusals = new Set<string>();
    for (const scheduled of fc.sample(ascendGather, { numRuns: 2400, seed })) {
      const trial = trialOf(scheduled, `k${trials.length}`);
      if (trial instanceof CompileError) {
        for (const { code, message } of trial.diagnostics) if (code === "TC505") refusals.add(message);
        continue;
      }
      const { tile, target } = trial.kernel;
      const lowering = programLowering(tile, target);
      const kind = canTell(trial.job) ? (lowering?.class ?? "empty") : "empty";
      const count = classes.get(kind) ?? 0;
      if (count === mostOfOne) continue;
      classes.set(kind, count + 1);
      trials.push(trial);
    }
    for (const often of ["flat", "row-copy", "mgather", "row-fetch", "scalar", "empty"])
      expect([often, (classes.get(often) ?? 0) >= 15]).toEqual([often, true]);
    expect([...refusals]).toEqual(["strings do not exist in PTO-ISA, and %data holds them"]);
    const wrong = (await objectionsTo(trials)).flatMap((objection, k) =>
      objection === "" ? [] : [`${objection}\n${trials[k]!.kernel.text("tile")}`],
    );
    expect(wrong).toEqual([]);
  });
});
