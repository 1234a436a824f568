/** The flags that describe a program and its schedule, shared by every command that takes one. */
import { executors } from "../../backends/sim/index.js";
import { Option, type Command } from "commander";
import {
  attributeFlags,
  budgetRules,
  CompileError,
  dialects,
  error,
  operatorKinds,
  outOfBoundsPolicies,
  profiles,
  targetNames,
  type Schedule,
  type Target,
} from "../../ir/index.js";
import { lookUpTarget } from "../formats/look-up-target.js";
import { collect } from "./collect.js";
import {
  dashed,
  flagOf,
  parseBuffers,
  parseCount,
  parseResidency,
  parseShape,
  type AttributeFlag,
} from "./flag-values.js";
import { UsageError } from "./usage-error.js";

export {
  dashed,
  flagOf,
  parseBind,
  parseBuffers,
  parseCount,
  parseMost,
  parseShape,
  parseType,
  type AttributeFlag,
} from "./flag-values.js";

/** As commander hands them over: every flag optional, numbers and lists as text. */
export interface ProgramFlags extends Readonly<Partial<Record<AttributeFlag, string>>> {
  readonly op?: string;
  readonly dialect?: string;
  readonly data?: string;
  /** One for each index input. */
  readonly indices?: readonly string[];
  readonly oob?: string;
  readonly case?: string;
  readonly func?: string;
  readonly bind?: string;
  readonly most?: string;
  readonly target?: string;
  readonly tile?: string;
  readonly view?: string;
  readonly profile?: Schedule["profile"];
  readonly residency?: string;
  readonly order?: string;
  readonly buffers?: string;
  readonly doubleBuffer?: boolean;
  readonly cores?: string;
  readonly budgetRule?: Schedule["budgetRule"];
  readonly ubBytes?: string;
}

export function addProgramOptions(command: Command): Command {
  command
    .argument("[program]", "a .tir file, an .onnx model or a case file; or describe the gather with --op")
    .addOption(new Option("--op <name>", `${operatorKinds.join(", ")}; or with its dialect, pypto.gather`))
    .addOption(new Option("--dialect <name>", "whose rules apply").choices([...dialects]))
    .option("--data <type>", "data, such as f32[4096,1024]")
    .option(
      "--indices <type>",
      "indices, such as i32[4096,1024]; repeat for an operator's further inputs",
      collect,
    );
  for (const [key, { kind, help }] of attributeFlags) {
    command.option(
      `--${dashed(flagOf(key))} <${kind === "int" ? "n" : kind === "ints" ? "list" : kind}>`,
      help,
    );
  }
  return command
    .addOption(
      new Option("--oob <policy>", "what an index out of range means").choices([...outOfBoundsPolicies]),
    )
    .option("--case <id>", "one case of a case file")
    .option("--func <name>", "one function of a .tir file or gather of a model")
    .option(
      "--bind <list>",
      "sizes of symbols: N=37; of a model the extents of its symbolic dims, shapes of its inputs: batch=1,state=2x1x128",
    )
    .option("--most <list>", "of a model the most of outermost dims that stay open: batch=64")
    .option("--target <name|file>", `${targetNames.join(", ")}, or a target file (.json)`)
    .option("--tile <shape>", "extents over the output dims, such as 8,1024")
    .option("--view <shape>", "view shape: splits the iteration before the tile does")
    .addOption(new Option("--profile <name>", "full-load rule").choices([...profiles]))
    .option("--residency <name|list>", "where the data lives: ub, gm, auto; or by operand as in kv=gm,bt=ub")
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
  const shape = (name: "tile" | "view" | "order") =>
    flags[name] === undefined ? {} : { [name]: parseShape(flags[name], name) };
  return {
    ...shape("tile"),
    ...shape("view"),
    ...shape("order"),
    ...(flags.profile === undefined ? {} : { profile: flags.profile }),
    ...(flags.residency === undefined ? {} : { residency: parseResidency(flags.residency) }),
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
