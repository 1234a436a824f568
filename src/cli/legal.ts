/** tilec legal: counts and lists the legal tiles of a gather, or proves that there are none. */
import { Option, type Command } from "commander";
import { formatSizeVerdict, formatRoofline, printSchedule, withCommas } from "../../ir/index.js";
import { operatorWarnings } from "../api/access.js";
import { residencyHint } from "../api/slower-residency.js";
import { formatTileCount, legalTiles, type LegalTile } from "../api/legal-tiles.js";
import {
  boundKeys,
  figureCells,
  figureLabels,
  figureTexts,
  inTableOrder,
  tileKeys,
  type ScheduleFigures,
} from "../report/figures.js";
import { table } from "../report/table.js";
import { loadProgram } from "./load.js";
import { addProgramOptions, projectOf, targeting, type ProgramFlags, type ProjectFlags } from "./options.js";
import { tellBuiltIn } from "./pipeline-flags.js";
import { progressBar } from "./progress.js";
import { note, print, printDiagnostics, printJson, printReport } from "./terminal.js";

/** Rows of the table unless all are asked for. */
const shown = 20;

/** On a terminal the lower bound stands above the table. */
const shownColumns = [...tileKeys, "over_floor"] as const;
const listedColumns = inTableOrder([...tileKeys, ...boundKeys]);

const figuresOf = (tile: LegalTile): ScheduleFigures => ({
  ...tile,
  schedule: tile,
  bytes: tile.traffic,
  ubBytes: tile.bytes,
});
const markOf = (tile: LegalTile): string => (tile.default ? "default" : "");

interface LegalFlags extends ProgramFlags, ProjectFlags {
  readonly all?: boolean;
  readonly csv?: boolean;
  readonly json?: boolean;
}

/** Adds the command `tilec legal` and the command's flags to the command line. */
export function legalCommand(program: Command): void {
  addProgramOptions(program.command("legal"))
    .optionsGroup("Output:")
    .option("--all", `list every candidate, not the ${shown} fastest`)
    .addOption(new Option("--csv", "list every candidate as comma-separated values").conflicts("json"))
    .option("--json", "print one JSON document")
    .action(async (file: string | undefined, given: Omit<LegalFlags, "project">, command: Command) => {
      process.exitCode = await legal(file, { ...given, project: await projectOf(command) });
    });
}

/**
 * Prints the number of legal tiles of a program, and a list of the fastest. With `--all`, the list has all
 * candidates of the compiler. Resolves to the exit code: 1 if no tile is legal, 0 if a tile is legal.
 */
async function legal(file: string | undefined, flags: LegalFlags): Promise<number> {
  const { func } = await loadProgram(file, flags);
  tellBuiltIn("legal", flags.project);
  if (flags.tile !== undefined) note(`--tile ${flags.tile} is ignored: legal lists all tiles`);
  const bar = progressBar("tiles");
  const options = targeting(flags);
  const result = legalTiles(func, {
    ...options,
    onProgress(done, total) {
      bar.step(String(done), total);
    },
  });
  bar.stop();
  const code = result.proof === undefined ? 0 : 1;
  const { tile: _, ...unpinned } = func.schedule;
  const untiled = { ...func, schedule: unpinned };
  const diagnostics = [...operatorWarnings(untiled, options), ...residencyHint(untiled, options)];
  if (flags.csv === true) {
    const { csvTable } = await import("../report/csv.js");
    const rows = result.tiles.map((tile) => ({
      ...figureCells(listedColumns, figuresOf(tile)),
      default: markOf(tile),
    }));
    print(csvTable([...listedColumns, "default"], rows).trimEnd());
    return code;
  }
  const tiles = result.tiles.filter((tile, k) => flags.all === true || k < shown || tile.default);
  if (flags.json === true) {
    printJson({ command: "legal", ...result, tiles, listed: tiles.length, diagnostics });
    return code;
  }
  const count =
    result.count === undefined ? `at least ${withCommas(result.tiles.length)}` : withCommas(result.count);
  const capped = result.count === undefined ? ", which are too many to be counted further" : "";
  printReport(
    `@${result.name} on ${result.target}: ${count} of ${withCommas(result.possible)} tile shapes are legal${capped} (${printSchedule(result.schedule)})`,
  );
  if (result.pages !== undefined) printReport(formatTileCount(result.pages));
  for (const { dim, padded, aligned } of result.largestGatherDims) {
    printReport(
      `${result.dims} dim ${dim}: at most ${withCommas(padded)} elements fit a full ${result.dims === "gather" ? "load" : "store"}${aligned === padded ? "" : `, ${withCommas(aligned)} where tile rows are whole blocks`}`,
    );
  }
  for (const verdict of result.sizes) printReport(`the smallest tile, ${formatSizeVerdict(verdict)}`);
  if (result.proof !== undefined) {
    printReport(`no tile is legal: ${result.proof}`);
    printReport("tilec explain with the same flags lists ways out");
  } else {
    const [first] = result.tiles;
    if (first !== undefined) printReport(`the fastest: ${formatRoofline(first, result.machine)}`);
    const rows = tiles.map((tile) => [...figureTexts(shownColumns, figuresOf(tile)), markOf(tile)]);
    printReport(table([...figureLabels(shownColumns), ""], rows));
    const more = result.tiles.length - tiles.length;
    if (more > 0) printReport(`${withCommas(more)} more candidates are slower; --all lists them`);
    printDiagnostics(diagnostics);
  }
  return code;
}
