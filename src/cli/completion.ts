/** tilec completion: a script by which a shell completes commands, flags and the words that flags take. */
import { Argument, type Command, type Option } from "commander";
import { codes, opDefs, targetNames } from "../../ir/index.js";
import { backendNames } from "../api/backends.js";
import { print } from "./terminal.js";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/**
 * Returns a function that adds the command `tilec completion` to a command line. `everyCommand`: resolves to
 * the parser with all commands and flags.
 */
export const completionCommand =
  (everyCommand: () => Promise<Command>) =>
  (program: Command): void => {
    program
      .command("completion")
      .addArgument(new Argument("<shell>", "the shell").choices([...shells]))
      .action(async (shell: Shell) => {
        print(scripts[shell](wordsOf(await everyCommand())));
      });
  };

/** Words that a flag or an argument takes. */
interface Choice {
  readonly words: readonly string[];
  /** True if it takes a file, too. */
  readonly files: boolean;
}

/** Words behind a command: its subcommands, arguments and flags, and what each flag takes. */
interface Words {
  /** `records best`; empty for the root. */
  readonly path: string;
  readonly words: readonly string[];
  readonly choices: readonly (readonly [flag: string, choice: Choice])[];
}

/** Names that flags take among others, such as files and operators of a config. */
const fixedWords: Readonly<Record<string, Choice>> = {
  "--op": { words: opDefs.map(({ name }) => name), files: false },
  "--target": { words: targetNames, files: true },
  "--backend": { words: backendNames, files: false },
};

/** Names that arguments of commands take among others. */
const fixedArguments: Readonly<Record<string, readonly string[]>> = {
  targets: targetNames,
  explain: Object.keys(codes),
};

const choiceOf = ({ argChoices, long }: Option): Choice | undefined =>
  argChoices === undefined ? fixedWords[long ?? ""] : { words: argChoices, files: false };

/**
 * Returns the words that a shell completes for a command and all subcommands: names, flags and flag values.
 * `path`: the command with parent commands, separated by spaces.
 */
function wordsOf(command: Command, path = ""): readonly Words[] {
  const shown = command.options.filter(({ hidden }) => !hidden);
  const flagsOf = ({ long }: Option): string[] => (typeof long === "string" ? [long] : []);
  const words = {
    path,
    words: [
      ...command.commands.map((each) => each.name()),
      ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
      ...(fixedArguments[path] ?? []),
      ...shown.flatMap(flagsOf),
      "--help",
    ],
    choices: shown.flatMap((option) => {
      const choice = choiceOf(option);
      return choice === undefined ? [] : flagsOf(option).map((flag) => [flag, choice] as const);
    }),
  };
  return [words, ...command.commands.flatMap((each) => wordsOf(each, `${path} ${each.name()}`.trim()))];
}

const list = (words: readonly string[]): string => words.join(" ");

/**
 * Returns the completion script for Bash. The longest path of commands among the words typed so far selects
 * the completions.
 */
const bash = (all: readonly Words[]): string =>
  [
    "# tilec completion bash: source it, or put it into /etc/bash_completion.d",
    "_tilec() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" path="" word next',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    next="${path:+$path }$word"',
    `    case "$next" in ${all.flatMap(({ path }) => (path === "" ? [] : [`"${path}"`])).join("|")}) path="$next" ;; esac`,
    "  done",
    '  case "$path $before" in',
    ...all.flatMap(({ path, choices }) =>
      choices.map(
        ([flag, { words, files }]) =>
          `    "${path} ${flag}") COMPREPLY=($(compgen ${files ? "-f " : ""}-W "${list(words)}" -- "$current")); return ;;`,
      ),
    ),
    "  esac",
    '  case "$path" in',
    ...all.map(
      ({ path, words }) => `    "${path}") COMPREPLY=($(compgen -f -W "${list(words)}" -- "$current")) ;;`,
    ),
    "  esac",
    "}",
    "complete -o filenames -F _tilec tilec",
  ].join("\n");

/** Returns the completion script for Zsh: the functions of the Bash script, loaded through bashcompinit. */
const zsh = (all: readonly Words[]): string =>
  ["#compdef tilec", "autoload -U +X bashcompinit && bashcompinit", bash(all)].join("\n");

const fish = (all: readonly Words[]): string =>
  [
    "# tilec completion fish: put it into ~/.config/fish/completions/tilec.fish",
    ...all.flatMap(({ path, words, choices }) => {
      const [first, second] = path.split(" ");
      const condition =
        path === ""
          ? "__fish_use_subcommand"
          : ["__fish_seen_subcommand_from", first].join(" ") +
            (second === undefined ? "" : `; and __fish_seen_subcommand_from ${second}`);
      const taken = new Map(choices);
      return words.map((word) => {
        if (!word.startsWith("--")) return `complete -c tilec -n "${condition}" -a ${word}`;
        const choice = taken.get(word);
        const takes =
          choice === undefined ? "" : ` ${choice.files ? "-rF" : "-x"} -a "${list(choice.words)}"`;
        return `complete -c tilec -n "${condition}" -l ${word.slice(2)}${takes}`;
      });
    }),
  ].join("\n");

const scripts: Readonly<Record<Shell, (all: readonly Words[]) => string>> = { bash, zsh, fish };
