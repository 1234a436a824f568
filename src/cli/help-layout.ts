/** The layout of `--help`: 80 columns, one line for most flags, common flags first. */
import { Help, type Command, type HelpConfiguration, type Option } from "commander";

/** Heading over the attribute flags of operators in help texts. */
export const attributesHeading = "Attributes of operators:";
/** Heading in help texts over the flags that every command has. */
export const everywhereHeading = "Every command:";

/** Width of help texts in characters. */
export const helpWidth = 80;

const plain = new Help();

/** Layout of the help texts of all commands. */
export const helpLayout: HelpConfiguration = { helpWidth, visibleOptions, optionDescription };

/**
 * Returns the options that the help text of a command lists: the command's own options without the flags for
 * operator attributes, then the options that every command has.
 */
function visibleOptions(command: Command): Option[] {
  const options = plain.visibleOptions(command);
  const inherited = command.parent === null ? [] : rootOf(command).options;
  return [
    ...options.filter(({ helpGroupHeading }) => helpGroupHeading !== attributesHeading),
    ...inherited.filter(({ long }) => long !== "--version"),
  ];
}

/** Returns the command that is above all others: `tilec`. */
export const rootOf = (command: Command): Command =>
  command.parent === null ? command : rootOf(command.parent);

/** Returns a flag's text with its words and its default: `what measures ms: sim, webgpu (default sim)`. */
function optionDescription({ description, argChoices = [], defaultValue }: Option): string {
  const words = argChoices.length === 0 ? "" : `: ${argChoices.join(", ")}`;
  const given = typeof defaultValue === "string" ? ` (default ${defaultValue})` : "";
  return `${description}${words}${given}`;
}
