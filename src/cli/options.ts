/** The flags that describe a program and its schedule, shared by every command that takes one. */
import { executors } from "../../backends/sim/index.js";
import { arithmetics } from "../../backends/wgsl/arithmetic.js";
import { Option, type Command } from "commander";
import {
  defined,
  attributeAliases,
  attributeFlags,
  CompileError,
  dialects,
  error,
  outOfBoundsPolicies,
  scheduleEntries,
  targetNames,
  type AttributeFlagText,
  type Schedule,
  type ScheduleEntry,
  type Target,
} from "../../ir/index.js";
import { camelCase } from "../../ir/ops/attributes.js";
import { openProject } from "../config/open-project.js";
import type { Project } from "../config/project.js";
import type { CompileOptions } from "../api/compile.js";
import { foldPolicies } from "../formats/onnx/fold-policies.js";
import { collect } from "./collect.js";
import { limitedTo, limitsHelp } from "./device-limits.js";
import { argumentOf, dashed, flagOf, parseEntry, type AttributeFlag } from "./flag-values.js";
import { attributesHeading, rootOf } from "./help-layout.js";
import { UsageError } from "./usage-error.js";

export {
  dashed,
  flagOf,
  parseBind,
  parseCount,
  parseCountFrom,
  parseMaxSizes,
  parseSeed,
  parseShape,
  parseThreads,
  parseType,
  type AttributeFlag,
} from "./flag-values.js";

/**
 * Field that commands add to their parsed flags: the project, which holds the validated contents of the
 * config file.
 */
export interface ProjectFlags {
  /** Project of the config file that `--config` names, or of the config file that is found. */
  readonly project: Project;
}

/**
 * Command-line flags that describe a program and a schedule, as the library `commander` returns them.
 * Attributes and schedule entries are texts that tilec has not parsed yet.
 */
export interface ProgramFlags extends Readonly<Partial<Record<AttributeFlag | keyof Schedule, string>>> {
  readonly op?: string;
  readonly dialect?: string;
  readonly data?: string;
  /** One for each index input. */
  readonly indices?: readonly string[];
  readonly oob?: string;
  readonly case?: string;
  readonly spatter?: string;
  readonly func?: string;
  readonly bind?: string;
  readonly most?: string;
  readonly fold?: string;
  readonly target?: string;
  readonly limits?: string;
  readonly doubleBuffer?: boolean;
  /** Inputs of `run`, each as `name=file.npy`. */
  readonly input?: readonly string[];
}

/** Adds the flags that describe a program, target and schedule to a command. Returns the command. */
export function addProgramOptions(command: Command): Command {
  command
    .argument("[program]", "a .tir, .onnx or case file, or a graph that PyPTO dumped; - reads stdin")
    .optionsGroup("Program, if no file gives it:")
    .option("--op <name>", "operator, such as torch.gather (see tilec help op)")
    .addOption(new Option("--dialect <name>", "whose operator it is").choices([...dialects]))
    .option("--data <type>", "type of the data, such as f32[4096,1024]")
    .option("--indices <type>", "type of the next index input, or a .npy file", collect);
  addAttributeOptions(command, attributeFlags);
  command
    .addOption(new Option("--oob <policy>", "bad indices").choices([...outOfBoundsPolicies]))
    .optionsGroup("Target and schedule:")
    .option("--target <name|file>", `${targetNames.join(", ")}, a .json file`)
    .option("--limits <list|file>", limitsHelp);
  for (const entry of Object.values(scheduleEntries)) {
    command.addOption(entryOption(entry));
    if (entry.key === "buffers")
      command.addOption(new Option("--double-buffer", "short for --buffers 2").conflicts("buffers"));
  }
  return command
    .optionsGroup("Part and sizes of a file:")
    .option("--func <name>", "one function of a .tir file, or gather of a model")
    .option("--case <id>", "one case of a case file; configuration of --spatter")
    .option("--spatter <file.json>", "gathers and scatters of Spatter's patterns")
    .option("--bind <list>", "sizes of symbols: N=37,state=2x1x128")
    .option("--most <list>", "largest sizes of dynamic dims of a model: batch=64")
    .addOption(foldOption());
}

/**
 * Adds one flag for each operator attribute in `flags` to a command. Keys that differ only by a separator
 * (`batchDims`, `batch_dims`) have one flag; framework names are hidden aliases.
 */
export function addAttributeOptions(command: Command, flags: ReadonlyMap<string, AttributeFlagText>): void {
  for (const flag of new Set([...flags.keys()].map(camelCase))) {
    // Frameworks spell a key in two ways, and its flag in one.
    const specs = [...flags].flatMap(([key, spec]) => (camelCase(key) === flag ? [spec] : []));
    const argument = `<${argumentOf(specs[0]?.kind ?? "word")}>`;
    const aliases = [...attributeAliases].flatMap(([alias, key]) =>
      flagOf(key) === flag ? [dashed(alias)] : [],
    );
    const also = aliases.map((alias) => `; or --${alias}`).join("");
    const text = specs.map(({ help }) => help).join("; ") + also;
    command.addOption(new Option(`--${dashed(flag)} ${argument}`, text).helpGroup(attributesHeading));
    for (const alias of aliases) {
      const option = new Option(`--${alias} ${argument}`).hideHelp();
      option.attributeName = () => flag;
      command.addOption(option);
    }
  }
}

