/** The rows of a benchmark as tables. */
import { geometricMean } from "./statistics.js";
import { table } from "../src/report/table.js";
import type { Row } from "./rows.js";

/**
 * Subjects that are compared with all others. They are the kernel on tensors in its memory, a call from the
 * caller's arrays, and calls of gathers that are not known.
 */
const own = ["tilec", "tilec-call", "tilec-cold", "tilec-new"];

/**
 * Prints benchmark rows as tables, or as JSON if `json` is true. Sets exit code 1 if an output is wrong, else
 * 0.
 */
export function report(rows: readonly Row[], json: boolean): void {
  if (json) console.log(JSON.stringify({ schema: 1, rows }, null, 2));
  else printRows(rows);
  process.exitCode = rows.every((row) => row.verified) ? 0 : 1;
}

/**
 * Prints benchmark rows as tables: median and least milliseconds, the speed of tilec relative to other
 * implementations, and the speed of two threads relative to one.
 */
function printRows(rows: readonly Row[]): void {
  const keys = [...new Set(rows.map((row) => `${row.subject} ${row.threads}`))];
  const names = [...new Set(rows.map((row) => row.workload))];
  const find = (name: string, key: string): Row | undefined =>
    rows.find((row) => row.workload === name && `${row.subject} ${row.threads}` === key);
  for (const [title, msOf] of [
    ["median ms", ({ medianMs }: Row) => medianMs],
    ["least ms", ({ leastMs }: Row) => leastMs],
  ] as const) {
    console.log(title);
    const cell = (row: Row | undefined): string =>
      row === undefined ? "-" : `${msOf(row).toFixed(3)}${row.verified ? "" : " WRONG"}`;
    console.log(
      table(
        ["", ...keys],
        names.map((name) => [name, ...keys.map((key) => cell(find(name, key)))]),
      ),
    );
  }
  for (const subject of own) {
    const measured = names.filter((name) => find(name, `${subject} 1`) !== undefined);
    const ratio = (name: string, key: string): number | undefined => {
      const other = find(name, key);
      const mine = find(name, `${subject} ${key.split(" ")[1] ?? ""}`);
      return other === undefined || mine === undefined ? undefined : other.medianMs / mine.medianMs;
    };
    const others = keys.filter(
      (key) =>
        !own.includes(key.split(" ")[0] ?? "") && measured.some((name) => ratio(name, key) !== undefined),
    );
    printRatios(`${subject} is so many times faster, at the same thread count`, measured, others, ratio);
  }
  const inTurns = [...new Set(rows.map((row) => row.subject))].filter(
    (name) => keys.includes(`${name} 1`) && keys.includes(`${name} 2`),
  );
  const gain = (name: string, of: string): number | undefined => {
    const [one, two] = [find(name, `${of} 1`), find(name, `${of} 2`)];
    return one === undefined || two === undefined ? undefined : one.medianMs / two.medianMs;
  };
  const threaded = names.filter((name) => inTurns.some((of) => gain(name, of) !== undefined));
  printRatios("two threads are so many times faster than one", threaded, inTurns, gain);
}

/**
 * Prints a table of ratios: one row for each workload in `names`, then the geometric mean and the least ratio
 * of each column. `ratio` returns the ratio of a workload in a column. Prints nothing if there are no
 * workloads or no columns.
 */
function printRatios(
  title: string,
  names: readonly string[],
  columns: readonly string[],
  ratio: (name: string, column: string) => number | undefined,
): void {
  if (names.length === 0 || columns.length === 0) return;
  const known = (column: string): number[] => names.flatMap((name) => ratio(name, column) ?? []);
  console.log(title);
  console.log(
    table(
      ["", ...columns],
      [
        ...names.map((name) => [name, ...columns.map((column) => ratio(name, column)?.toFixed(2) ?? "-")]),
        ["geometric mean", ...columns.map((column) => geometricMean(known(column)).toFixed(2))],
        ["least", ...columns.map((column) => Math.min(...known(column)).toFixed(2))],
      ],
    ),
  );
}
