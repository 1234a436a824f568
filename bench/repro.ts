/**
 * npm run repro: the tables and pictures of the documentation, made again in repro/. `deterministic/` has the
 * same bytes from run to run on any machine; `measured/` has times of this one, and pictures of its browser,
 * whose pixels are those of its fonts. `--only deterministic` leaves the measurements out, `--quick` the
 * tables that take minutes.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, platform, totalmem } from "node:os";
import { join } from "node:path";
import { clockVersion } from "../ir/index.js";
import { packageFile, version } from "../src/device/package-files.js";
import { parseFlags } from "./flags.js";
import { tableNames, tableOf } from "./tables.js";

const flags = parseFlags("repro", "the tables and pictures of the documentation, made again", {
  out: { type: "string", default: "repro", help: "folder of the results (default repro)" },
  only: { type: "string", help: "deterministic or measured: one of the two folders alone" },
  quick: { type: "boolean", default: false, help: "leave out the tables that take minutes" },
});
const seed = 1;
const cli = packageFile("dist/src/cli/main.js");
const list = (name: string): string => packageFile(`bench/lists/${name}`);

/**
 * A file, and the command that makes it: on its standard output, by a flag that names the file, or into a
 * folder that it is given.
 */
type Artifact = readonly [file: string, script: string, args: readonly string[], by?: "flag" | "folder"];

const printTables = packageFile("dist/bench/print-tables.js");
const heatMap = [
  ...["--op", "gather", "--data", "f32[300,200]", "--indices", "i32[64]", "--axis", "1"],
  ...["--target", "ascend-a2", "--budget", "60"],
];
/** Tables of the documentation, a file for each. */
const documented = (isMeasured: boolean): readonly Artifact[] =>
  tableNames.flatMap((name): readonly Artifact[] => {
    const { measured: times = false, slow = false } = tableOf(name);
    return times !== isMeasured || (slow && flags.quick)
      ? []
      : [[`${name}.md`, printTables, ["--only", name]]];
  });

const deterministic: readonly Artifact[] = [
  ...documented(false),
  ["validation.md", cli, ["validate", "--page"], "flag"],
  ["models.csv", cli, ["explain", "--list", list("models.jsonl")]],
  ["operators.csv", cli, ["explain", "--list", list("operators.jsonl")]],
  ["spatter.csv", cli, ["explain", "--spatter", list("spatter.json")]],
  [
    "tuned-operators.csv",
    cli,
    ["tune", "--list", list("operators.jsonl"), "--budget", "8", "--seed", String(seed)],
  ],
  ["bits.csv", cli, ["run", "--list", list("operators.jsonl"), "--seed", String(seed)]],
  ["targets.json", cli, ["targets", "--json"]],
  // The search of the README's picture.
  ["heat-map.svg", cli, ["tune", ...heatMap, "--svg"], "flag"],
];
const measured: readonly Artifact[] = [
  ...documented(true),
  ["sweep-cpu.txt", packageFile("dist/bench/sweep.js"), ["--count", "12"]],
  ["compile.txt", packageFile("dist/bench/compile.js"), []],
  ["playground.jpg", packageFile("dist/test/support/pictures.js"), [], "folder"],
];

/**
 * Runs the command that produces an artifact, and writes the artifact into the folder. Throws an Error if the
 * command fails.
 */
function make(folder: string, [file, script, args, by]: Artifact): void {
  const named = by === "flag" ? [join(folder, file), "--force"] : by === "folder" ? [folder] : [];
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args, ...named], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    env: { ...process.env, NO_COLOR: "1" },
  });
  if (status !== 0) throw new Error(`${file}: ${stderr}`);
  if (by === undefined) writeFileSync(join(folder, file), stdout);
}

const about = { tilec: version, clock: clockVersion, seed };
const [cpu] = cpus();
const parts = {
  deterministic: { artifacts: deterministic, about },
  measured: {
    artifacts: measured,
    about: {
      ...about,
      node: process.version,
      machine: {
        platform: platform(),
        arch: arch(),
        cpu: cpu?.model,
        cores: availableParallelism(),
        memory: totalmem(),
      },
      date: new Date().toISOString(),
    },
  },
};
for (const [name, part] of Object.entries(parts)) {
  if (flags.only !== undefined && flags.only !== name) continue;
  const folder = join(flags.out, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [k, artifact] of part.artifacts.entries()) {
    const begun = performance.now();
    make(folder, artifact);
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(`${k + 1}/${part.artifacts.length} ${join(folder, artifact[0])}, ${seconds} s`);
  }
  writeFileSync(join(folder, "about.json"), `${JSON.stringify(part.about, null, 2)}\n`);
}
