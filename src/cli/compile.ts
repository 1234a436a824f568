/** tilec compile: lowers a program and prints it at one level, or after each pass. */
import { Option, type Command } from "commander";
import { printFunc, webgpu, type Func } from "../../ir/index.js";
import { emitWgsl } from "../../backends/webgpu/index.js";
import { defaultPipeline } from "../../passes/index.js";
import { compile, type Kernel } from "../compile.js";
import { addProgramOptions, resolveTarget, UsageError, type ProgramFlags } from "./options.js";
import { loadPrograms } from "./load.js";
import { note, print, printDiagnostics, printJson } from "./terminal.js";

const emits = ["source", "access", "tile", "wgsl", "plan"] as const;

interface CompileFlags extends ProgramFlags {
  readonly emit: (typeof emits)[number];
  readonly printAfter?: string;
  readonly timePasses?: boolean;
  readonly json?: boolean;
}

export function compileCommand(program: Command): void {
  addProgramOptions(program.command("compile"))
    .description("lower a gather and print it")
    .addOption(new Option("--emit <level>", "what to print").choices([...emits]).default("tile"))
    .option(
      "--print-after <pass>",
      "also print the IR after a pass, after `all`, or after those that `changed` it",
    )
    .option("--time-passes", "print the time of each pass")
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
  const { printAfter } = flags;
  const names = defaultPipeline.map((pass) => pass.name);
  if (printAfter !== undefined && !["all", "changed", ...names].includes(printAfter)) {
    throw new UsageError(`there is no pass ${printAfter}`, `all, changed, ${names.join(", ")}`);
  }
  return compile(func, {
    ...(flags.target === undefined ? {} : { target: resolveTarget(flags.target) }),
    findTarget: resolveTarget,
    afterPass(pass, before, after, milliseconds) {
      const changed = printFunc(before) !== printFunc(after);
      const wanted =
        printAfter === "all" || printAfter === pass.name || (printAfter === "changed" && changed);
      if (wanted) print(`// after ${pass.name}${changed ? "" : " (unchanged)"}\n${printFunc(after)}`);
      if (flags.timePasses === true) note(`${pass.name.padEnd(20)} ${milliseconds.toFixed(3)} ms`);
    },
  });
}

function emitted(kernel: Kernel, emit: CompileFlags["emit"]): string {
  switch (emit) {
    case "wgsl":
      return wgslOf(kernel).code;
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

/** UB addresses by buffer: what allocate-ub decided. */
function plan(kernel: Kernel): string {
  const budget = kernel.tile.schedule.ubBytes ?? kernel.target.ubBytes;
  const rows = kernel.tile.body.flatMap((stmt) => {
    if (stmt.op !== "alloc") return [];
    const { buffer } = stmt;
    const size = buffer.shape.slice(0, -1).reduce((product, extent) => product * extent, buffer.rowBytes);
    return (buffer.addresses ?? []).map((start, copy) => ({
      name: buffer.name,
      copy,
      start,
      end: start + size,
    }));
  });
  const peak = Math.max(0, ...rows.map((row) => row.end));
  const lines = rows.map(
    ({ name, copy, start, end }) =>
      `  [${start}, ${end})  %${name}${copy === 0 ? "" : ` copy ${copy}`}  ${end - start} B`,
  );
  return [`@${kernel.name} on ${kernel.target.name}: peak ${peak} B of ${budget} B`, ...lines].join("\n");
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
