/** The flags that describe a program and its schedule, shared by every command that takes one. */
import { executors } from "../../backends/sim/index.js";
import { Option, type Command } from "commander";
import {
  attributeFlags,
  budgetRules,
  CompileError,
  dialects,
  error,
  isDType,
  operatorKinds,
  outOfBoundsPolicies,
  profiles,
  residencies,
  targetNames,
  type AttributeKey,
  type Buffers,
  type Copies,
  type Schedule,
  type Shape,
  type Target,
  type TensorType,
} from "../../ir/index.js";
import { lookUpTarget } from "../formats/look-up-target.js";

/** As commander hands them over: every flag optional, numbers and lists as text. */
export interface ProgramFlags extends Readonly<Partial<Record<AttributeKey, string>>> {
  readonly op?: string;
  readonly dialect?: string;
  readonly data?: string;
  readonly indices?: string;
  readonly oob?: string;
  readonly case?: string;
  readonly func?: string;
  readonly bind?: string;
  readonly target?: string;
  readonly tile?: string;
  readonly view?: string;
  readonly profile?: Schedule["profile"];
  readonly residency?: Schedule["residency"];
  readonly order?: string;
  readonly buffers?: string;
  readonly doubleBuffer?: boolean;
  readonly cores?: string;
  readonly budgetRule?: Schedule["budgetRule"];
  readonly ubBytes?: string;
}

/** A command line that cannot be understood: exit code 2. */
export class UsageError extends CompileError {
  constructor(message: string, hint?: string) {
    super([error("TC701", message, hint === undefined ? {} : { hint })]);
  }
}

/** `batchDims` is the flag `--batch-dims`. */
export const dashed = (key: string): string =>
  key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export function addProgramOptions(command: Command): Command {
  command
    .argument("[program]", "a .tir file, an .onnx model or a case file; or describe the gather with --op")
    .addOption(new Option("--op <name>", `${operatorKinds.join(", ")}; or with its dialect, pypto.gather`))
    .addOption(new Option("--dialect <name>", "whose rules apply").choices([...dialects]))
    .option("--data <type>", "data, such as f32[4096,1024]")
    .option("--indices <type>", "indices, such as i32[4096,1024]");
  for (const [key, { kind, help }] of attributeFlags) {
    command.option(`--${dashed(key)} <${kind === "int" ? "n" : "word"}>`, help);
  }
  return command
    .addOption(
      new Option("--oob <policy>", "what an index out of range means").choices([...outOfBoundsPolicies]),
    )
    .option("--case <id>", "one case of a case file")
    .option("--func <name>", "one function of a .tir file or gather of a model")
    .option(
      "--bind <list>",
      "extents of a model's symbolic dims, shapes of its inputs: batch=1,state=2x1x128",
    )
    .option("--target <name|file>", `${targetNames.join(", ")}, or a target file (.json)`)
    .option("--tile <shape>", "extents over the output dims, such as 8,1024")
    .option("--view <shape>", "view shape: splits the iteration before the tile does")
    .addOption(new Option("--profile <name>", "full-load rule").choices([...profiles]))
    .addOption(new Option("--residency <name>", "where the data lives").choices([...residencies]))
    .option("--order <dims>", "output dims, outermost loop first, such as 1,0")
    .option("--buffers <n|list>", "copies of what the loops move: 2, or by operand as in indices=2,output=2")
    .option("--double-buffer", "short for --buffers 2")
    .option("--cores <n>", "cores that share the tasks")
    .addOption(new Option("--budget-rule <rule>", "what counts against UB").choices([...budgetRules]))
    .option("--ub-bytes <n>", "unified buffer size in bytes, instead of the target's");
}

export const executorOption = (): Option =>
  new Option(
    "--executor <name>",
    "of sim: checked traps what a program does wrong, fast compiles it",
  ).choices([...executors]);

/** `f32[4096,1024]`; `f32[]` or `f32` is a scalar. */
export function parseType(text: string, flag: string): TensorType {
  const match = /^([a-z]+\d*)(?:\[([\d,\s]*)\])?$/.exec(text.trim());
  const dtype = match?.[1] ?? "";
  if (match === null || !isDType(dtype)) {
    throw new UsageError(`--${flag} ${text} is no tensor type`, `write it as f32[4096,1024]`);
  }
  const inside = (match[2] ?? "").trim();
  return { dtype, shape: inside === "" ? [] : parseShape(inside, flag) };
}

