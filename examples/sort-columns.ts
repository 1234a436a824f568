/**
 * The main job from end to end: a program from a file, its inputs from .npy files, compiled for an Ascend core under
 * the strict full-load rule, explained, run on every backend and compared bit for bit; then the best schedule that a search
 * finds for it, and the page that shows the search.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createRunner } from "../backends/webgpu/index.js";
import { acquireGpu } from "../src/device/index.js";
import { asHost, readNpy } from "../src/formats/index.js";
import {
  compile,
  explain,
  firstDifference,
  parseModule,
  renderDiagnostic,
  runOn,
  tune,
  type BackendName,
} from "../src/index.js";
import { printSchedule } from "../ir/index.js";
import { renderExplanation, tunePage } from "../src/report/index.js";

const root = new URL("../../examples/", import.meta.url);
const path = (name: string): string => fileURLToPath(new URL(name, root));

const file = path("sort-columns.tir");
const { module, diagnostics } = parseModule(readFileSync(file, "utf8"), file);
const [program] = module.funcs;
if (program === undefined) throw new Error(diagnostics.map((d) => d.message).join("\n"));

const explanation = explain(program);
console.log(renderExplanation(explanation));
for (const diagnostic of explanation.diagnostics) console.log(renderDiagnostic(diagnostic));

const kernel = compile(program);
const read = (name: string) => readNpy(new Uint8Array(readFileSync(path(`data/${name}.npy`))), `${name}.npy`);
const inputs = { data: asHost("data", read("weather")), indices: asHost("indices", read("order")) };

const found = await acquireGpu();
const runner = found.ok ? await createRunner(found.gpu.device) : undefined;
const backends: BackendName[] = ["reference", "sim", ...(runner === undefined ? [] : (["webgpu"] as const))];
const runs = [];
for (const backend of backends) runs.push({ backend, ...(await runOn(backend, kernel, inputs, { runner })) });

console.log("\nruns");
for (const { backend, output } of runs) {
  const values = new Float32Array(output.buffer, output.byteOffset, output.byteLength / 4);
  const sorted = values.every((value, k) => k < 4 || (values[k - 4] ?? 0) <= value);
  console.log(
    `  ${backend.padEnd(10)} ${output.byteLength} B, every column ${sorted ? "ascends" : "DOES NOT ascend"}`,
  );
}
const [first, ...rest] = runs;
const differences = first === undefined ? [] : rest.flatMap((other) => firstDifference(first, other) ?? []);
console.log(
  differences.length === 0
    ? `  ${backends.join(" = ")}, bit for bit`
    : differences.map((d) => d.message).join("\n"),
);

const report = runs.find((run) => run.report !== undefined)?.report;
if (report !== undefined) {
  const moved = Object.entries(report.operands).map(([operand, { bytes }]) => `${operand} ${bytes} B`);
  console.log(`  moved: ${moved.join(", ")}`);
  console.log(`  compulsory ${report.compulsoryBytes} B, reload factor ${report.reloadFactor.toFixed(3)}`);
  console.log(`  unified buffer peak ${report.ubPeak} B of ${report.ubBudget} B`);
}
if (found.ok && runner !== undefined) {
  const again = kernel.forTarget(runner.target);
  console.log(
    `  webgpu ran on ${found.gpu.description}, compiled again for it with tile [${String(again.tile.schedule.tile)}]`,
  );
  found.gpu.device.destroy();
} else if (!found.ok) {
  console.log(`  webgpu did not run: ${found.problem.message}`);
}
if (differences.length > 0) process.exitCode = 1;

// The program states its tile and the strict rule. A search takes the tile back, under that rule and under the laxer one.
console.log(`\nschedules\n  the program's own: ${explanation.cycles} cycles`);
const searches = [];
for (const profile of ["strict", "head"] as const) {
  const search = await tune({ ...program, schedule: { profile } });
  searches.push(search);
  console.log(`  rule ${profile}: ${search.verdict}`);
  for (const name of ["default", "best"] as const) {
    const { schedule, cycles, idleCores } = search[name];
    console.log(
      `    ${name.padEnd(7)} ${cycles} cycles, ${idleCores} idle cores: ${printSchedule(schedule)}`,
    );
  }
}
const fastest = searches.reduce((a, b) => (b.best.cycles < a.best.cycles ? b : a));
const page = fileURLToPath(new URL("sort-columns.html", import.meta.url));
writeFileSync(page, tunePage(fastest));
console.log(`  what was searched under rule ${fastest.best.schedule.profile}: ${page}`);
