/** tilec compile: lowers a program and prints it at one level, or after each pass. */
import { Option, type Command } from "commander";
import {
  defined,
  CompileError,
  deviceLimits,
  error,
  formatLimits,
  targetFacts,
  webgpu,
  type Diagnostic,
  type Target,
} from "../../ir/index.js";
import { printMoves, type MovePlan } from "../../backends/index.js";
import { wasmMoves, watOf } from "../../backends/sim/index.js";
import {
  emitWgsl,
  kernelStats,
  movesOf,
  planWgsl,
  raisedLimits,
  type Arithmetic,
  type WgslKernel,
} from "../../backends/wgsl/index.js";
import { defaultPipeline } from "../../passes/index.js";
import { compile, type CompileOptions, type Kernel } from "../api/compile.js";
import { fileNames } from "../formats/file-names.js";
import { outputFormats, type OutputFormat } from "../output/mark.js";
import type { PassStep } from "../report/pass-page.js";
import { limitedTo } from "./device-limits.js";
import {
  addProgramOptions,
  arithmeticOption,
  projectOf,
  resolveTarget,
  targeting,
  type ProgramFlags,
} from "./options.js";
import { UsageError } from "./usage-error.js";
import { loadPrograms } from "./load.js";
import { addPipelineOptions, pipelineOf, type PipelineFlags } from "./pipeline-flags.js";
import type { ModuleKind } from "../module/declarations.js";
import type { EmittedModule } from "../module/emit-module.js";
import { passPrinter } from "./print-passes.js";
import { explainTile } from "../api/explain-tile.js";
import type { LoadedProgram, Refuse } from "./loaded-program.js";
import { residencyHint } from "../api/slower-residency.js";
import { addForce, Outputs, type OutputFlags, type OutputFolder } from "./outputs.js";
import { note, print, printDiagnostics, printJson } from "./terminal.js";

const { code, text, wat } = outputFormats;
/**
 * Levels from the highest to the lowest, then texts, then modules: the format of each, and the ending of its
 * file.
 */
const emits = {
  source: { ending: "tir", format: code },
  access: { ending: "tir", format: code },
  tile: { ending: "tir", format: code },
  plan: { ending: "txt", format: text },
  moves: { ending: "txt", format: text },
  wat: { ending: "wat", format: wat },
  wgsl: { ending: "wgsl", format: code },
  "gpu-stats": { ending: "txt", format: text },
  pto: { ending: "cpp", format: code },
  pypto: { ending: "py", format: text },
  module: { ending: "js", format: code },
  "module-cpu": { ending: "js", format: code },
} as const satisfies Readonly<Record<string, { readonly ending: string; readonly format: OutputFormat }>>;
type OneEmit = keyof typeof emits;
type Emit = OneEmit | "all";
const modules = ["module", "module-cpu"] as const satisfies readonly (OneEmit & ModuleKind)[];
/** Path of the file of one module; another path is the folder of several. */
const moduleFile = /\.(m?)js$/;
type Text = Exclude<OneEmit, ModuleKind>;
const isText = (emit: OneEmit): emit is Text => !modules.some((kind) => kind === emit);
const texts = (Object.keys(emits) as OneEmit[]).filter(isText);

interface CompileFlags extends ProgramFlags, PipelineFlags, OutputFlags {
  readonly emit: Emit;
  readonly printBefore?: string;
  readonly printAfter?: string;
  readonly timePasses?: boolean;
  readonly diffPage?: string;
  readonly dumpDir?: string;
  readonly records?: string;
  readonly out?: string;
  readonly strict?: boolean;
  readonly arithmetic?: Arithmetic;
  readonly json?: boolean;
}

/** Adds the command `tilec compile` and the command's flags to the command line. */
export function compileCommand(program: Command): void {
  addForce(addPipelineOptions(addProgramOptions(program.command("compile"))))
    .optionsGroup("Output:")
    .addOption(
      new Option("--emit <level>", "level or text to print")
        .choices([...Object.keys(emits), "all"])
        .default("tile"),
    )
    .addOption(arithmeticOption())
    .option("--print-before <pass>", "also print the IR before a pass, or before all")
    .option("--print-after <pass>", "after a pass, after all, or after those that changed it")
    .option("--time-passes", "print the time of each pass")
    .option("--dump-dir <folder>", "folder of --emit all: a file for each level and text")
    .option("--diff-page <file.html>", "changes of each pass as one self-contained page")
    .option("--records <file.jsonl>", "take the best schedule of a search's records")
    .addOption(
      new Option(
        "--out <path>",
        "file of the text (.js or .mjs of a module); else the folder of modules",
      ).conflicts("json"),
    )
    .option("--strict", "refuse --records of another task")
    .option("--json", "print one JSON document")
    .action(async (file: string | undefined, given: Omit<CompileFlags, "project">, command: Command) => {
      await compilePrograms(file, { ...given, project: await projectOf(command) });
    });
}

