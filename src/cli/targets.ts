/** tilec targets: what there is to compile for. */
import type { Command } from "commander";
import { targets, type Target } from "../../ir/index.js";
import { targetFile } from "../formats/target-file.js";
import { projectOf, resolveTarget } from "./options.js";
import { table } from "../report/table.js";
import { targetsFitCommand } from "./targets-fit.js";
import { printJson, printReport } from "./terminal.js";

interface JsonFlag {
  readonly json?: boolean;
}

/**
 * Adds the command `tilec targets` with the subcommand `fit` to the command line. The command lists all
 * targets or prints a single target.
 */
export function targetsCommand(program: Command): void {
  const command = program.command("targets");
  targetsFitCommand(command);
  command
    .argument("[name]", "a target's name, or a target file")
    .option("--json", "print one JSON document")
    .action(async (name: string | undefined, flags: JsonFlag, command: Command) => {
      const project = await projectOf(command);
      const all = [...Object.values(targets), ...project.targets];
      if (name !== undefined) showTarget(resolveTarget(name, project), flags);
      else if (flags.json === true) printJson({ command: "targets", targets: all.map(targetFile) });
      else {
        const rows = all.map((t) => [t.name, t.ubBytes, t.blockBytes, t.cores, t.title]);
        printReport(table(["name", "UB bytes", "block", "cores", "what"], rows));
      }
    });
}

/** Prints the parameters of a target with ranges and sources. With `--json`, prints a target file. */
function showTarget(target: Target, flags: JsonFlag): void {
  const file = targetFile(target);
  if (flags.json === true) {
    printJson({ ...file });
    return;
  }
  printReport(`${file.name}: ${file.title}`);
  const cells = Object.entries(file.figures).map(
    ([
      figure,
      {
        value,
        range: [low, high],
        kind,
        rows,
        source,
      },
    ]) => [figure, value, low === high ? "" : `${low} to ${high}`, kind, rows.join(", "), source],
  );
  printReport(table(["figure", "value", "range", "kind", "rows", "source"], cells));
}
