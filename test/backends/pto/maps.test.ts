/** Random access maps as PTO-ISA kernels on the judge: the oracle's bits, or its bad index, or a refusal by name. */
import { describe, expect, it } from "vitest";
import { programLowering } from "../../../ir/index.js";
import { targets, tryCompile } from "../../../src/index.js";
import { drawer } from "../../fuzz/mutate.js";
import { isForPto } from "../../support/case-kernel.js";
import { randomSchedule, trialOf, type MapTrial } from "../../support/map-trials.js";
import { canTell, cppCompiler, ptoJob, runPto, type PtoJob } from "../../support/pto.js";
import { randomMap } from "../../support/random-map.js";
import { randomPages } from "../../support/random-pages.js";
import { runs } from "../../support/runs.js";
import { diagnosticsOf } from "../../support/refusal.js";

const ascend = [targets.ascendA2, targets.ascendA3, targets.ascend950] as const;

describe("random access maps as PTO-ISA kernels", () => {
  it("give the oracle's bits, or tell of the bad index", { timeout: 300_000 }, async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const jobs: PtoJob[] = [];
    const made: { readonly text: string; readonly want: MapTrial["want"] }[] = [];
    const classes = new Map<string, number>();
    const refusals = new Set<string>();
    for (let seed = 0; seed < runs(600); seed++) {
      const draw = drawer(seed * 31 + 11);
      // Of random maps few have rows.
      const map = seed % 3 === 0 ? randomPages(draw) : randomMap(draw);
      const trial = map === undefined ? "refused" : trialOf(map);
      if (map === undefined || typeof trial === "string") continue;
      const { target: _, ...schedule } = randomSchedule(map, trial.keys, draw);
      const target = ascend[draw(3)]!;
      const options = { ...schedule, target, bind: map.sizes };
      // A few elements are cheapest one by one.
      const rows = (["row-copy", "row-fetch"] as const)
        .map((lowering) => tryCompile(trial.func, { ...options, lowering }))
        .find(({ ok }) => ok);
      const result = rows ?? tryCompile(trial.func, options);
      if (!result.ok) continue;
      const { tile } = result.kernel;
      try {
        jobs.push(
          ptoJob(
            result.kernel,
            `k${jobs.length}`,
            Object.values(trial.inputs).map((input) => input.bytes),
          ),
        );
      } catch (thrown) {
        const { code, message } = diagnosticsOf(thrown)[0]!;
        expect([code, message.includes("int64_t") || !isForPto(tile)]).toEqual(["TC505", true]);
        refusals.add(
          message.replace(/[^ ]*[0-9].* may leave/, "a form may leave").replace(/zeros, .*/, "zeros"),
        );
        continue;
      }
      made.push({ text: result.kernel.text("tile"), want: trial.want });
      const kind = programLowering(tile, target)?.class ?? "empty";
      classes.set(kind, (classes.get(kind) ?? 0) + 1);
    }
    expect(jobs.length).toBeGreaterThan(runs(150));
    for (const often of ["row-copy", "row-fetch", "scalar"])
      expect([often, (classes.get(often) ?? 0) >= runs(10)]).toEqual([often, true]);
    const wrong = (await runPto(jobs)).flatMap(({ fault, status, output }, k) => {
      const { text, want } = made[k]!;
      if (fault !== "") return [`${fault}\n${text}`];
      if ("point" in want) return status === canTell(jobs[k]!) ? [] : [`no bad index is told of\n${text}`];
      if (status) return [`a bad index is told of\n${text}`];
      return Buffer.compare(output, want.output) === 0 ? [] : [`other bits\n${text}`];
    });
    expect(wrong).toEqual([]);
    expect([...refusals].sort()).toEqual([
      "a form may leave the int64_t of a kernel",
      "a kernel for PTO-ISA has no form for an element outside with other bits than zeros",
    ]);
  });
});