/** Flags of the command with the passes that they name, and the writer of its files. */
interface CompileContext {
  readonly flags: CompileFlags;
  readonly pipeline: Pick<CompileOptions, "passes">;
  readonly outputs: Outputs;
}

/** Compiles the programs of a file and prints or writes the texts that the flags name. Sets the exit code. */
async function compilePrograms(file: string | undefined, flags: CompileFlags): Promise<void> {
  const outputs = new Outputs("compile", flags);
  checkCombined(flags);
  const context = { flags, pipeline: await pipelineOf(flags), outputs };
  const programs = await programsFor(file, context);
  const folder = moduleFolder(flags);
  checkCount(flags, programs.length, folder !== undefined);
  if (folder === undefined) await writeTexts(programs, context);
  else await writeModules(programs, folder, context);
  process.exitCode = outputs.status(0);
}

/** Throws a UsageError for flags that cannot be combined. */
function checkCombined({ arithmetic, emit, strict, records, dumpDir, out }: CompileFlags): void {
  if (arithmetic !== undefined && !forDevices.includes(emit))
    throw new UsageError(
      `--arithmetic cannot be used with --emit ${emit}: it applies to ${forDevices.join(", ")}`,
    );
  if (strict === true && records === undefined)
    throw new UsageError("--strict needs --records: it refuses records of another task");
  if ((emit === "all") !== (dumpDir !== undefined))
    throw new UsageError(
      dumpDir === undefined
        ? "--emit all needs --dump-dir, the folder for its files"
        : "--dump-dir needs --emit all",
      "--emit all --dump-dir out",
    );
  if (emit === "all" && out !== undefined)
    throw new UsageError(
      "--out cannot be used with --emit all, which writes several texts",
      "leave --out out: --dump-dir names the folder",
    );
}

/** Throws a UsageError if a flag needs one program, and there are several. */
function checkCount({ diffPage, emit, out }: CompileFlags, count: number, toFolder: boolean): void {
  if (count <= 1) return;
  if (diffPage !== undefined) throw new UsageError(`--diff-page shows one program, and there are ${count}`);
  if (out !== undefined && !toFolder)
    throw new UsageError(
      `--out names one file, and there are ${count} programs`,
      moduleKind(emit) === undefined ? "choose one with --func" : "name a folder, or choose one with --func",
    );
}

/** Returns the kind of the module that `--emit` names; undefined for a text. */
const moduleKind = (emit: Emit): ModuleKind | undefined => modules.find((name) => name === emit);

/** Folder of the modules of several programs. */
interface ModuleFolder {
  readonly path: string;
  readonly kind: ModuleKind;
}

/** Returns the folder for modules that `--out` names; undefined if `--out` is absent or names a file. */
function moduleFolder({ emit, out }: CompileFlags): ModuleFolder | undefined {
  const kind = moduleKind(emit);
  return kind === undefined || out === undefined || moduleFile.test(out) ? undefined : { path: out, kind };
}

/** Loads the programs of a file, or the programs of an ONNX model that the flags name. */
function programsFor(
  file: string | undefined,
  { flags, pipeline, outputs }: CompileContext,
): Promise<readonly LoadedProgram[]> {
  const stated = kernelFlags(flags);
  const refuse: Refuse = (diagnostics) => {
    outputs.refuse(diagnostics);
  };
  return loadPrograms(file, stated, {
    fromModel: (model) => loadModelFor(model, stated, flags, { pipeline, refuse }),
    refuse,
  });
}

