/** tilec legal: counts and lists the legal tiles of a gather, or proves that there are none. */
import type { Command } from "commander";
import { CompileError, formatShape, hasErrors, printSchedule } from "../../ir/index.js";
import { canonicalizeAccess, runPipeline, withDefaults } from "../../passes/index.js";
import { resolveTargetOf, scheduled } from "../api/compile.js";
import { legalTiles } from "../api/legal-tiles.js";
import { lookUpTarget, addProgramOptions, resolveTarget, type ProgramFlags } from "./options.js";
import { loadProgram } from "./load.js";
import { progressBar } from "./progress.js";
import { table } from "../report/table.js";
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
  const options = {
    ...(flags.target === undefined ? {} : { target: resolveTarget(flags.target) }),
    findTarget: lookUpTarget,
  };
  const target = resolveTargetOf(func, options);
  const { func: access, diagnostics } = runPipeline(
    scheduled(func, options, target),
    [canonicalizeAccess],
    target,
  );
  if (hasErrors(diagnostics) || access.level !== "access") throw new CompileError(diagnostics);
  const asked = access.schedule.residency ?? target.defaultResidency;
  // The tile is what this command is about: one given counts as not given.
  const { tile: _, ...open } = access.schedule;
  const schedule = withDefaults({ ...access, schedule: open }, asked === "auto" ? "ub" : asked, target);
  let bar: ReturnType<typeof progressBar> | undefined;
  const found = legalTiles(access, schedule, target, (done, total) => {
    bar ??= progressBar(total, "tiles");
    bar.step(String(done));
  });
  bar?.stop();
  const tiles = flags.all === true ? found.tiles : found.tiles.filter((tile) => tile.pareto);
  const { tile: __, ...shown } = schedule;
  if (flags.json === true) {
    printJson({
      command: "legal",
      target: target.name,
      schedule: shown,
      ...found,
      tiles,
      listed: tiles.length,
    });
  } else {
    const count = found.count === undefined ? `at least ${found.tiles.length}` : String(found.count);
    print(
      `@${access.name} on ${target.name}: ${count} of ${found.possible} tiles are legal (${printSchedule(shown)})`,
    );
    for (const { dim, padded, aligned } of found.largestGatherDims) {
      print(
        `gather dim ${dim}: the largest that fits is ${padded}, or ${aligned} with block-aligned tile rows`,
      );
    }
    if (found.proof !== undefined) print(`no tile is legal: ${found.proof}`);
    else {
      const rows = tiles.map((t) => [formatShape(t.tile), t.bytes, t.traffic, t.tasks, t.cycles]);
      print(table(["tile", "UB bytes", "traffic", "tasks", "cycles"], rows));
    }
  }
  return found.proof === undefined ? 0 : 1;
}
