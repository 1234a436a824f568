/** The rows of a benchmark as tables. */
import { geometricMean } from "./statistics.js";
import { table } from "../src/report/table.js";
import type { Row } from "./rows.js";

/** Prints the rows, and fails the process when an output was wrong. */
export function report(rows: readonly Row[], json: boolean): void {
  if (json) console.log(JSON.stringify({ schema: 1, rows }, null, 2));
  else printRows(rows, "tilec");
  process.exitCode = rows.every((row) => row.verified) ? 0 : 1;
}

/** How many times faster `subject` is than each other one, by workload, at equal thread counts. */
function printRows(rows: readonly Row[], subject: string): void {
  const keys = [...new Set(rows.map((row) => `${row.subject} ${row.threads}`))];
  const names = [...new Set(rows.map((row) => row.workload))];
  const find = (name: string, key: string): Row | undefined =>
    rows.find((row) => row.workload === name && `${row.subject} ${row.threads}` === key);
  console.log("median ms");
  console.log(
    table(
      ["", ...keys],
      names.map((name) => [
        name,
        ...keys.map((key) => {
          const row = find(name, key);
          return row === undefined ? "-" : `${row.medianMs.toFixed(3)}${row.verified ? "" : " WRONG"}`;
        }),
      ]),
    ),
  );
  const others = keys.filter((key) => !key.startsWith(`${subject} `));
  const ratio = (name: string, key: string): number | undefined => {
    const other = find(name, key);
    const own = find(name, `${subject} ${key.split(" ")[1] ?? ""}`);
    return other === undefined || own === undefined ? undefined : other.medianMs / own.medianMs;
  };
  console.log(`${subject} is so many times faster, at the same thread count`);
  const means = others.map((key) =>
    geometricMean(names.flatMap((name) => ratio(name, key) ?? [])).toFixed(2),
  );
  console.log(
    table(
      ["", ...others],
      [
        ...names.map((name) => [name, ...others.map((key) => ratio(name, key)?.toFixed(2) ?? "-")]),
        ["geometric mean", ...means],
      ],
    ),
  );
  const inTurns = [...new Set(rows.map((row) => row.subject))].filter(
    (name) => keys.includes(`${name} 1`) && keys.includes(`${name} 2`),
  );
  if (inTurns.length === 0) return;
  const gain = (name: string, of: string): number =>
    (find(name, `${of} 1`)?.medianMs ?? NaN) / (find(name, `${of} 2`)?.medianMs ?? NaN);
  console.log("two threads are so many times faster than one");
  console.log(
    table(
      ["", ...inTurns],
      [
        ...names.map((name) => [name, ...inTurns.map((of) => gain(name, of).toFixed(2))]),
        [
          "geometric mean",
          ...inTurns.map((of) => geometricMean(names.map((name) => gain(name, of))).toFixed(2)),
        ],
      ],
    ),
  );
}
