/**
 * Programs of the shared cases whose operands, buffers, loop variables, symbols and functions have the names of what generated code is
 * made of. NAME_TRIALS=2000 tries so many, of the texts of all cases, on a device each; NAME_SEED=7 draws others.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { packageFile } from "../../src/device/package-files.js";
import { drawer } from "../fuzz/mutate.js";
import { testRunner } from "../support/gpu.js";
import { corpus, emittedTexts, judgeNames, NamePool, type NameOutcome } from "../support/name-trials.js";
import { cppCompiler, runPto } from "../support/pto.js";

const asked = process.env["NAME_TRIALS"];
const trials = asked === undefined ? 60 : Number(asked);

/** Kernels and programs as they are reviewed: every form of them, and what they run on. */
const reviewed = [
  "test/backends/goldens",
  "test/backends/pto/goldens",
  "test/backends/pypto/goldens",
  "test/pto/shim/pto",
]
  .flatMap((folder) => readdirSync(packageFile(folder)).map((file) => `${folder}/${file}`))
  .map((file) => readFileSync(packageFile(file), "utf8"));

describe("names that meet words of generated code", () => {
  it("leave the bits as they are on every backend", { timeout: 7_200_000 }, async () => {
    const runner = await testRunner();
    const draw = drawer(Number(process.env["NAME_SEED"] ?? 29));
    const lexed = corpus.filter((_, k) => asked !== undefined || k % 12 === 0);
    const pool = new NamePool([...reviewed, ...lexed.flatMap(emittedTexts)], draw);
    const outcomes: NameOutcome[] = [];
    for (let k = 0; k < trials; k++) {
      const program = corpus[draw(corpus.length)]!;
      outcomes.push(
        await judgeNames(program, pool, draw, asked !== undefined || k % 4 === 0 ? runner : undefined),
      );
    }
    expect(outcomes.filter(({ outcome }) => outcome !== "refused").length).toBeGreaterThan(0.8 * trials);
    const jobs = outcomes.flatMap(({ job }) => job ?? []);
    expect(jobs.length).toBeGreaterThan(0.2 * trials);
    if (cppCompiler() === undefined) return;
    for (let first = 0; first < jobs.length; first += 200) {
      const some = jobs.slice(first, first + 200);
      // Kernels of one unit differ in their names.
      const points = some.map(({ kernel }) => kernel.entryPoint);
      const unit = some.filter((_, k) => points.indexOf(points[k]!) === k);
      const found = await runPto(unit);
      const wrong = found.flatMap(({ fault, status, output }, k) => {
        const { want, text } = unit[k]!;
        const gave = status ? "an index out of range" : Buffer.from(output).toString("hex");
        // An empty output launches no kernel: the host looks its indices up.
        const told = status || output.length === 0;
        if (fault !== "" || (want.startsWith("[") ? !told : gave !== want))
          return [`${fault} ${gave}, not ${want}\n${text}`];
        return [];
      });
      expect(wrong).toEqual([]);
    }
    const [all, used] = pool.counts;
    console.info(`${trials} programs, ${jobs.length} of them for PTO-ISA, under ${used} of ${all} words`);
  });
});
