/** The report of a run: a JSON document, or text. */
import {
  clockVersion,
  counted,
  defined,
  printSchedule,
  withCommas,
  type Diagnostic,
  type Schedule,
} from "../../../ir/index.js";
import type { InputsVerdict } from "../../../backends/reference/unmet-condition.js";
import { nameOf, type BackendRun } from "../../api/backends.js";
import type { Kernel } from "../../api/compile.js";
import { verdictText } from "../../api/inputs-verdict.js";
import { table } from "../../report/table.js";
import type { Draw } from "../../testing/draws.js";
import type { DrawRun, Sides } from "./run-draw.js";

/** Run of all draws of one program. */
export interface FinishedRun {
  readonly kernel: Kernel;
  readonly sides: Sides;
  /** File of the program that states the expected result. */
  readonly against: string | undefined;
  /** Source of the inputs. */
  readonly origin: string;
  readonly draws: readonly Draw[];
  /** Runs by draw. */
  readonly runs: readonly DrawRun[];
  /** Counts of the first backend that counts, for the first draw. */
  readonly report: BackendRun["report"];
  /** Verdict on the stated bits on an Ascend core. */
  readonly ascend: InputsVerdict | undefined;
  readonly output: RunDocument["output"];
}

/** JSON document of one run. */
export interface RunDocument {
  readonly ok: boolean;
  readonly target: string;
  readonly schedule: Schedule;
  /** Source of the inputs. */
  readonly inputs: string;
  readonly output: { readonly type: string; readonly bytes: number };
  readonly backends: readonly { readonly backend: string; readonly agrees: boolean }[];
  readonly draws: readonly { readonly inputs: string; readonly outcome: string }[];
  readonly report: BackendRun["report"];
  /**
   * Verdict on the stated bits on an Ascend core. It is for the first draw for which a core may give other
   * bits, else for the first draw.
   */
  readonly ascend?: InputsVerdict;
  readonly diagnostics: readonly Diagnostic[];
}

/** True if all sides agree for all draws. */
const isSame = ({ runs }: FinishedRun): boolean => runs.every(({ differences }) => differences.length === 0);

/** Returns a summary of the comparison of the output bits, in a word or two. */
export function saidOf(run: FinishedRun): string {
  const { draws, runs, sides } = run;
  if (draws.length === 1) return runs[0]?.said ?? "";
  if (!isSame(run)) return "DIFFERENT bits";
  return sides.allowedUlp === undefined
    ? "the same bits"
    : `within ${counted(sides.allowedUlp, "unit")} in the last place`;
}

/** Returns the JSON document of a run. */
export function runDocument(run: FinishedRun, diagnostics: readonly Diagnostic[]): RunDocument {
  const { kernel, sides, origin, draws, runs, report, ascend, output } = run;
  const apart = new Set(runs.flatMap((one) => one.apart));
  return {
    ok: isSame(run),
    target: kernel.target.name,
    schedule: kernel.tile.schedule,
    inputs: origin,
    output,
    backends: sides.backends.map((backend) => ({ backend: nameOf(backend), agrees: !apart.has(backend) })),
    draws: draws.map(({ indices }, k) => ({
      inputs: draws.length === 1 ? origin : `${origin}: ${indices}`,
      outcome: runs[k]?.said ?? "",
    })),
    report,
    ...defined({ ascend }),
    diagnostics,
  };
}

/** Returns the report of a run as text. */
export function runText(run: FinishedRun): string {
  const { kernel, sides, against, origin, draws, runs, report, ascend, output } = run;
  const names = [...sides.backends.map(nameOf), ...(against === undefined ? [] : [against])];
  return [
    `@${kernel.name} on ${kernel.target.name}: output ${output.type}`,
    `inputs     ${origin}`,
    `schedule   ${printSchedule(kernel.tile.schedule)}`,
    `${names.length === 1 ? "ran on  " : "compared"}   ${names.join(", ")}: ${saidOf(run)}`,
    ...(draws.length === 1 ? [] : draws.map(({ indices }, k) => `  ${indices}: ${runs[k]?.said ?? ""}`)),
    ...(report === undefined ? [] : reportLines(report)),
    ...(ascend === undefined ? [] : [verdictText(ascend)]),
  ].join("\n");
}

/**
 * Returns the report of a simulated run as text lines: bytes, transfers and bursts of each operand, estimated
 * cycles, and peak bytes of the unified buffer (UB).
 */
function reportLines(report: NonNullable<BackendRun["report"]>): string[] {
  const rows = Object.entries(report.operands).map(([operand, { bytes, compulsory, transfers, bursts }]) => [
    operand,
    bytes,
    compulsory,
    transfers,
    bursts,
  ]);
  const { timing } = report;
  return [
    ...(report.executor === "fast" ? ["executor   fast"] : []),
    table(["operand", "bytes moved", "least bytes", "transfers", "bursts"], rows),
    `estimated  ${withCommas(timing.cycles)} cycles on ${counted(timing.cores, "core")} (cost model ${clockVersion}); ${timing.why}`,
    `UB peak    ${withCommas(report.ubPeak)} B of ${withCommas(report.ubBudget)} B; ${counted(report.tasks, "task")}`,
  ];
}
