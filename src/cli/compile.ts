/** tilec compile: lowers a program and prints it at one level, or after each pass. */
import { Option, type Command } from "commander";
import { printFunc, ubBuffers, ubBytes, webgpu, type Func } from "../../ir/index.js";
import { emitWgsl } from "../../backends/webgpu/index.js";
import { defaultPipeline } from "../../passes/index.js";
import { watOf } from "../../backends/sim/index.js";
import { compile, type Kernel } from "../api/compile.js";
import { writeBytes } from "../formats/files.js";
import { passPage, type PassStep } from "../report/pass-page.js";
import { lookUpTarget, addProgramOptions, resolveTarget, type ProgramFlags } from "./options.js";
import { loadPrograms } from "./load.js";
import { passPrinter } from "./print-passes.js";
import { table } from "../report/table.js";
import { print, printDiagnostics, printJson } from "./terminal.js";

const emits = ["source", "access", "tile", "wgsl", "wat", "plan"] as const;

interface CompileFlags extends ProgramFlags {
  readonly emit: (typeof emits)[number];
  readonly printBefore?: string;
  readonly printAfter?: string;
  readonly timePasses?: boolean;
  readonly diffPage?: string;
  readonly json?: boolean;
}

export function compileCommand(program: Command): void {
  addProgramOptions(program.command("compile"))
    .description("lower a gather and print it")
    .addOption(new Option("--emit <level>", "what to print").choices([...emits]).default("tile"))
    .option("--print-before <pass>", "also print the IR before a pass, or before `all`")
    .option(
      "--print-after <pass>",
      "also print the IR after a pass, after `all`, or after those that `changed` it",
    )
    .option("--time-passes", "print the time of each pass")
    .option("--diff-page <file.html>", "what each pass changed, as one self-contained page")
    .option("--json", "print one JSON document")
    .action((file: string | undefined, flags: CompileFlags) => {
      const kernels = loadPrograms(file, flags).map(({ func }) => compileOne(func, flags));
      if (flags.json === true) {
        printJson({ command: "compile", kernels: kernels.map((kernel) => kernelJson(kernel, flags)) });
        return;
      }
      for (const kernel of kernels) {
        printDiagnostics(kernel.diagnostics);
        print(emitted(kernel, flags.emit));
      }
    });
}

function compileOne(func: Func, flags: CompileFlags): Kernel {
  const printer = passPrinter(flags, defaultPipeline, print);
  const steps: PassStep[] = [];
  const kernel = compile(func, {
    ...(flags.target === undefined ? {} : { target: resolveTarget(flags.target) }),
    findTarget: lookUpTarget,
    beforePass: printer.beforePass,
    afterPass(pass, before, after, milliseconds) {
      steps.push({ pass: pass.name, before: printFunc(before), after: printFunc(after) });
      printer.afterPass(pass, before, after, milliseconds);
    },
  });
  if (flags.diffPage !== undefined)
    writeBytes(flags.diffPage, passPage(`@${func.name} on ${kernel.target.name}`, steps));
  return kernel;
}

function emitted(kernel: Kernel, emit: CompileFlags["emit"]): string {
  switch (emit) {
    case "wgsl":
      return wgslOf(kernel).code;
    case "wat":
      return watOf(kernel.tile);
    case "plan":
      return plan(kernel);
    default:
      return kernel.text(emit);
  }
}

/** A kernel for another target is compiled again for WebGPU, and the text says so. */
function wgslOf(kernel: Kernel) {
  const device = kernel.forTarget(webgpu);
  const wgsl = emitWgsl(device.tile);
  if (device === kernel) return wgsl;
  return {
    ...wgsl,
    code: `// compiled again for webgpu: the program's target is ${kernel.target.name}\n${wgsl.code}`,
  };
}

/** UB addresses: where each copy of each buffer lies. */
function plan(kernel: Kernel): string {
  const budget = kernel.tile.schedule.ubBytes ?? kernel.target.ubBytes;
  const rows = [...ubBuffers(kernel.tile).values()].flatMap((buffer) => {
    const size = ubBytes(buffer);
    return (buffer.addresses ?? []).map((start, copy) => ({
      name: `%${buffer.name}${copy === 0 ? "" : ` copy ${copy}`}`,
      start,
      end: start + size,
    }));
  });
  const peak = Math.max(0, ...rows.map((row) => row.end));
  return [
    `@${kernel.name} on ${kernel.target.name}: peak ${peak} B of ${budget} B`,
    table(
      ["buffer", "from", "to", "bytes"],
      rows.map(({ name, start, end }) => [name, start, end, end - start]),
    ),
  ].join("\n");
}

function kernelJson(kernel: Kernel, flags: CompileFlags) {
  return {
    name: kernel.name,
    target: kernel.target.name,
    schedule: kernel.tile.schedule,
    emit: flags.emit,
    text: emitted(kernel, flags.emit),
    footprint: kernel.footprint,
    diagnostics: kernel.diagnostics,
  };
}
