/** `tilec run --list`: one row for each program. */
import { defined, throwIfErrors, unbound } from "../../../ir/index.js";
import { nameOf, type BackendRun } from "../../api/backends.js";
import { entryKeys, type ScheduleFigures } from "../../report/figures.js";
import { defaultSeed } from "../../tune/options.js";
import { refuseWithList } from "../list/list-flags.js";
import { parseSeed } from "../options.js";
import { parseBackends, refuseWithoutSim } from "../parse-backends.js";
import { hasInputs } from "./inputs-for.js";
import type { RunFlags } from "./run-flags.js";
import { runProgram } from "./run-program.js";

/**
 * Runs every program of a list on the chosen backends and prints one row per program: agreement of the
 * outputs, cycles, tasks and bytes. Resolves to the exit code.
 */
export async function runRows(file: string | undefined, flags: RunFlags): Promise<number> {
  refuseWithList(flags, ["input", "out", "against", "trace", "compare"]);
  const backends = parseBackends(flags.backend, flags.project);
  refuseWithoutSim(backends, flags);
  const stated = flags.seed === undefined ? undefined : parseSeed(flags.seed);
  const { executor, threads } = flags;
  const names = backends.map(nameOf).join(" ");
  const { runList } = await import("../list/list.js");
  const { hashOfBytes } = await import("../../tune/content-hash.js");
  return runList(file, flags, {
    command: "run",
    columns: [
      "backends",
      "seed",
      ...entryKeys,
      "cycles",
      "tasks",
      "ub_bytes",
      "ub_budget",
      "moved_bytes",
      "moved_bursts",
      "bits",
    ],
    settings: { names, seed: stated, executor, threads },
    async row({ loaded, flags: rowFlags }) {
      throwIfErrors(unbound(loaded.func));
      const seed = stated ?? (hasInputs(loaded) ? undefined : defaultSeed);
      const rowOptions = {
        ...flags,
        ...rowFlags,
        json: true,
        ...defined({ seed: seed?.toString() }),
      };
      const result = await runProgram(loaded, rowOptions, { quiet: true });
      const { code, differences, report, kernel, output } = result;
      return {
        verdict: code !== 0 ? "different" : backends.length > 1 ? "same" : "ran",
        diagnostics: differences,
        figures: {
          schedule: kernel.tile.schedule,
          backends: names,
          ...defined({ seed, bits: output && hashOfBytes(output) }),
          ...(report && countedFigures(report)),
        },
      };
    },
  });
}

/**
 * Returns the cost of a simulated run: estimated cycles, tasks, peak and available unified buffer (UB) bytes,
 * and total bytes and bursts in global memory.
 */
function countedFigures(report: NonNullable<BackendRun["report"]>): ScheduleFigures {
  const { operands, timing, tasks, ubPeak, ubBudget } = report;
  const each = Object.values(operands);
  const sum = (key: "bytes" | "bursts"): number => each.reduce((total, counts) => total + counts[key], 0);
  return {
    cycles: timing.cycles,
    tasks,
    ubBytes: ubPeak,
    ubBudget,
    moved: { bytes: sum("bytes"), bursts: sum("bursts") },
  };
}
