/** tilec legal: counts and lists the legal tiles of a gather, or proves that there are none. */
import type { Command } from "commander";
import { formatShape, printSchedule } from "../../ir/index.js";
import { legalTiles } from "../api/legal-tiles.js";
import { table } from "../report/table.js";
import { loadProgram } from "./load.js";
import { addProgramOptions, lookUpTarget, resolveTarget, type ProgramFlags } from "./options.js";
import { progressBar } from "./progress.js";
import { note, print, printJson } from "./terminal.js";

interface LegalFlags extends ProgramFlags {
  readonly all?: boolean;
  readonly json?: boolean;
}

export function legalCommand(program: Command): void {
  addProgramOptions(program.command("legal"))
    .description("count and list the legal tiles; or prove that there are none")
    .option("--all", "list every tile of the grid, not only those that no other beats")
    .option("--json", "print one JSON document")
    .action((file: string | undefined, flags: LegalFlags) => {
      process.exitCode = legal(file, flags);
    });
}

function legal(file: string | undefined, flags: LegalFlags): number {
  const { func } = loadProgram(file, flags);
  if (flags.tile !== undefined) note(`legal looks at every tile; --tile ${flags.tile} counts as not given`);
  let bar: ReturnType<typeof progressBar> | undefined;
  const found = legalTiles(func, {
    ...(flags.target === undefined ? {} : { target: resolveTarget(flags.target) }),
    findTarget: lookUpTarget,
    onProgress(done, total) {
      bar ??= progressBar(total, "tiles");
      bar.step(String(done));
    },
  });
  bar?.stop();
  const tiles = flags.all === true ? found.tiles : found.tiles.filter((tile) => tile.pareto);
  if (flags.json === true) {
    printJson({ command: "legal", ...found, tiles, listed: tiles.length });
    return found.proof === undefined ? 0 : 1;
  }
  const count = found.count === undefined ? `at least ${found.tiles.length}` : String(found.count);
  print(
    `@${found.name} on ${found.target}: ${count} of ${found.possible} tiles are legal (${printSchedule(found.schedule)})`,
  );
  for (const { dim, padded, aligned } of found.largestGatherDims) {
    print(
      `gather dim ${dim}: the largest that fits is ${padded}, or ${aligned} with block-aligned tile rows`,
    );
  }
  if (found.proof !== undefined) print(`no tile is legal: ${found.proof}`);
  else {
    const rows = tiles.map((t) => [formatShape(t.tile), t.residency, t.bytes, t.traffic, t.tasks, t.cycles]);
    print(table(["tile", "residency", "UB bytes", "traffic", "tasks", "cycles"], rows));
  }
  return found.proof === undefined ? 0 : 1;
}