/** Writes a module for each program into a folder. */
async function writeModules(
  programs: readonly LoadedProgram[],
  { path, kind }: ModuleFolder,
  context: CompileContext,
): Promise<void> {
  const { writeModuleFolder } = await import("./module-folder.js");
  await writeModuleFolder(programs, context.outputs, {
    path,
    compileAs: (loaded) => compileOne(loaded, context),
    emitAs: (kernel) => moduleOf(kernel, kind, context.flags),
  });
}

/** Compiles programs and prints their texts, or writes them to the files that the flags name. */
async function writeTexts(programs: readonly LoadedProgram[], context: CompileContext): Promise<void> {
  const { flags, outputs } = context;
  const { emit, diffPage, dumpDir, out } = flags;
  outputs.check(diffPage, outputFormats.markup);
  if (emit !== "all") outputs.check(out, emits[emit].format);
  const named = programs.map((loaded) => ({ name: loaded.func.name, loaded }));
  const kernels = await outputs.each(named, ({ loaded }) => compileOne(loaded, context));
  if (emit === "all") await writeAll(kernels, outputs.folder(dumpDir ?? ""), outputs, flags);
  else if (flags.json === true) {
    const documents = await outputs.each(kernels, (kernel) => kernelJson(kernel, emit, flags));
    printJson({ command: "compile", kernels: documents, ...outputs.refusals() });
  } else {
    await outputs.each(kernels, async (kernel) => {
      printDiagnostics(kernel.diagnostics);
      if (out === undefined) print(await emitted(kernel, emit, flags));
      else await writeOut(kernel, out, emit, outputs, flags);
    });
  }
}

/**
 * Loads programs of an ONNX model. With `--func`, loads only the gather of that name. Without `--func`, loads
 * all programs that the model needs.
 */
async function loadModelFor(
  file: string,
  stated: CompileFlags,
  flags: CompileFlags,
  { pipeline, refuse }: { readonly pipeline: Pick<CompileOptions, "passes">; readonly refuse: Refuse },
): Promise<LoadedProgram[]> {
  const how = { target: foldedFor(flags), refuse };
  if (flags.func !== undefined) return (await import("./load-model.js")).loadModelPrograms(file, stated, how);
  const { loadNeededPrograms } = await import("./load-needed-programs.js");
  return loadNeededPrograms(file, stated, pipeline, how);
}

/**
 * Compiles one program under the flags and resolves to the kernel. Prints the IR before and after the passes
 * that the flags name, and writes the page of `--diff-page`.
 */
async function compileOne(
  loaded: LoadedProgram,
  { flags, pipeline, outputs }: CompileContext,
): Promise<Kernel> {
  const { func } = loaded;
  const printer = passPrinter(flags, pipeline.passes ?? defaultPipeline, flags.json === true ? note : print);
  const steps: PassStep[] = [];
  const options = { ...targeting(kernelFlags(flags)), ...pipeline };
  const scheduled =
    flags.records === undefined
      ? func
      : (await import("./replay-records.js")).replay(loaded, flags.records, flags, options);
  const compiled = compile(scheduled, {
    ...options,
    beforePass: (pass, before) => {
      printer.beforePass(pass, before);
    },
    afterPass(pass, before, after, milliseconds) {
      steps.push({ pass: pass.name, before, after });
      printer.afterPass(pass, before, after, milliseconds);
    },
  });
  if (flags.diffPage !== undefined) {
    const { passPage } = await import("../report/pass-page.js");
    const page = passPage(`@${func.name} on ${compiled.target.name}`, steps);
    outputs.write(flags.diffPage, page, outputFormats.markup);
  }
  if (pipeline.passes !== undefined) return compiled;
  return { ...compiled, diagnostics: [...compiled.diagnostics, ...residencyHint(scheduled, options)] };
}

/** Texts for a WebGPU device, whatever the target of the kernel. */
const forDevices: readonly CompileFlags["emit"][] = ["wgsl", "gpu-stats", "module", "all"];

/**
 * Returns the flags with which a kernel is compiled. `--limits` is left out if `--target` names no WebGPU
 * target but `--emit` names a WebGPU text. The limits then hold for that text only.
 */
function kernelFlags({ limits, ...flags }: CompileFlags): CompileFlags {
  const target = flags.target === undefined ? undefined : resolveTarget(flags.target, flags.project);
  const elsewhere = target === undefined || !targetFacts[target.kind].runsOnWebgpu;
  return limits === undefined || (elsewhere && forDevices.includes(flags.emit))
    ? flags
    : { ...flags, limits };
}

