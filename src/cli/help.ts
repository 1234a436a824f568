/** tilec help: the help of a command, the operators by dialect, or the inputs and attributes of one. */
import type { Command } from "commander";
import { projectOf } from "./options.js";
import { operatorNamed } from "./named-operator.js";
import { describeOperator, listOperators } from "./operator-help.js";
import { print } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/** Adds the command `tilec help` to the command line. */
export function helpCommand(program: Command): void {
  program
    .command("help")
    .argument("[words...]", "a command, or op and the name of an operator")
    .action(async (words: readonly string[], _: object, command: Command) => {
      const [first, name, ...more] = words;
      if (first !== "op") {
        commandAt(program, words).outputHelp();
        return;
      }
      if (more.length > 0) throw new UsageError(`help op takes one operator, not ${more.length + 1}`);
      const { operators } = await projectOf(command);
      print(
        name === undefined
          ? listOperators(operators)
          : describeOperator(operatorNamed(name, undefined, operators)),
      );
    });
}

/**
 * Returns the command at a path of subcommand names; `command` for an empty path. Throws a UsageError if no
 * subcommand has the name.
 */
function commandAt(command: Command, [word, ...words]: readonly string[]): Command {
  if (word === undefined) return command;
  const inner = command.commands.find((each) => each.name() === word);
  if (inner !== undefined) return commandAt(inner, words);
  const names = command.commands.map((each) => each.name());
  throw new UsageError(
    `${command.name()} has no command ${word}`,
    names.length === 0 ? undefined : names.join(", "),
  );
}
