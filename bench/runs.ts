/** Several runs of one benchmark as one. */
import { spawnSync } from "node:child_process";
import { median } from "../src/tune/median.js";
import type { Row } from "./rows.js";

/**
 * Runs the benchmark `runs` times, each in a new process, and combines the rows. A combined row has the
 * median of the median times and the minimum of the least times, in milliseconds. Throws an Error if the runs
 * do not have the same set of rows; ends the process if a run prints nothing.
 */
export function rowsOfRuns(runs: number): Row[] {
  const all = Array.from({ length: runs }, (_, run) => {
    console.error(`run ${run + 1} of ${runs}`);
    const args = [...process.argv.slice(1), "--runs", "1", "--json"];
    const { status, stdout } = spawnSync(process.execPath, args, {
      stdio: ["ignore", "pipe", "inherit"],
      encoding: "utf8",
    });
    // It has said why; rows with a wrong output are rows.
    if (stdout === "") process.exit(status ?? 1);
    return (JSON.parse(stdout) as { readonly rows: readonly Row[] }).rows;
  });
  const [first = []] = all;
  return first.map((row, k) => {
    const same = all.map((rows) => {
      const other = rows[k];
      if (other?.workload !== row.workload || other.subject !== row.subject || other.threads !== row.threads)
        throw new Error(`the runs have other subjects at row ${k}`);
      return other;
    });
    return {
      ...row,
      medianMs: median(same.map(({ medianMs }) => medianMs)),
      leastMs: Math.min(...same.map(({ leastMs }) => leastMs)),
      verified: same.every(({ verified }) => verified),
    };
  });
}
