/** tilec targets fit: a target file from a user's own runs of emitted kernels. */
import { basename } from "node:path";
import type { Command } from "commander";
import { defaultTarget, targetFacts } from "../../ir/index.js";
import { compile } from "../api/compile.js";
import { readText } from "../formats/files.js";
import { targetFile } from "../formats/target-file.js";
import { jsonSchema, outputFormats } from "../output/mark.js";
import { table } from "../report/table.js";
import { fitRuns, type EmittedKernel, type RunsFit } from "../validation/fit-runs.js";
import { parseProfile } from "../validation/profiled-runs.js";
import { shown } from "../validation/report.js";
import { loadPrograms } from "./load.js";
import { projectOf, resolveTarget } from "./options.js";
import { addForce, Outputs, type OutputFlags } from "./outputs.js";
import { printJson, printReport } from "./terminal.js";
import { UsageError } from "./usage-error.js";

interface FitFlags extends OutputFlags {
  readonly from: string;
  readonly target?: string;
  readonly out?: string;
  readonly json?: boolean;
}

/** Adds the subcommand `tilec targets fit`, which fits a target's parameters to measured kernel runs. */
export function targetsFitCommand(targets: Command): void {
  addForce(targets.command("fit"))
    .description("fit a target's figures to your own runs of kernels that tilec emitted")
    .argument("<programs...>", "the programs whose kernels ran (.tir, .json), with their schedules")
    .requiredOption("--from <op_summary.csv>", "msprof's list of the runs (docs/targets.md has its columns)")
    .option(
      "--target <name|file>",
      `the target that they were compiled for; ${defaultTarget.name} without it`,
    )
    .option("--out <file.json>", "write the proposed target file")
    .option("--json", "print one JSON document")
    .action(async (files: readonly string[], _: unknown, command: Command) => {
      const flags = command.optsWithGlobals<FitFlags>();
      const outputs = new Outputs("targets fit", flags);
      outputs.check(flags.out, outputFormats.json);
      const project = await projectOf(command);
      const target = flags.target === undefined ? defaultTarget : resolveTarget(flags.target, project);
      if (!targetFacts[target.kind].runsPto)
        throw new UsageError(
          `--target must be an Ascend target, whose kernels msprof lists, not ${target.name}`,
          "--target ascend-a2",
        );
      const kernels: EmittedKernel[] = [];
      for (const file of files)
        for (const { func } of await loadPrograms(file, { project })) {
          const kernel = compile(func, { target, findTarget: project.findTarget });
          const program = `@${func.name} of ${file}`;
          kernels.push({ program, entryPoint: kernel.pto().entryPoint, tile: kernel.tile });
        }
      const fit = fitRuns(
        target,
        kernels,
        parseProfile(readText(flags.from), flags.from),
        basename(flags.from),
      );
      const proposed = targetFile(fit.target);
      if (flags.out !== undefined)
        outputs.write(
          flags.out,
          `${JSON.stringify({ schema: jsonSchema, ...proposed }, undefined, 2)}\n`,
          outputFormats.json,
        );
      if (flags.json === true) {
        const { figures, runs, mean, others } = fit;
        printJson({ command: "targets fit", figures, runs, mean, others, target: proposed });
      } else printReport(fitLines(fit, flags.out));
      process.exitCode = outputs.status(0);
    });
}

/**
 * Returns the result of a fit as text: the target's parameters before and after the fit, and the ratio of
 * estimated to measured time per run. `out`: file with the fitted target; undefined if none was written.
 */
function fitLines({ target, figures, runs, mean, others }: RunsFit, out: string | undefined): string {
  return [
    table(
      ["figure", "was", "fitted", "range", "rows"],
      figures.map(({ figure, was, value, range: [low, high], rows }) => [
        figure,
        was,
        value,
        `${low} to ${high}`,
        rows.join(", "),
      ]),
    ),
    "",
    table(
      ["run", "us", "before", "after", "used for"],
      runs.map(({ id, microseconds, before, after, figure }) => [
        id,
        shown(microseconds),
        before.toFixed(2),
        after.toFixed(2),
        figure ?? "no figure",
      ]),
    ),
    `mean factor ${mean.before.toFixed(3)} before, ${mean.after.toFixed(3)} after; other figures stay as they are`,
    ...(others.length === 0 ? [] : [`operators of others, left out: ${others.length}`]),
    out === undefined ? `--out FILE.json writes ${target.name}` : `--target ${out} uses it`,
  ].join("\n");
}
