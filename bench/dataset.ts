/**
 * npm run dataset: programs of bench/lists, schedules of each on ascend-a2, and what is known of them, as
 * JSON Lines in dataset/. The same bytes from run to run.
 */
import { writeFileSync } from "node:fs";
import { printFunc, clockVersion, targets, CompileError, type Func } from "../ir/index.js";
import { listEntries } from "../src/cli/list/entries.js";
import { noProject } from "../src/config/project.js";
import { packageFile } from "../src/device/package-files.js";
import { costKeys, entryKeys, figureCells, type ScheduleFigures } from "../src/report/figures.js";
import { tune } from "../src/tune/index.js";

const target = targets.ascendA2;
const budget = 12;
const keys = [...entryKeys, ...costKeys.filter((key) => key !== "clock")];
const line = (value: object): string => `${JSON.stringify(value)}\n`;

const programs: string[] = [];
const schedules: string[] = [];
const about = { target: target.name, clock: clockVersion };
const scheduleLine = (program: string, verdict: string, of: ScheduleFigures, more: object = {}): void => {
  schedules.push(line({ program, ...about, verdict, ...more, ...figureCells(keys, of) }));
};

/**
 * Compiles a program and adds the program to the data set, with legal and refused schedules on the target. A
 * program that does not compile gets one line with `refused`.
 */
async function add(id: string, func: Func): Promise<void> {
  programs.push(line({ program: id, text: printFunc(func) }));
  try {
    const { candidates, refused, default: own } = await tune(func, { target, budget, seed: 1 });
    for (const candidate of candidates)
      scheduleLine(id, "legal", candidate, candidate.id === own.id ? { default: true } : {});
    for (const tiles of refused.slice(0, budget)) {
      const { code, reason, ubBytes } = tiles;
      scheduleLine(id, "refused", { schedule: tiles, ubBytes }, { code, reason });
    }
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown;
    const [first] = thrown.diagnostics;
    scheduleLine(id, "refused", {}, { code: first?.code, reason: first?.message });
  }
}

for (const name of ["models", "operators"])
  for (const { id, load } of await listEntries(packageFile(`bench/lists/${name}.jsonl`), {
    project: noProject,
  }))
    await add(id, (await load()).loaded.func);
writeFileSync(packageFile("dataset/programs.jsonl"), programs.join(""));
writeFileSync(packageFile("dataset/schedules.jsonl"), schedules.join(""));
console.log(`${programs.length} programs, ${schedules.length} schedules, clock ${clockVersion}`);
