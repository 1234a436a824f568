/** tilec targets: what there is to compile for. */
import type { Command } from "commander";
import { targets } from "../../ir/index.js";
import { targetFile } from "../formats/target-file.js";
import { resolveTarget } from "./options.js";
import { table } from "../report/table.js";
import { print, printJson } from "./terminal.js";

interface JsonFlag {
  readonly json?: boolean;
}

export function targetsCommand(program: Command): void {
  program
    .command("targets")
    .argument("[name]", "a target's name, or a target file")
    .option("--json", "print one JSON document")
    .action((name: string | undefined, flags: JsonFlag) => {
      if (name !== undefined) showTarget(name, flags);
      else if (flags.json === true)
        printJson({ command: "targets", targets: Object.values(targets).map(targetFile) });
      else {
        const rows = Object.values(targets).map((t) => [t.name, t.ubBytes, t.blockBytes, t.cores, t.title]);
        print(table(["name", "UB bytes", "block", "cores", "what"], rows));
      }
    });
}

function showTarget(name: string, flags: JsonFlag): void {
  const file = targetFile(resolveTarget(name));
  if (flags.json === true) {
    printJson({ ...file });
    return;
  }
  print(`${file.name}: ${file.title}`);
  const rows = Object.entries(file.figures).map(([figure, { value, kind, source }]) => [
    figure,
    value,
    kind,
    source,
  ]);
  print(table(["figure", "value", "kind", "source"], rows));
}