/**
 * Returns the target whose estimated cycles decide which nodes of an ONNX model are merged into a gather. The
 * target is WebGPU if `--emit` names a text for a WebGPU device, else the kernel's target.
 */
function foldedFor(flags: CompileFlags): ReturnType<typeof targeting> {
  const { target, findTarget } = targeting(kernelFlags(flags));
  const onDevice = typeof target === "object" && targetFacts[target.kind].runsOnWebgpu;
  const device = onDevice || !forDevices.includes(flags.emit) ? target : limitedTo(webgpu, flags.limits);
  return defined({ findTarget, target: device });
}

/** Returns the WebGPU target that texts for a device are for: the kernel's own, or the built-in one. */
const deviceFor = ({ target }: Kernel, { limits }: CompileFlags): Target =>
  targetFacts[target.kind].runsOnWebgpu ? target : limitedTo(webgpu, limits);

/**
 * Resolves to the text of a kernel in the format that `--emit` names. Rejects with a CompileError if the
 * kernel has no text in that format.
 */
async function emitted(kernel: Kernel, emit: OneEmit, flags: CompileFlags): Promise<string> {
  switch (emit) {
    case "module":
    case "module-cpu":
      return (await moduleOf(kernel, emit, flags)).code;
    case "wgsl":
      return wgslOf(kernel, flags).code;
    case "gpu-stats": {
      const { renderGpuStats } = await import("../report/gpu-stats.js");
      const { device, wgsl } = deviceKernel(kernel, flags);
      return renderGpuStats(kernel.name, kernelStats(device.tile, wgsl), device.target);
    }
    case "wat":
      return watOf(kernel.tile);
    case "pto":
      return kernel.pto().code;
    case "pypto":
      return kernel.pypto();
    case "moves":
      return printMoves(movesFor(kernel));
    case "plan": {
      const { renderPlan } = await import("../report/memory-plan.js");
      return renderPlan(explainTile(kernel.tile, { target: kernel.target }));
    }
    case "source":
    case "access":
    case "tile":
      return kernel.text(emit);
  }
}

/** Resolves to the JavaScript module of a kernel, with the runtime and the type declarations. */
async function moduleOf(kernel: Kernel, kind: ModuleKind, flags: CompileFlags): Promise<EmittedModule> {
  const [{ emitModule }, { runtimeOf }] = await Promise.all([
    import("../module/emit-module.js"),
    import("../module/runtime-of.js"),
  ]);
  return emitModule(kernel, kind, runtimeOf, deviceFor(kernel, flags), flags.arithmetic);
}

/**
 * Writes the text of a kernel to a file, and the type declarations of a module to a `.d.ts` file. If the file
 * cannot be written, the text is printed.
 */
async function writeOut(
  kernel: Kernel,
  file: string,
  emit: OneEmit,
  outputs: Outputs,
  flags: CompileFlags,
): Promise<void> {
  const kind = moduleKind(emit);
  const { code, declarations } =
    kind === undefined
      ? { code: await emitted(kernel, emit, flags), declarations: undefined }
      : await moduleOf(kernel, kind, flags);
  if (!outputs.write(file, code, emits[emit].format)) print(code);
  else if (declarations !== undefined)
    outputs.write(file.replace(moduleFile, ".d.$1ts"), declarations, outputFormats.code);
}

/**
 * Returns the WGSL of a kernel. If the kernel needs more than the limits of every device, a comment line at
 * the top names the limits to raise. If the kernel was compiled again for WebGPU, a comment line says so.
 */
function wgslOf(kernel: Kernel, flags: CompileFlags): WgslKernel {
  const { device, wgsl } = deviceKernel(kernel, flags);
  const raised = raisedLimits(wgsl);
  const said = [
    ...(device === kernel
      ? []
      : [`compiled again for webgpu: the program's target is ${kernel.target.name}`]),
    ...(Object.keys(raised).length === 0
      ? []
      : [`request a device with more than every device has: ${formatLimits(raised)}`]),
  ];
  return { ...wgsl, code: [...said.map((line) => `// ${line}\n`), wgsl.code].join("") };
}

/**
 * Returns a kernel for WebGPU and the WGSL text; a kernel for another target is compiled again. Throws a
 * CompileError (TC502) for a tile program of another target.
 */
