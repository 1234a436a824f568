/** The flags that describe a program and its schedule, shared by every command that takes one. */
import { executors } from "../../backends/sim/index.js";
import { Option, type Command } from "commander";
import {
  defined,
  attributeAliases,
  attributeFlags,
  CompileError,
  dialects,
  error,
  opDefs,
  operatorNames,
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
import { dashed, flagOf, parseEntry, type AttributeFlag } from "./flag-values.js";
import { UsageError } from "./usage-error.js";

export {
  dashed,
  flagOf,
  parseBind,
  parseCount,
  parseMaxSizes,
  parseShape,
  parseType,
  type AttributeFlag,
} from "./flag-values.js";

/** What a command works with beside its flags. */
export interface ProjectFlags {
  /** Of `--config`, or found. */
  readonly project: Project;
}

/** As commander hands them over: every flag optional, numbers and lists as text. */
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
  /** Of run: `name=file.npy`. */
  readonly input?: readonly string[];
}

/** The dialect of `--op` where nobody names one. */
export const plainDialect = "onnx";
const operatorHelp = `${operatorNames(plainDialect).join(", ")} of ${plainDialect}; others with their dialects: ${opDefs
  .flatMap(({ name }) => (name.startsWith(`${plainDialect}.`) ? [] : [name]))
  .join(", ")}`;

export function addProgramOptions(command: Command): Command {
  command
    .argument(
      "[program]",
      "a .tir file, an .onnx model, a case file or a graph that PyPTO dumped, or - for the standard input; or describe the gather with --op",
    )
    .option("--op <name>", operatorHelp)
    .addOption(new Option("--dialect <name>", "whose rules apply").choices([...dialects]))
    .option("--data <type>", "data, such as f32[4096,1024]")
    .option(
      "--indices <type>",
      "indices, such as i32[4096,1024], or a .npy file of them; repeat for an operator's further inputs",
      collect,
    );
  addAttributeOptions(command, attributeFlags);
  command
    .addOption(
      new Option("--oob <policy>", "what an index out of range means").choices([...outOfBoundsPolicies]),
    )
    .option("--case <id>", "one case of a case file, or configuration of --spatter, from 0")
    .option("--spatter <file.json>", "gathers of a file of Spatter's, with their patterns as indices")
    .option("--func <name>", "one function of a .tir file or gather of a model")
    .option(
      "--bind <list>",
      "sizes of symbols: N=37; of a model the extents of its symbolic dims, shapes of its inputs: batch=1,state=2x1x128",
    )
    .option("--most <list>", "of a model the most of outermost dims that stay open: batch=64")
    .addOption(foldOption())
    .option("--target <name|file>", `${targetNames.join(", ")}, or a target file (.json)`)
    .option("--limits <list|file>", limitsHelp);
  for (const entry of Object.values(scheduleEntries)) {
    command.addOption(entryOption(entry));
    if (entry.key === "buffers") command.option("--double-buffer", "short for --buffers 2");
  }
  return command;
}

/** A flag for each attribute key; two keys that differ by a dash alone share one. What frameworks call it is a second name of the flag. */
export function addAttributeOptions(command: Command, flags: ReadonlyMap<string, AttributeFlagText>): void {
  for (const flag of new Set([...flags.keys()].map(camelCase))) {
    // Frameworks spell a key in two ways, and its flag in one.
    const specs = [...flags].flatMap(([key, spec]) => (camelCase(key) === flag ? [spec] : []));
    const kind = specs[0]?.kind ?? "word";
    const argument = `<${kind === "int" ? "n" : kind === "ints" ? "list" : kind}>`;
    const aliases = [...attributeAliases].flatMap(([alias, key]) =>
      flagOf(key) === flag ? [dashed(alias)] : [],
    );
    const also = aliases.map((alias) => `; or --${alias}`).join("");
    command.option(`--${dashed(flag)} ${argument}`, specs.map(({ help }) => help).join("; ") + also);
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

/** `--fold`. */
export const foldOption = (): Option =>
  new Option(
    "--fold <policy>",
    "of a model, gathers with what stands around them in one kernel: where that takes fewer cycles, launches included (cost, the default), always, or never",
  ).choices([...foldPolicies]);

export const executorOption = (): Option =>
  new Option(
    "--executor <name>",
    "of sim: checked traps what a program does wrong, fast compiles it",
  ).choices([...executors]);

/** `2/8`: the second of eight parts. */
export function parseShard(text: string): { readonly part: number; readonly parts: number } {
  const [, part, parts] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (part === undefined || parts === undefined || part < 1 || part > parts) {
    throw new UsageError(`--shard ${text} is not i/n`, "--shard 1/4");
  }
  return { part, parts };
}

export function scheduleOf(flags: ProgramFlags): Schedule {
  if (flags.buffers !== undefined && flags.doubleBuffer === true)
    throw new UsageError("give --buffers or --double-buffer, not both", "--double-buffer is --buffers 2");
  const given = Object.values(scheduleEntries).flatMap(({ key }) => {
    const text = flags[key];
    return text === undefined ? [] : [[key, parseEntry(key, text)] as const];
  });
  return { ...Object.fromEntries(given), ...(flags.doubleBuffer === true ? { buffers: 2 } : {}) };
}

/** By the root of a command line, which opens its project once. */
const opened = new WeakMap<Command, Promise<Project>>();

/** The project of the command line that a command is of. `flags`: read from it already. Rejects with a ConfigError. */
export function projectOf(
  command: Command,
  { config }: ConfigFlags = command.optsWithGlobals<ConfigFlags>(),
): Promise<Project> {
  const root = rootOf(command);
  const project = opened.get(root) ?? openProject(config);
  opened.set(root, project);
  return project;
}

const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent));

/** Of every command: a file, or false for `--no-config`. */
export interface ConfigFlags {
  readonly config?: string | false;
}

/** The target that `--target` names. Throws a CompileError (TC501). */
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

/** The target of `--target`, with the limits of `--limits`; undefined without a target. Throws a UsageError for limits of no WebGPU device. */
export function targetOfFlags({ target, limits, project }: TargetFlags): Target | undefined {
  if (target !== undefined) return limitedTo(resolveTarget(target, project), limits);
  if (limits === undefined) return undefined;
  throw new UsageError("--limits are those of a WebGPU device, and no target is named", "--target webgpu");
}

type TargetFlags = Pick<ProgramFlags, "target" | "limits"> & ProjectFlags;

/** What the compiler is told of targets: that of `--target`, and how the names of programs are looked up. */
export function targeting(flags: TargetFlags): Pick<CompileOptions, "target" | "findTarget"> {
  const target = targetOfFlags(flags);
  return { ...defined({ target }), findTarget: flags.project.findTarget };
}
