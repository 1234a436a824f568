/**
 * The main job from end to end, step by step: a program from a file is explained for an Ascend core, run on every backend with inputs
 * from .npy files, compared bit for bit, and searched for a faster schedule.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { createRunner } from "tilec/webgpu";
import { acquireGpu } from "tilec/node";
import { asHost, readNpy } from "tilec/formats";
import {
  compile,
  explain,
  firstDifference,
  parseModule,
  renderDiagnostic,
  runOn,
  tune,
  type BackendName,
} from "tilec";
import { printSchedule, withCommas } from "tilec/ir";
import { renderSummary, tunePage } from "tilec/report";

const root = new URL("examples/", import.meta.resolve("tilec/package.json"));
const path = (name: string): string => fileURLToPath(new URL(name, root));

let steps = 0;
/** Prints the number and title of a step, and what it shows. */
function step(title: string, shows: string): void {
  steps++;
  console.log(`${steps === 1 ? "" : "\n"}${steps}. ${title}\n   ${shows}\n`);
}

step(
  "The program",
  "examples/sort-columns.tir sorts each column of a table by a ranking, in tiles of whole columns.",
);
const file = path("sort-columns.tir");
const text = readFileSync(file, "utf8");
console.log(text.trimEnd());
const { module, diagnostics } = parseModule(text, file);
const [program] = module.funcs;
if (program === undefined) throw new Error(diagnostics.map((d) => d.message).join("\n"));

step(
  "Is its tile legal, and what does it cost?",
  "The verdict for an Ascend core, before anything is lowered.",
);
const explanation = explain(program);
console.log(renderSummary(explanation));
for (const diagnostic of explanation.diagnostics) console.log(renderDiagnostic(diagnostic));

step("Do all backends give the same bits?", "The inputs are examples/data/weather.npy and order.npy.");
const kernel = compile(program);
const read = (name: string) => readNpy(new Uint8Array(readFileSync(path(`data/${name}.npy`))), `${name}.npy`);
const inputs = { data: asHost("data", read("weather")), indices: asHost("indices", read("order")) };

const device = await acquireGpu();
const runner = device.ok ? await createRunner(device.gpu.device) : undefined;
const backends: BackendName[] = ["reference", "sim", ...(runner === undefined ? [] : (["webgpu"] as const))];
const runs = [];
for (const backend of backends) runs.push({ backend, ...(await runOn(backend, kernel, inputs, { runner })) });

for (const { backend, output } of runs) {
  const values = new Float32Array(output.buffer, output.byteOffset, output.byteLength / 4);
  const sorted = values.every((value, k) => k < 4 || (values[k - 4] ?? 0) <= value);
  console.log(
    `${backend.padEnd(13)}${withCommas(output.byteLength)} B, every column ${sorted ? "ascends" : "DOES NOT ascend"}`,
  );
}
const [first, ...rest] = runs;
const differences = first === undefined ? [] : rest.flatMap((other) => firstDifference(first, other) ?? []);
console.log(
  differences.length === 0
    ? `${backends.join(" = ")}, bit for bit`
    : differences.map((d) => d.message).join("\n"),
);
if (differences.length > 0) process.exitCode = 1;
if (device.ok && runner !== undefined) {
  const { tile } = kernel.forTarget(runner.target).tile.schedule;
  console.log(`webgpu ran on ${device.gpu.description}, with tile [${String(tile)}] that the device allows`);
  device.gpu.device.destroy();
} else if (!device.ok) {
  console.log(`webgpu did not run: ${device.problem.message}`);
}

step("What did it move?", "The simulator counts every byte between global memory and the unified buffer.");
const report = runs.find((run) => run.report !== undefined)?.report;
if (report !== undefined) {
  for (const [operand, { bytes }] of Object.entries(report.operands))
    console.log(`${operand.padEnd(13)}${withCommas(bytes)} B`);
  console.log(
    `${"total".padEnd(13)}${report.reloadFactor.toFixed(3)} times the least that any schedule moves`,
  );
  console.log(`${"UB peak".padEnd(13)}${withCommas(report.ubPeak)} B of ${withCommas(report.ubBudget)} B`);
}

step(
  "Is there a faster schedule?",
  "A search under the strict full-load rule, and one under head, which is the rule of PyPTO's code today.",
);
console.log(`the program's own: ${withCommas(explanation.cycles)} cycles`);
const searches = [];
for (const profile of ["strict", "head"] as const) {
  const search = await tune({ ...program, schedule: { profile } });
  searches.push(search);
  console.log(`rule ${profile}: ${search.verdict}`);
  for (const name of ["default", "best"] as const) {
    const { schedule, cycles, idleCores } = search[name];
    console.log(`  ${name.padEnd(7)} ${withCommas(cycles)} cycles, ${idleCores} idle cores`);
    console.log(`          ${printSchedule(schedule)}`);
  }
}
const fastest = searches.reduce((a, b) => (b.best.cycles < a.best.cycles ? b : a));
const page = fileURLToPath(new URL("sort-columns.html", import.meta.url));
writeFileSync(page, tunePage(fastest));
console.log(`the whole search as a page: ${page}`);

const shown = relative(process.cwd(), file);
console.log(`
Try next
  npx tilec explain ${shown}                 every rule, the unified buffer and the traffic
  npx tilec explain ${shown} --tile 1000,4   a tile that splits the gather dim: refused
  npx tilec compile ${shown} --emit wgsl     the WebGPU kernel`);
