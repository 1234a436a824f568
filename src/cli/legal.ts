/** tilec legal: counts and lists the legal tiles of a gather, or proves that there are none. */
import type { Command } from "commander";
import { formatShape, printSchedule } from "../../ir/index.js";
import { legalTiles, type LegalTile } from "../api/legal-tiles.js";
import { table } from "../report/table.js";
import { loadProgram } from "./load.js";
import { lookUpTarget } from "../formats/look-up-target.js";
import { addProgramOptions, resolveTarget, type ProgramFlags } from "./options.js";
import { progressBar } from "./progress.js";
import { note, print, printJson } from "./terminal.js";

/** Rows of the table unless all are asked for. */
const shown = 20;

const columns = [
  "tile",
  "residency",
  "view",
  "order",
  "buffers",
  "UB bytes",
  "traffic",
  "tasks",
  "cycles",
  "default",
];

interface LegalFlags extends ProgramFlags {
  readonly all?: boolean;
  readonly csv?: boolean;
  readonly json?: boolean;
}

export function legalCommand(program: Command): void {
  addProgramOptions(program.command("legal"))
    .description("count and list the legal tiles; or prove that there are none")
    .option("--all", `list every candidate, not the ${shown} fastest`)
    .option("--csv", "list every candidate as comma-separated values")
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
  const code = found.proof === undefined ? 0 : 1;
  if (flags.csv === true) {
    print([columns, ...found.tiles.map(cells)].map((row) => row.join(",")).join("\n"));
    return code;
  }
  const tiles = found.tiles.filter((tile, k) => flags.all === true || k < shown || tile.default);
  if (flags.json === true) {
    printJson({ command: "legal", ...found, tiles, listed: tiles.length });
    return code;
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
    const rows = tiles.map((t) => [
      formatShape(t.tile),
      t.residency,
      formatShape(t.view),
      formatShape(t.order),
      t.buffers,
      t.bytes,
      t.traffic,
      t.tasks,
      t.cycles,
      t.default ? "default" : "",
    ]);
    print(table([...columns.slice(0, -1), ""], rows));
    const more = found.tiles.length - tiles.length;
    if (more > 0) print(`${more} more candidates are slower; --all lists them`);
  }
  return code;
}

/** Shapes as the flags take them, without commas. */
const cells = (t: LegalTile): (string | number)[] => [
  t.tile.join("x"),
  t.residency,
  t.view.join("x"),
  t.order.join("x"),
  t.buffers,
  t.bytes,
  t.traffic,
  t.tasks,
  t.cycles,
  t.default ? 1 : 0,
];
