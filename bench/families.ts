/**
 * npm run bench:families: what a table of at most six ranges costs over the sizes of a program with an open symbol, in cycles of
 * ascend-a2, beside the best schedule of each size and the one that `bind` takes without a table.
 *
 * Three families: rows of an embedding by N indices, N rows of elements, the pages of N sequences in a decoder. The sizes that the
 * table was asked for, then `--between` random ones (50 unless given), each with a search of its own.
 */
import { parseArgs } from "node:util";
import { bindSizes, CompileError, cyclesOf, parseModule, type Func } from "../ir/index.js";
import { lcg } from "../src/formats/lcg.js";
import { compile, targets, type Kernel } from "../src/index.js";
import { table } from "../src/report/table.js";
import { tableRecord, taskHash, taskOf, taskRecord, tune, tuneSizes } from "../src/tune/index.js";

const { values } = parseArgs({ options: { between: { type: "string", default: "50" } } });
const target = targets.ascendA2;
const budget = 50;

interface Family {
  readonly name: string;
  readonly text: string;
  readonly sizes: readonly number[];
}

const doublings = (from: number, to: number): readonly number[] =>
  from >= to ? [to] : [from, ...doublings(2 * from, to)];

const families: readonly Family[] = [
  {
    name: "embedding rows f32[50257,768] by N",
    text: `dim N <= 4096
func @embedding(%e: tensor<50257x768xf32>, %i: tensor<Nxi32>) -> tensor<Nx768xf32> schedule {residency = gm} {
  %y = access.gather %e, %i (d0, d1) -> (from_end(%i[d0]), d1) {oob = error}
  return %y
}
`,
    sizes: [1, 4, 16, 48, ...doublings(64, 4096)],
  },
  {
    name: "gather_elements f32[1024,1024] by [N,1024]",
    text: `dim N <= 4096
func @elements(%x: tensor<1024x1024xf32>, %i: tensor<Nx1024xi32>) -> tensor<Nx1024xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0, d1], d1) {oob = error}
  return %y
}
`,
    sizes: [1, 4, 16, ...doublings(64, 4096)],
  },
  {
    name: "paged decode f16[2048,16,8,128] by [N,32] pages",
    text: `dim N <= 64
func @pages(%cache: tensor<2048x16x8x128xf16>, %pages: tensor<Nx32xi32>) -> tensor<Nx32x16x8x128xf16> schedule {residency = gm} {
  %y = access.gather %cache, %pages (d0, d1, d2, d3, d4) -> (%pages[d0, d1], d2, d3, d4) {oob = error}
  return %y
}
`,
    sizes: doublings(1, 64),
  },
];

function boundTo(func: Func, N: number): Func {
  const bound = bindSizes(func, { N });
  if (!bound.ok) throw new CompileError(bound.diagnostics);
  return bound.func;
}

const cyclesAt = (kernel: Kernel, N: number): number => cyclesOf(kernel.bind({ N }).tile, target).cycles;

for (const { name, text, sizes } of families) {
  const [func] = parseModule(text, name).module.funcs;
  if (func === undefined) throw new Error(`${name} is no program`);
  const most = Math.max(...sizes);
  const found = await tuneSizes(func, { target, sizes: { N: sizes }, budget });
  const task = taskOf(func, { target });
  const records = [taskRecord(task, 1, "0"), tableRecord(taskHash(task), found)];
  const [withTable, without] = [compile(func, { target, records }), compile(func, { target })];
  const rowOf = (size: number, best: number) => {
    const [own, plain] = [cyclesAt(withTable, size), cyclesAt(without, size)];
    return { size, best, own, plain };
  };
  const rows = found.sizes.map(({ size, best }) => rowOf(size, best.cycles));
  console.log(`\n${name}, ${found.pieces.length} ranges`);
  console.log(
    table(
      ["N", "best", "table", "x", "without", "x"],
      rows.map(({ size, best, own, plain }) => [
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
  while (between.size < Math.min(Number(values.between), most - sizes.length)) {
    const size = Math.round(most ** draw());
    if (!sizes.includes(size)) between.add(size);
  }
  const others: ReturnType<typeof rowOf>[] = [];
  for (const size of between) {
    const searched = await tune(boundTo(func, size), { target, budget });
    others.push(rowOf(size, searched.best.cycles));
  }
  const spread = (key: "own" | "plain"): string => {
    const ratios = others.map((row) => row[key] / row.best);
    const mean = Math.exp(ratios.reduce((sum, r) => sum + Math.log(r), 0) / ratios.length);
    const worst = others.reduce((a, b) => (b[key] / b.best > a[key] / a.best ? b : a));
    return `at worst ${ratio(worst[key], worst.best)} (N = ${worst.size}), ${mean.toFixed(3)} in the mean`;
  };
  console.log(`${others.length} random sizes between: table ${spread("own")}; without ${spread("plain")}`);
}

function ratio(cycles: number, best: number): string {
  return (cycles / best).toFixed(3);
}
