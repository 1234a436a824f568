/** tilec run: executes a gather on one or several backends and compares them bit for bit. */
import type { Command } from "commander";
import { backendNames } from "../api/backends.js";
import { programKind } from "../formats/program-kind.js";
import { collect } from "./collect.js";
import { addListOptions, isList, refuseWithoutList } from "./list/list-flags.js";
import { loadProgram } from "./load.js";
import { addProgramOptions, arithmeticOption, executorOption, projectOf, ulpOption } from "./options.js";
import { addForce } from "./outputs.js";
import { addPipelineOptions } from "./pipeline-flags.js";
import type { RunFlags } from "./run/run-flags.js";
import { runModel } from "./run/run-model.js";
import { runOne } from "./run/run-one.js";
import { runRows } from "./run/run-rows.js";
import { UsageError } from "./usage-error.js";

/** Backends of a list where none is named: alone, a backend is compared with nothing. */
const comparedBackends = "reference,sim";

/**
 * Adds the command `tilec run`, which runs a program on backends and compares the outputs, to the command
 * line.
 */
export function runCommand(program: Command): void {
  addListOptions(addForce(addPipelineOptions(addProgramOptions(program.command("run")))))
    .optionsGroup("Run:")
    .option("--backend <list>", `some of ${backendNames.join(", ")}`, "sim")
    .option("--input <name=file.npy>", "an input: data=…, indices=… or an operand's name", collect, [])
    .option("--out <name=file.npy>", "file of the output: output=… or its name", collect, [])
    .option("--against <program.tir>", "compare with what this program defines")
    .addOption(executorOption())
    .option("--threads <n>", "threads of the fast executor")
    .addOption(arithmeticOption())
    .addOption(ulpOption())
    .option("--seed <n>", "seed of random inputs")
    .option("--trace <file>", "simulated timeline: Chrome trace .json, or a page .html")
    .option("--compare <schedule>", "another schedule on the page of --trace, or default")
    .option("--json", "print one JSON document")
    .action(async (file: string | undefined, given: Omit<RunFlags, "project">, command: Command) => {
      const flags: RunFlags = { ...given, project: await projectOf(command) };
      if (flags.most !== undefined)
        throw new UsageError(
          "--most cannot be used with run, which needs every size",
          `--bind ${flags.most}`,
        );
      if (isList(flags)) {
        const isStated = command.getOptionValueSource("backend") !== "default";
        process.exitCode = await runRows(file, isStated ? flags : { ...flags, backend: comparedBackends });
        return;
      }
      refuseWithoutList(flags, ["rows", "strict", "shard", "resume"]);
      process.exitCode =
        file !== undefined && programKind(file) === "onnx" && flags.func === undefined
          ? await runModel(file, flags)
          : await runOne(await loadProgram(file, flags), flags);
    });
}
