/**
 * npm run bench:shapes: five gathers of serving large models, paged, permuted and ragged: which residencies
 * are legal on ascend-a2, what the default takes there, and how long the fast executor takes on this machine.
 */
import { simulateBytes } from "../backends/sim/index.js";
import {
  formatEntry,
  residencyChoices,
  parseModule,
  targets,
  type AccessFunc,
  type Residencies,
} from "../ir/index.js";
import { accessOf } from "../src/api/access.js";
import { definedOutput } from "../src/api/against.js";
import { compile, explain, legalTiles } from "../src/index.js";
import { randomInputs } from "../src/testing/random.js";
import { median } from "../src/tune/median.js";
import type { Rows } from "./markdown-table.js";

const target = targets.ascendA2;

const func = (operands: string, output: string, map: string): string => {
  const names = [...operands.matchAll(/%\w+/g)].map(([name]) => name).join(", ");
  return `func @f(${operands}) -> tensor<${output}> {\n  %y = access.gather ${names} ${map} {oob = error}\n  return %y\n}\n`;
};

/**
 * Returns the program that reads 4096 tokens of a sequence through a page table: rows of 128 f16 values from
 * a cache of 65,536 rows.
 */
const decode = (page: number): string =>
  func(
    `%kv: tensor<65536x128xf16>, %topk: tensor<4096xi32>, %bt: tensor<${65536 / page}xi32>`,
    "4096x128xf16",
    `(d0, d1) let t = wrap(%topk[d0] in 65536) -> (clamp(${page} * %bt[t div ${page}] + t mod ${page} in 65536), d1)`,
  );

const shapes: readonly (readonly [name: string, text: string])[] = [
  ["paged decode, page 16", decode(16)],
  ["paged decode, page 64", decode(64)],
  ["paged decode, page 128", decode(128)],
  [
    // -1 is a zero row.
    "MoE permutation with padding",
    func(
      "%x: tensor<4096x512xf16>, %token: tensor<8192xi32>, %slot: tensor<9216xi32>",
      "9216x512xf16",
      "(d0, d1) let s = fill(%slot[d0] in 8192) -> (wrap(%token[s] in 4096), d1)",
    ),
  ],
  [
    "ragged prefill",
    func(
      "%kv: tensor<1024x16x128xf16>, %bt: tensor<32x64xi32>, %seq: tensor<4096xi32>, %cu: tensor<33xi32>, %st: tensor<32xi32>",
      "4096x128xf16",
      "(d0, d1) let s = wrap(%seq[d0] in 32) let t = clamp(%st[s] + d0 - %cu[s] in 1024) -> (wrap(%bt[s, t div 16] in 1024), t mod 16, d1)",
    ),
  ],
];

/**
 * Parses a program and returns the first function as a gather with an access map (source of each data
 * coordinate). Throws an Error if the text has no function or the function has no access map.
 */
function gatherOf(name: string, text: string): AccessFunc {
  const { module, diagnostics } = parseModule(text, name);
  const [first] = module.funcs;
  const gather = first === undefined ? undefined : accessOf(first, { target });
  if (gather === undefined)
    throw new Error(`${name}: ${diagnostics.map(({ message }) => message).join("; ")}`);
  return gather;
}

/**
 * Measures a kernel on the fast executor (WebAssembly) and returns the median time of five runs, in
 * milliseconds. Throws an Error if the output is not bit-identical to the output defined by the access map of
 * `gather`.
 */
function milliseconds(kernel: ReturnType<typeof compile>, gather: AccessFunc): number {
  const inputs = randomInputs(kernel, 1);
  const run = () => simulateBytes(kernel, inputs, { executor: "fast" }).output;
  const wanted = definedOutput(gather, kernel.tile, inputs);
  if (Buffer.compare(run(), wanted) !== 0) throw new Error("other bits than the definition's");
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return median(times);
}

/** Calls for each gather and residency, with its label: that of `auto` is bold. */
const rowsOf = (
  make: (
    name: string,
    label: string,
    gather: AccessFunc,
    residency: Residencies,
  ) => readonly (string | number)[],
): Rows =>
  shapes.flatMap(([name, text]) => {
    const gather = gatherOf(name, text);
    const auto = formatEntry(explain(gather, { target, residency: "auto" }).schedule.residency);
    return residencyChoices(gather, target, ["ub", "gm"]).map((residency) => {
      const shown = formatEntry(residency);
      return make(name, shown === auto ? `**${shown}**` : shown, gather, residency);
    });
  });

/**
 * Computes the documentation table of five gathers on `ascend-a2`: number of legal tiles, and default tile
 * with bytes and estimated cycles. There is one row for each gather and residency (memory in which an operand
 * is kept). Without a legal tile, the tile and the cycles are empty.
 */
export const shapesTable = (): Rows => [
  ["gather", "residency", "legal tiles", "default tile", "UB (B)", "moved (B)", "cycles"],
  ...rowsOf((name, label, gather, residency) => {
    const { count, possible } = legalTiles(gather, { target, residency });
    const legal = `${count === undefined ? "many" : count} of ${possible}`;
    const { legal: holds, footprint, schedule, traffic, cycles } = explain(gather, { target, residency });
    if (!holds) return [name, label, legal, "", `over: ${footprint.bytes}`, "", ""];
    const tile = `[${schedule.tile.join(", ")}]`;
    return [name, label, legal, tile, footprint.planned, traffic.bytes, cycles];
  }),
];

/**
 * Measures the fast executor (WebAssembly) on five gathers. Returns a table of milliseconds with a row for
 * each gather and residency (memory in which an operand is kept). A cell is empty if no tile is legal.
 */
export const shapesTimesTable = (): Rows => [
  ["gather", "residency", "ms"],
  ...rowsOf((name, label, gather, residency) => {
    const { legal } = explain(gather, { target, residency });
    const ms = legal ? milliseconds(compile(gather, { target, residency }), gather).toFixed(2) : "";
    return [name, label, ms];
  }),
];
