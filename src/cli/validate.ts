/** tilec validate: published measurements of boards beside what the clock says of them. */
import { basename } from "node:path";
import type { Command } from "commander";
import { defined, CompileError, error, targetNames, targets, type Target } from "../../ir/index.js";
import { packageFile } from "../device/package-files.js";
import { readText } from "../formats/files.js";
import { outputFormats } from "../output/mark.js";
import { fitOf } from "../validation/fit.js";
import { parseMeasurements, type BoardMeasurement } from "../validation/measurement.js";
import { validationPage, validationPicture, type Validation } from "../validation/page.js";
import { fittedLines, summaryLines, verdictLines } from "../validation/report.js";
import { machineOf, summaryOf, verdictsOf } from "../validation/validate.js";
import { projectOf, resolveTarget } from "./options.js";
import { addForce, Outputs, type OutputFlags } from "./outputs.js";
import { printJson, printReport } from "./terminal.js";

interface ValidateFlags extends OutputFlags {
  readonly target?: string;
  readonly measurements?: string;
  readonly fit?: boolean;
  readonly page?: string;
  readonly json?: boolean;
}

/**
 * Adds the command `tilec validate`, which compares the cost model with measurements, to the command line.
 */
export function validateCommand(program: Command): void {
  addForce(program.command("validate"))
    .option(
      "--target <name|file>",
      `${targetNames.join(", ")}, or a target file (.json); of its machine alone`,
    )
    .option("--measurements <file>", "other measurements than the published ones, in their form")
    .option("--fit", "fit the figures again to the rows that they name, with ranges")
    .option("--page <file.md>", "the result as one page, with its picture beside it (.svg)")
    .option("--json", "print one JSON document")
    .action(async (flags: ValidateFlags, command: Command) => {
      const outputs = new Outputs("validate", flags);
      outputs.check(flags.page, outputFormats.markup);
      const project = await projectOf(command);
      const file = flags.measurements ?? packageFile("validation/measurements.json");
      const given = flags.target === undefined ? undefined : resolveTarget(flags.target, project);
      const measurements = parseMeasurements(readText(file), file);
      const judged = judgedBy(measurements, given, file);
      const rows = judged.flatMap(({ target, rows: measured }) => verdictsOf(measured, target, file));
      const summary = summaryOf(rows);
      const fits =
        flags.fit === true || flags.page !== undefined
          ? judged.map(({ target, machine, rows: measured }) => fitOf(target, machine, measured))
          : undefined;
      if (flags.page !== undefined && fits !== undefined)
        writePage(flags.page, { judged, rows, summary, fits }, outputs);
      if (flags.json === true) printJson({ command: "validate", rows, summary, ...defined({ fit: fits }) });
      else {
        printReport(verdictLines(rows));
        printReport(summaryLines(summary));
        for (const fit of flags.fit === true ? (fits ?? []) : []) printReport(fittedLines(fit));
      }
      process.exitCode = outputs.status(0);
    });
}

/**
 * Writes a comparison of the cost model with measurements: a Markdown page, and a chart as an SVG file with
 * the same base name.
 */
function writePage(
  file: string,
  { judged, ...shown }: Omit<Validation, "measurements" | "targets"> & { readonly judged: readonly Judged[] },
  outputs: Outputs,
): void {
  const picture = file.replace(/(\.md)?$/, ".svg");
  const page = validationPage(
    {
      ...shown,
      measurements: judged.flatMap(({ rows }) => rows),
      targets: judged.map(({ target }) => target),
    },
    basename(picture),
  );
  outputs.write(file, page, outputFormats.markup);
  outputs.write(picture, validationPicture(shown.rows), outputFormats.markup);
}

interface Judged {
  readonly machine: string;
  readonly target: Target;
  readonly rows: readonly BoardMeasurement[];
}

/**
 * Returns measurements grouped by machine, with the target that models the machine. `given`: the only target
 * to use; undefined for all built-in targets. Throws a CompileError (TC019) for a machine without a target,
 * or a target without measurements.
 */
function judgedBy(
  rows: readonly BoardMeasurement[],
  given: Target | undefined,
  file: string,
): readonly Judged[] {
  const listed: readonly Target[] = given === undefined ? Object.values(targets) : [given];
  const machines = [...new Set(rows.map(({ machine }) => machine))];
  const judged = machines.flatMap((machine): Judged[] => {
    const target = listed.find((one) => machineOf(one) === machine);
    return target === undefined
      ? []
      : [{ machine, target, rows: rows.filter((row) => row.machine === machine) }];
  });
  if (judged.length === 0 || (given === undefined && judged.length < machines.length)) {
    const strangers = machines.filter((machine) => !judged.some((one) => one.machine === machine));
    const [message, hint] =
      rows.length === 0
        ? ["it has no rows", "the form is that of validation/measurements.json (docs/validation.md)"]
        : given === undefined
          ? [
              `no target has the machine ${strangers.join(", ")}`,
              "--target NAME judges the rows of one machine alone",
            ]
          : [
              `no row is of ${given.name} or of a machine with the same cores; the rows have ${machines.join(", ")}`,
              `--target takes a target of one of them, such as ${targets.ascendA2.name}`,
            ];
    throw new CompileError([error("TC019", `${file}: ${message}`, { hint })]);
  }
  return judged;
}