function entryOption(entry: ScheduleEntry): Option {
  const { flag, argument, help, usage = "" } = entry;
  const option = new Option(`--${flag} <${argument}>`, help + usage);
  return entry.form === "word" ? option.choices([...entry.words]) : option;
}

/**
 * Returns the option `--fold`, which chooses when model nodes next to a gather are merged into the gather's
 * kernel.
 */
export const foldOption = (): Option =>
  new Option("--fold <policy>", "fold nodes around gathers").choices([...foldPolicies]);

/**
 * Returns the option `--arithmetic`, which chooses how WebGPU computes f32: with the exact bits of the
 * reference, or with the device's native operations.
 */
export const arithmeticOption = (): Option =>
  new Option("--arithmetic <name>", "f32 on WebGPU: the stated bits, or the device's own").choices([
    ...arithmetics,
  ]);

/**
 * Returns the option `--ulp`: the largest allowed difference, in units in the last place, between results of
 * native arithmetic and those of the reference.
 */
export const ulpOption = (): Option =>
  new Option("--ulp <n>", "units in the last place that native arithmetic may be off");

/**
 * Returns the option `--executor`, which chooses the interpreter that runs programs in the simulator backend
 * `sim`.
 */
export const executorOption = (): Option =>
  new Option("--executor <name>", "executor of sim").choices([...executors]);

/**
 * Parses the value of `--shard`: `2/8` means the second of eight parts of the work. Throws a UsageError for
 * any other text or for a part above the number of parts.
 */
export function parseShard(text: string): { readonly part: number; readonly parts: number } {
  const [, part, parts] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (part === undefined || parts === undefined || part < 1 || part > parts) {
    throw new UsageError(`--shard ${text} is not of the form i/n, with i from 1 to n`, "--shard 1/4");
  }
  return { part, parts };
}

/**
 * Returns every item of the part that `--shard` names, or all items without the flag. Throws as parseShard.
 */
export function shardOf<T>(items: readonly T[], text: string | undefined): readonly T[] {
  if (text === undefined) return items;
  const { part, parts } = parseShard(text);
  return items.filter((_, k) => k % parts === part - 1);
}

/**
 * Returns the schedule entries, for example the tile shape, that command-line flags set.
 */
export function scheduleOf(flags: ProgramFlags): Schedule {
  const given = Object.values(scheduleEntries).flatMap(({ key }) => {
    const text = flags[key];
    return text === undefined ? [] : [[key, parseEntry(key, text)] as const];
  });
  return { ...Object.fromEntries(given), ...(flags.doubleBuffer === true ? { buffers: 2 } : {}) };
}

/**
 * By the root of a command line, which opens its project once: commander hands a command nothing but its
 * flags.
 */
const opened = new WeakMap<Command, Promise<Project>>();

/**
 * Resolves to the project: the validated contents of the config file, cached per command line. `config`:
 * value of `--config`. Rejects with a ConfigError if the config cannot be used.
 */
export function projectOf(
  command: Command,
  { config }: ConfigFlags = command.optsWithGlobals<ConfigFlags>(),
): Promise<Project> {
  const root = rootOf(command);
  const project = opened.get(root) ?? openProject(config);
  opened.set(root, project);
  return project;
}

/** Value of the flag `--config`: a file path, or false for `--no-config`. */
export interface ConfigFlags {
  readonly config?: string | false;
}

/**
 * Returns the target that `--target` names: a built-in target, a target of the project, or a target file.
 * Throws a CompileError (TC501) for an unknown target.
 */
export function resolveTarget(name: string, { findTarget, targets }: Project): Target {
  const target = findTarget(name);
  if (target === undefined) {
    const names = [...targetNames, ...targets.map((target) => target.name)];
    throw new CompileError([
      error("TC501", `unknown target ${name}`, {
        hint: `one of ${names.join(", ")}, or a .json file (tilec targets NAME --json makes one)`,
      }),
    ]);
  }
  return target;
}

/**
 * Returns the target of `--target` with the WebGPU device limits of `--limits`; undefined without the two
 * flags. Throws a UsageError for `--limits` without a WebGPU target.
 */
export function targetOfFlags({ target, limits, project }: TargetFlags): Target | undefined {
  if (target !== undefined) return limitedTo(resolveTarget(target, project), limits);
  if (limits === undefined) return undefined;
  throw new UsageError("--limits needs --target webgpu, and no target is named", "--target webgpu");
}

type TargetFlags = Pick<ProgramFlags, "target" | "limits"> & ProjectFlags;

/**
 * Returns the compiler options `target` and `findTarget` for a command's flags. `target` is absent without
 * the flag `--target`. Throws a UsageError or CompileError like {@link targetOfFlags}.
 */
export function targeting(flags: TargetFlags): Pick<CompileOptions, "target" | "findTarget"> {
  const target = targetOfFlags(flags);
  return { ...defined({ target }), findTarget: flags.project.findTarget };
}
