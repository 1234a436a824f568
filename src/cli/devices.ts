/** tilec devices: the WebGPU device that there is to run on. */
import type { Command } from "commander";
import { limitsOf, targetOf } from "../../backends/webgpu/index.js";
import { acquireGpu } from "../device/node.js";
import { targetFile } from "../formats/target-file.js";
import { table } from "../report/table.js";
import { printDiagnostics, printJson, printReport } from "./terminal.js";

/**
 * Adds the command `tilec devices`, which prints the WebGPU device and the device limits of a computer, to
 * the command line.
 */
export function devicesCommand(program: Command): void {
  program
    .command("devices")
    .option("--json", "print one JSON document; its target makes a target file")
    .action(async (flags: { readonly json?: boolean }) => {
      const gpu = await acquireGpu();
      if (!gpu.ok) {
        const { problem } = gpu;
        if (flags.json === true) printJson({ command: "devices", devices: [], diagnostics: [problem] });
        else printDiagnostics([problem]);
        // No device is an answer; a package that is not installed keeps the command from finding one.
        if (problem.code === "TC703") process.exitCode = 1;
        return;
      }
      const { device, description, software } = gpu.gpu;
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
        printReport(`${description}${software ? " (software)" : ""}`);
        printReport(table(["limit", "value"], Object.entries(limits)));
      }
    });
}
