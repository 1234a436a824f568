/** Flags of `--list`; apart, since what makes rows is slow to load. */
import { Option, type Command } from "commander";
import { dashed, type ProgramFlags } from "../options.js";
import { UsageError } from "../usage-error.js";

/**
 * Command-line flags of a command that processes a list of programs (`--list`) and writes one row for each
 * program.
 */
export interface ListFlags {
  readonly list?: string;
  readonly rows?: string;
  readonly strict?: boolean;
  readonly shard?: string;
  readonly resume?: boolean;
  readonly json?: boolean;
}

/**
 * Adds the options for lists (`--list`, `--rows`, `--strict`, `--shard`, `--resume`) to a command and returns
 * the command. Options that the command already has are unchanged.
 */
export function addListOptions(command: Command): Command {
  const named = [
    new Option("--list <file>", "JSON Lines of flags, or a file of several programs"),
    new Option("--rows <file>", "file of the rows: .csv or .jsonl"),
    new Option("--strict", "exit with 1 if a program is refused"),
    new Option("--shard <i/n>", "the i-th of n parts of the programs, from 1"),
    new Option("--resume", "keep the rows that the file of --rows has"),
  ];
  command.optionsGroup("Many programs:");
  for (const option of named)
    if (command.options.every(({ long }) => long !== option.long)) command.addOption(option);
  return command;
}

/**
 * True if a command processes several programs: `--list` is given, or a Spatter file is given without
 * `--case`.
 */
export const isList = ({ list, spatter, case: chosen }: ListFlags & ProgramFlags): boolean =>
  list !== undefined || (spatter !== undefined && chosen === undefined);

/**
 * Throws a UsageError if one of the flags in `unread` is given. The flags in `unread` have no effect with
 * `--list`.
 */
export function refuseWithList(flags: object, unread: readonly string[]): void {
  const given = new Map<string, unknown>(Object.entries(flags));
  const unused = unread.find((flag) => {
    const value = given.get(flag);
    return value !== undefined && !(Array.isArray(value) && value.length === 0);
  });
  if (unused !== undefined)
    throw new UsageError(
      `--${dashed(unused)} cannot be used with --list`,
      "--rows rows.csv writes one row for each program",
    );
}

/**
 * Throws a UsageError if one of the list flags in `names` is given. To be called for a command without
 * `--list`.
 */
export function refuseWithoutList(flags: ListFlags, names: readonly (keyof ListFlags)[]): void {
  const unused = names.find((flag) => flags[flag] !== undefined);
  if (unused !== undefined)
    throw new UsageError(`--${unused} needs --list`, "--list programs.jsonl --rows rows.csv");
}
