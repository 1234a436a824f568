/** The operators of a config on the command line. */
import type { Command, Option } from "commander";
import {
  attributeAliases,
  attributeFlags,
  attributeFlagsOf,
  attributesOf,
  dialectsOf,
  type AttributeFlagText,
} from "../../ir/index.js";
import { camelCase } from "../../ir/ops/attributes.js";
import { ConfigError } from "../config/config-error.js";
import type { Project } from "../config/project.js";
import { addAttributeOptions, dashed } from "./options.js";

/**
 * Returns a map from attribute keys of the config file's operators to the texts of the command-line flags.
 * Attributes for which tilec already has a flag are left out.
 */
export function projectAttributeFlags({ operators = [] }: Project): ReadonlyMap<string, AttributeFlagText> {
  const flags = new Set<string>([...attributeFlags.keys()].map(camelCase));
  const isFlag = (flag: string): boolean => flags.has(flag) || attributeAliases.has(flag);
  return new Map([...attributeFlagsOf(operators)].filter(([key]) => !isFlag(camelCase(key))));
}

/**
 * Adds the dialects and attribute flags of a config file's operators to each subcommand of `program` that
 * takes a tilec program. `root`: parser with all commands of tilec. Throws a ConfigError if a command of
 * `root` already has one of the flags.
 */
export function addProjectOperators(program: Command, root: Command, project: Project): void {
  const { config = "", operators } = project;
  if (operators === undefined) return;
  const flags = projectAttributeFlags(project);
  const every = [root, ...root.commands.flatMap((command) => [command, ...command.commands])];
  for (const key of flags.keys()) {
    const flag = `--${dashed(camelCase(key))}`;
    if (flag !== "--help" && every.every((command) => optionOf(command, flag) === undefined)) continue;
    const [def] = operators.filter((operator) => attributesOf(operator).has(key));
    const attr = def === undefined ? undefined : attributesOf(def).get(key);
    const message = `operators: the flag ${flag} of attribute ${String(attr?.name)} of ${String(def?.name)} is a flag of tilec`;
    throw new ConfigError(config, [{ message, hint: "another name, or another key" }]);
  }
  for (const command of program.commands.filter(takesPrograms)) {
    optionOf(command, "--dialect")?.choices([...dialectsOf(operators)]);
    addAttributeOptions(command, flags);
  }
}

/** True if a command takes `--op` and the other flags of a program. */
const takesPrograms = (command: Command): boolean => optionOf(command, "--op") !== undefined;

const optionOf = (command: Command, flag: string): Option | undefined =>
  command.options.find(({ long }) => long === flag);
