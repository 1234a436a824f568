/** tilec targets and tilec devices: what there is to compile for, and to run on. */
import type { Command } from "commander";
import { targets } from "../../ir/index.js";
import { limitsOf, targetOf } from "../../backends/webgpu/index.js";
import { acquireGpu } from "../device/node.js";
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
  program
    .command("devices")
    .option("--json", "print one JSON document; its target makes a target file")
    .action(async (flags: JsonFlag) => {
      const found = await acquireGpu();
      if (!found.ok) {
        if (flags.json === true) printJson({ command: "devices", devices: [], reason: found.reason });
        else print(`no WebGPU device: ${found.reason}`);
        return;
      }
      const { device, description, software } = found.gpu;
      const limits = limitsOf(device.limits);
      const target = targetOf(limits, software, "webgpu-device");
      device.destroy();
      if (flags.json === true) {
        printJson({
          command: "devices",
          devices: [{ description, software, limits }],
          target: targetFile(target),
        });
      } else {
        print(`${description}${software ? " (software)" : ""}`);
        print(table(["limit", "value"], Object.entries(limits)));
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
