/** Two builds' times as a table, with a verdict for each row and one for all. */
import { table } from "../src/report/table.js";
import { slowerAbove, type Comparison, type Verdict } from "./ratios.js";
import { geometricMean } from "./statistics.js";

const limit = `${((slowerAbove - 1) * 100).toFixed(0)} %`;

const verdictText: Readonly<Record<Verdict, string>> = {
  slower: `slower by more than ${limit}`,
  undecided: "undecided",
  "not slower": "",
};

/**
 * Returns a one-line summary of a comparison of two tilec builds. It lists the rows that are slower,
 * undecided or wrong, and has the geometric mean of the ratios (time of the current build divided by time of
 * the second build).
 */
export function summaryOf(rows: readonly Comparison[]): string {
  const named = (chosen: readonly Comparison[]): string =>
    chosen.length === 0 ? "none" : `${chosen.length} (${chosen.map(({ name }) => name).join(", ")})`;
  const having = (verdict: Verdict) => rows.filter((row) => row.verdict === verdict);
  const mean = geometricMean(rows.map(({ ratio }) => ratio.median));
  const wrong = rows.filter(({ verified }) => verified === false);
  return [
    `of ${rows.length} rows slower by more than ${limit}: ${named(having("slower"))}`,
    `undecided: ${named(having("undecided"))}`,
    `geometric mean of the ratios: ${mean.toFixed(3)}`,
    ...(wrong.length === 0 ? [] : [`WRONG output: ${named(wrong)}`]),
  ].join("; ");
}

/**
 * Prints the comparison of two tilec builds as a table, or as JSON if `json` is true. Sets exit code 1 if an
 * output is wrong or a row is slower, else 0. `against` is the name of the second build.
 */
export function reportComparison(rows: readonly Comparison[], against: string, json: boolean): void {
  if (json) console.log(JSON.stringify({ schema: 1, against, rows }, null, 2));
  else {
    console.log(
      table(
        ["", "this ms", "other ms", "this / other", "spread", "runs", ""],
        rows.map(({ name, ms, ratio, runs, verdict, verified }) => [
          name,
          ms[0].toFixed(3),
          ms[1].toFixed(3),
          ratio.median.toFixed(3),
          `${ratio.low.toFixed(3)} to ${ratio.high.toFixed(3)}`,
          runs,
          verified === false ? "WRONG output" : verdictText[verdict],
        ]),
      ),
    );
    console.log(summaryOf(rows));
  }
  process.exitCode = rows.some(({ verified, verdict }) => verified === false || verdict === "slower") ? 1 : 0;
}
