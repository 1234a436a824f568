/**
 * npm run bench:families: what a table of at most six ranges costs over the sizes of a program with an open
 * symbol, in cycles of ascend-a2, beside the best schedule of each size and the one that `bind` takes without
 * a table.
 *
 * Three families: rows of an embedding by N indices, N rows of elements, the pages of N sequences in a
 * decoder. The sizes that the table was asked for, then `--between` random ones (50 unless given), each with
 * a search of its own.
 */
import { lcg } from "../src/formats/lcg.js";
import { table } from "../src/report/table.js";
import { tune } from "../src/tune/index.js";
import { countOf, parseFlags } from "./flags.js";
import { boundTo, budget, families, target, tunedFamily, type SizeCosts } from "./families-table.js";
import { geometricMean } from "./statistics.js";

const flags = parseFlags(
  "bench:families",
  "a table of at most six ranges beside the best schedule of each size, in cycles",
  {
    between: { type: "string", default: "50", help: "random sizes between those of the table (default 50)" },
  },
);
const betweenCount = countOf("between", flags.between);

for (const family of families) {
  const { func, most, ranges, rows, costsAt } = await tunedFamily(family);
  const { name, sizes } = family;
  console.log(`\n${name}, ${ranges} ranges`);
  console.log(
    table(
      ["N", "best", "table", "x", "without", "x"],
      rows.map(({ size, best, table: own, plain }) => [
        size,
        best,
        own,
        ratio(own, best),
        plain,
        ratio(plain, best),
      ]),
    ),
  );
  const draw = lcg(32);
  const between = new Set<number>();
  // Of few sizes all.
  while (between.size < Math.min(betweenCount, most - sizes.length)) {
    const size = Math.round(most ** draw());
    if (!sizes.includes(size)) between.add(size);
  }
  const others: SizeCosts[] = [];
  for (const size of between) {
    const searched = await tune(boundTo(func, size), { target, budget });
    others.push(costsAt(size, searched.best.cycles));
  }
  const spread = (key: "table" | "plain"): string => {
    const ratios = others.map((row) => row[key] / row.best);
    const worst = others.reduce((a, b) => (b[key] / b.best > a[key] / a.best ? b : a));
    return `at worst ${ratio(worst[key], worst.best)} (N = ${worst.size}), ${geometricMean(ratios).toFixed(3)} in the mean`;
  };
  console.log(`${others.length} random sizes between: table ${spread("table")}; without ${spread("plain")}`);
}

function ratio(cycles: number, best: number): string {
  return (cycles / best).toFixed(3);
}