function deviceKernel(
  kernel: Kernel,
  flags: CompileFlags,
): { readonly device: Kernel; readonly wgsl: WgslKernel } {
  const { pipeline, load = [] } = flags;
  const { name, source, access, target } = kernel;
  if (source === undefined && access === undefined && !targetFacts[target.kind].runsOnWebgpu) {
    const modules = load.map((file) => ` --load ${file}`).join("");
    const suffix = pipeline === undefined ? "" : `${modules} --pipeline "${pipeline}"`;
    const hint = `with the program that it was compiled from: tilec compile SOURCE.tir --target webgpu${suffix} --emit ${flags.emit === "gpu-stats" ? "gpu-stats" : "wgsl"}`;
    throw new CompileError([
      error("TC502", `@${name} is a tile program for ${target.name}, and webgpu needs another`, { hint }),
    ]);
  }
  const device = kernel.forTarget(deviceFor(kernel, flags));
  const wgsl = emitWgsl(device.tile, {
    limits: deviceLimits(device.target),
    target: device.target,
    ...defined({ arithmetic: flags.arithmetic }),
  });
  return { device, wgsl };
}

/**
 * Returns the plan of the moves on the machine that runs the kernel: a GPU if the kernel is compiled for one,
 * else the fast executor.
 */
function movesFor(kernel: Kernel): MovePlan {
  if (!targetFacts[kernel.target.kind].runsOnWebgpu) return wasmMoves(kernel.tile);
  const { tile, target } = kernel;
  return movesOf(planWgsl(tile, { limits: deviceLimits(target), target }));
}

/** Resolves to the JSON document of a kernel: name, target, schedule, text, footprint and diagnostics. */
async function kernelJson(kernel: Kernel, emit: OneEmit, flags: CompileFlags) {
  return {
    name: kernel.name,
    target: kernel.target.name,
    schedule: kernel.tile.schedule,
    emit,
    text: await emitted(kernel, emit, flags),
    footprint: kernel.footprint,
    diagnostics: kernel.diagnostics,
  };
}

interface Written {
  readonly name: string;
  readonly emit: Text;
  readonly file?: string;
  /** Diagnostics with the reason why the text or the file is missing. */
  readonly diagnostics?: readonly Diagnostic[];
}

/**
 * Writes one file for each level and text of each kernel, for example `gather.03-tile.tir`. Prints a line for
 * each text that a kernel does not have.
 */
async function writeAll(
  kernels: readonly Kernel[],
  folder: OutputFolder,
  outputs: Outputs,
  flags: CompileFlags,
): Promise<void> {
  const names = fileNames(kernels.map(({ name }) => name));
  const written: Written[] = [];
  for (const [k, kernel] of kernels.entries()) {
    for (const [place, emit] of texts.entries()) {
      const { ending, format } = emits[emit];
      const described = { name: kernel.name, emit };
      const text = await orRefused(() => emitted(kernel, emit, flags));
      if (typeof text !== "string") {
        written.push({ ...described, diagnostics: text });
        continue;
      }
      const name = `${names[k] ?? ""}.${String(place + 1).padStart(2, "0")}-${emit}.${ending}`;
      const file = folder.write(name, text.endsWith("\n") ? text : `${text}\n`, format);
      written.push({
        ...described,
        ...(file === undefined ? { diagnostics: outputs.diagnostics.slice(-1) } : { file }),
      });
    }
  }
  if (flags.json === true) {
    printJson({ command: "compile", emit: "all", files: written, ...outputs.refusals() });
    return;
  }
  for (const kernel of kernels) printDiagnostics(kernel.diagnostics);
  for (const { name, emit, file, diagnostics: [why] = [] } of written) {
    if (file !== undefined) print(file);
    else if (why !== undefined && !outputs.diagnostics.includes(why))
      note(`@${name} has no ${emit}: ${why.message}`);
  }
}

/**
 * Resolves to the text of a kernel, or to the diagnostics if the emitter refuses the kernel with a
 * CompileError. Rejects with any other error.
 */
async function orRefused(text: () => Promise<string>): Promise<string | readonly Diagnostic[]> {
  try {
    return await text();
  } catch (thrown) {
    if (thrown instanceof CompileError) return thrown.diagnostics;
    throw thrown;
  }
}