/** `8,1024`, also with spaces, brackets or an x between. Entries may be 0 or negative; rules judge them later. */
export function parseShape(text: string, flag: string): Shape {
  const parts = text.replace(/^\[|\]$/g, "").split(/[,x]/);
  const shape = parts.map((part) => Number(part.trim() === "" ? "none" : part));
  if (shape.some((entry) => !Number.isSafeInteger(entry))) {
    throw new UsageError(`--${flag} ${text} is no list of whole numbers`, `write it as --${flag} 8,1024`);
  }
  return shape;
}

export function parseCount(text: string, flag: string): number {
  const value = Number(text.trim() === "" ? "none" : text);
  if (!Number.isSafeInteger(value)) throw new UsageError(`--${flag} ${text} is no whole number`);
  return value;
}

/** `2/8`: the second of eight parts. */
export function parseShard(text: string): { readonly part: number; readonly parts: number } {
  const [, part, parts] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (part === undefined || parts === undefined || part < 1 || part > parts) {
    throw new UsageError(`--shard ${text} is not i/n`, "--shard 1/4");
  }
  return { part, parts };
}

/** `2`, or `indices=2,output=2`. Which operands there are is for the rules to say. */
export function parseBuffers(text: string): Buffers {
  const refuse = (): never => {
    throw new UsageError(
      `--buffers ${text}: copies are 1 or 2`,
      "write --buffers 2 or --buffers indices=2,output=2",
    );
  };
  const copies = (count: string | undefined): Copies => (count === "1" ? 1 : count === "2" ? 2 : refuse());
  if (!text.includes("=")) return copies(text.trim());
  const entries = text.split(",").map((entry): [string, Copies] => {
    const [operand = "", count, ...more] = entry.split("=").map((part) => part.trim());
    return operand === "" || more.length > 0 ? refuse() : [operand, copies(count)];
  });
  const named = Object.fromEntries(entries);
  return Object.keys(named).length < entries.length ? refuse() : named;
}

/** `batch=1,state=2x1x128,ids=[5]`: an extent by the name of a dim, a shape by the name of an input. */
export function parseBind(text: string): Readonly<Record<string, number | Shape>> {
  const refuse = (what: string): never => {
    throw new UsageError(`--bind ${text}: ${what}`, "write --bind batch=1,state=2x1x128,ids=[5]");
  };
  const bound = new Map<string, number | Shape>();
  // Commas within brackets are those of a shape.
  for (const entry of text.split(/,(?![^[]*\])/)) {
    const split = entry.lastIndexOf("=");
    const [name, value] = [entry.slice(0, Math.max(0, split)).trim(), entry.slice(split + 1).trim()];
    if (name === "" || value === "") refuse(`${entry} is not name=extent`);
    if (bound.has(name)) refuse(`${name} is given twice`);
    bound.set(name, /^\d+$/.test(value) ? Number(value) : parseShape(value, "bind"));
  }
  return Object.fromEntries(bound);
}

export function scheduleOf(flags: ProgramFlags): Schedule {
  if (flags.buffers !== undefined && flags.doubleBuffer === true)
    throw new UsageError("give --buffers or --double-buffer, not both", "--double-buffer is --buffers 2");
  const shape = (name: "tile" | "view" | "order") =>
    flags[name] === undefined ? {} : { [name]: parseShape(flags[name], name) };
  return {
    ...shape("tile"),
    ...shape("view"),
    ...shape("order"),
    ...(flags.profile === undefined ? {} : { profile: flags.profile }),
    ...(flags.residency === undefined ? {} : { residency: flags.residency }),
    ...(flags.buffers === undefined ? {} : { buffers: parseBuffers(flags.buffers) }),
    ...(flags.doubleBuffer === true ? { buffers: 2 } : {}),
    ...(flags.cores === undefined ? {} : { cores: parseCount(flags.cores, "cores") }),
    ...(flags.budgetRule === undefined ? {} : { budgetRule: flags.budgetRule }),
    ...(flags.ubBytes === undefined ? {} : { ubBytes: parseCount(flags.ubBytes, "ub-bytes") }),
  };
}

/** The target that `--target` names. Throws a CompileError (TC501). */
export function resolveTarget(name: string): Target {
  const target = lookUpTarget(name);
  if (target === undefined) {
    throw new CompileError([
      error("TC501", `unknown target ${name}`, {
        hint: `one of ${targetNames.join(", ")}, or a .json file (tilec targets NAME --json makes one)`,
      }),
    ]);
  }
  return target;
}
