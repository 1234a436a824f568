/** tilec plan: every node of a model that reads or writes by index, and what becomes of it. */
import { Option, type Command } from "commander";
import { defined } from "../../ir/index.js";
import {
  entryKeys,
  figureCells,
  figureLabels,
  figureTexts,
  inTableOrder,
  type ScheduleFigures,
} from "../report/figures.js";
import { table } from "../report/table.js";
import { limitsHelp } from "./device-limits.js";
import { comparison } from "../formats/onnx/fold-cycles.js";
import { listGathers } from "./list-model.js";
import { loadModel } from "./load-model.js";
import {
  foldOption,
  parseCount,
  projectOf,
  targeting,
  type ProgramFlags,
  type ProjectFlags,
} from "./options.js";
import { tellBuiltIn } from "./pipeline-flags.js";
import { planModel, planStatuses, type ModelPlan, type PlannedNode } from "./plan-model.js";
import { progressBar } from "./progress.js";
import { note, print, printDiagnostics, printJson } from "./terminal.js";
import { UsageError } from "./usage-error.js";

interface PlanFlags extends Pick<ProgramFlags, "bind" | "most" | "fold" | "target" | "limits">, ProjectFlags {
  readonly tune?: string;
  readonly csv?: boolean;
  readonly json?: boolean;
}

/**
 * Adds the command `tilec plan`, which prints the status and estimated cost of each gather and scatter of a
 * model, to the command line.
 */
export function planCommand(program: Command): void {
  program
    .command("plan")
    .argument("<model.onnx>", "a model")
    .option("--bind <list>", "extents of symbolic dims, shapes of inputs: batch=1,state=2x1x128")
    .option("--most <list>", "the most of outermost dims that stay open: batch=64")
    .addOption(foldOption())
    .option("--target <name|file>", "the machine, or a target file (.json)")
    .option("--limits <list|file>", limitsHelp)
    .option("--tune <n>", "search n candidates of each gather for the best schedule")
    .addOption(new Option("--csv", "comma-separated values").conflicts("json"))
    .option("--json", "print one JSON document")
    .action(async (file: string, given: Omit<PlanFlags, "project">, command: Command) => {
      await plan(file, { ...given, project: await projectOf(command) });
    });
}

/**
 * Prints the plan of the model in `file` as text, CSV or JSON. Sets the exit code to 3 if planning found a
 * bug in tilec. Throws a UsageError for conflicting flags.
 */
async function plan(file: string, flags: PlanFlags): Promise<void> {
  const budget = flags.tune === undefined ? undefined : parseCount(flags.tune, "tune", 50);
  if (budget === 0) throw new UsageError("--tune 0 searches nothing", "--tune 50");
  tellBuiltIn("plan", flags.project);
  const model = loadModel(file, flags, targeting(flags));
  const bar = progressBar("gathers");
  const result = await planModel(model, listGathers(model.gathers, flags, {}), budget, (name, total) => {
    bar.step(name, total);
  });
  bar.stop();
  if (result.bugs.length > 0) process.exitCode = 3;
  const diagnostics = [...model.warnings, ...result.bugs];
  if (flags.json === true) {
    const { hints: _, bugs: __, ...document } = result;
    printJson({ command: "plan", ...document, diagnostics });
    return;
  }
  printDiagnostics(diagnostics);
  if (flags.csv === true) await printCsv(result);
  else printPlan(file, result, budget !== undefined);
  for (const hint of result.hints) note(`what is open: ${hint}`);
}

const figuresOf = ({ best: _, ...node }: PlannedNode, clock: number): ScheduleFigures => ({
  ...node,
  ...(node.cycles === undefined ? {} : { clock }),
});

/** Columns before the figures, those of the default schedule and of the best one, and behind them. */
const factColumns = ["index", "name", "op", "domain", "status", "into", "verdict", "reason"] as const;
const listedColumns = inTableOrder(["cycles", "floor", "floor_limit", "over_floor", "clock", "bytes"]);
const bestColumns = inTableOrder([...entryKeys, "cycles"]);
const bestName = (key: string): string => `best_${key}`;

