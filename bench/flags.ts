/** Command lines of the benchmarks. */
import { parseArgs } from "node:util";
import { messageOf } from "../ir/faults.js";

/** Flag of a benchmark: type, default value, and the text that `--help` prints. */
export interface Flag {
  readonly type: "boolean" | "string";
  readonly default?: boolean | string;
  readonly help: string;
}

/** Flags, by name, that several benchmarks accept. */
export const shared = {
  json: { type: "boolean", default: false, help: "print the rows as JSON" },
  only: { type: "string", help: "measure these workloads or groups alone, for example W4,W5" },
  runs: { type: "string", help: "print the median of this many runs, each in a process of its own" },
  against: { type: "string", help: "folder of another build, which runs in turns with this one" },
  webgpu: { type: "boolean", default: false, help: "measure on Dawn in this process" },
  tools: { type: "string", help: "folder into which the Debian packages are unpacked" },
} as const satisfies Readonly<Record<string, Flag>>;

/** Prints an error with a hint on stderr and ends the process with exit code 2. */
export function fail(message: string, hint: string): never {
  console.error(`error: ${message}\n  hint: ${hint}`);
  process.exit(2);
}

/**
 * Parses the value `text` of a flag as an integer of at least 1 and returns the integer. Ends the process
 * with exit code 2 and an error for any other text.
 */
export function countOf(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) fail(`--${flag} is ${text}`, "a whole number from 1");
  return value;
}

/** Values of flags: a string flag without a default may be absent. */
type FlagValues<F extends Readonly<Record<string, Flag>>> = {
  readonly [K in keyof F]: F[K]["type"] extends "boolean"
    ? boolean
    : F[K] extends { readonly default: string }
      ? string
      : string | undefined;
};

/**
 * Parses the command line of the benchmark `command`, for example `bench:sim`, and returns the values of the
 * flags. For `--help`, prints the flags and ends the process with exit code 0. For an unknown flag, ends the
 * process with exit code 2 and an error.
 */
export function parseFlags<const F extends Readonly<Record<string, Flag>>>(
  command: string,
  about: string,
  flags: F,
): FlagValues<F> {
  try {
    const { values }: { readonly values: object } = parseArgs({
      options: { ...flags, help: { type: "boolean" } },
    });
    if (!("help" in values)) return values as FlagValues<F>;
  } catch (thrown) {
    fail(messageOf(thrown), `npm run ${command} -- --help`);
  }
  console.log(helpOf(command, about, { ...flags, help: { type: "boolean", help: "print this text" } }));
  process.exit(0);
}

function helpOf(command: string, about: string, flags: Readonly<Record<string, Flag>>): string {
  const rows = Object.entries(flags).map(
    ([name, { type, help }]) => [type === "string" ? `--${name} VALUE` : `--${name}`, help] as const,
  );
  const width = Math.max(...rows.map(([flag]) => flag.length));
  return [
    `npm run ${command} -- [flags]`,
    `  ${about}`,
    "",
    ...rows.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}`),
  ].join("\n");
}
