/** The layout of `--help`: 80 columns, one line for most flags, common flags first. */
import { Help, type Command, type HelpConfiguration, type Option } from "commander";

/** Heading of the flags of operators' attributes. `--help` leaves these out; `tilec help op NAME` shows those of one operator. */
export const attributesHeading = "Attributes of operators:";
/** Heading of the flags of every command. */
export const everywhereHeading = "Every command:";

/** Columns of the help, in characters. */
export const helpWidth = 80;

const plain = new Help();

/** Layout of the help of every command. */
export const helpLayout: HelpConfiguration = { helpWidth, visibleOptions, optionDescription };

/** Returns the options that help shows: those of the command without attributes, then those of every command. */
function visibleOptions(command: Command): Option[] {
  const options = plain.visibleOptions(command);
  const inherited = command.parent === null ? [] : rootOf(command).options;
  return [
    ...options.filter(({ helpGroupHeading }) => helpGroupHeading !== attributesHeading),
    ...inherited.filter(({ long }) => long !== "--version"),
  ];
}

const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent));

/** Returns a flag's text with its words and its default: `what measures ms: sim, webgpu (default sim)`. */
function optionDescription({ description, argChoices = [], defaultValue }: Option): string {
  const words = argChoices.length === 0 ? "" : `: ${argChoices.join(", ")}`;
  const given = typeof defaultValue === "string" ? ` (default ${defaultValue})` : "";
  return `${description}${words}${given}`;
}