/** Prints the plan of a model as comma-separated values, with one row for each node. */
async function printCsv({ nodes, clock }: ModelPlan): Promise<void> {
  const { csvTable } = await import("../report/csv.js");
  const columns = [...factColumns, ...listedColumns, ...bestColumns.map(bestName), "indices"];
  const rows = nodes.map((node) => {
    const { index, name, op, domain, status, into, verdict, reason, indices, best = {} } = node;
    return {
      ...{ index, name, op, domain, status },
      ...defined({ into: into?.join(" "), verdict, reason, indices: indices?.join(" ") }),
      ...figureCells(listedColumns, figuresOf(node, clock)),
      ...Object.fromEntries(
        Object.entries(figureCells(bestColumns, best)).map(([key, cell]) => [bestName(key), cell]),
      ),
    };
  });
  print(csvTable(columns, rows).trimEnd());
}

/** Width of a terminal, for which tables are laid out, in characters. */
const width = 80;

const shownColumns = ["bytes", "over_floor", "cycles"] as const;

/**
 * Prints the plan of a model as text, with the cycles and traffic of each node's program. `isTuned`: true to
 * add the cycles of the best schedule that a search found.
 */
function printPlan(file: string, { nodes, shared, totals, clock }: ModelPlan, isTuned: boolean): void {
  if (nodes.length === 0) {
    print(`${file} has no node that reads or writes by index`);
    return;
  }
  const positions = new Map(nodes.map(({ name, index }) => [name, index]));
  const positionsOf = (names: readonly string[]): string =>
    names.map((name) => positions.get(name)).join(", ");
  const count = (value: number | undefined): string => value?.toLocaleString("en") ?? "";
  const rows = nodes.map((node) => {
    const { index, name, op, status, into = [], verdict, best } = node;
    const outcome =
      status === "folded"
        ? `folded into ${positionsOf(into)}`
        : status === "compiled"
          ? status
          : `${status} ${verdict ?? ""}`;
    return [
      ...[index, name, op, outcome, ...figureTexts(shownColumns, figuresOf(node, clock))],
      ...(isTuned ? [best?.cycles ?? ""] : []),
    ];
  });
  const head = [
    "",
    "node",
    "operator",
    "status",
    ...figureLabels(shownColumns),
    ...(isTuned ? ["best"] : []),
  ];
  print(table(head, rows, width));
  print("");
  print(planStatuses.map((status) => `${totals[status]} ${status}`).join(", "));
  print(`moves ${count(totals.bytes)} B; estimated ${count(totals.cycles)} cycles (cost model ${clock})`);
  printFolds(nodes);
  for (const { indices, nodes: names } of shared)
    print(table([positionsOf(names), `share the index tensor ${JSON.stringify(indices)}`], [], width));
  const reasons = new Map<string, number[]>();
  for (const { index, reason } of nodes)
    if (reason !== undefined) reasons.set(reason, [...(reasons.get(reason) ?? []), index]);
  if (reasons.size > 0) {
    const [first, ...rest] = [...reasons].map(([reason, list]) => [list.join(", "), reason]);
    print(table(first ?? [], rest, width));
  }
}

/**
 * Prints the file name of each gather's JavaScript module, and the estimated cycles with and without merging
 * neighbouring nodes. Prints nothing if no gather has a module.
 */
function printFolds(nodes: readonly PlannedNode[]): void {
  const rows = nodes.flatMap(({ index, module, fold }) => {
    if (module === undefined) return [];
    const cycles = fold === undefined ? "" : `${comparison(fold)}${fold.taken ? "" : ": not folded"}`;
    return [[index, module, cycles]];
  });
  if (rows.length === 0) return;
  print("");
  print(table(["", "module", "cycles with and without folding"], rows, width));
}
