/** The inputs of a run: from files, from the program, or drawn from a seed. */
import { CompileError, defined, entryOf, error, inputsOf, keyOf, type Operand } from "../../../ir/index.js";
import type { HostValue } from "../../../backends/index.js";
import type { Kernel } from "../../api/compile.js";
import { readBytes } from "../../formats/files.js";
import { readNpy } from "../../formats/npy.js";
import { asHost, type TensorValue } from "../../formats/tensor.js";
import type { LoadedProgram } from "../loaded-program.js";
import { matching } from "../matching.js";
import { parseSeed } from "../options.js";
import { UsageError } from "../usage-error.js";
import { fileAssignments } from "./file-assignments.js";
import type { RunFlags } from "./run-flags.js";

/** Inputs of a run: the given values by operand key, and the seed of the random inputs. */
export interface CommandInputs {
  readonly given: Readonly<Record<string, HostValue>>;
  readonly seed?: number;
  /** Source of every input, as text. */
  readonly origin: string;
}

/** Value of one input and its source as text. Without a value, the input is random. */
interface Source {
  readonly value?: TensorValue;
  readonly origin: string;
}

/** True if every input came with the program. */
export const hasInputs = ({ func, inputs = {} }: LoadedProgram): boolean =>
  inputsOf(func).every(({ name }) => Object.hasOwn(inputs, name));

/**
 * Returns the inputs of a run. Throws a CompileError (TC702) if an input has no value and no seed is given.
 * Throws a UsageError if two `--input` flags name one operand, or if `--seed` has no effect.
 */
export function inputsFor(loaded: LoadedProgram, flags: RunFlags, kernel: Kernel): CommandInputs {
  const operands = inputsOf(kernel.source ?? kernel.tile);
  const { given: fixed = {}, taken = [] } = loaded;
  const files = filesOf(
    operands,
    flags.input.filter((entry) => !taken.includes(entry)),
  );
  const seed = flags.seed === undefined ? undefined : parseSeed(flags.seed);
  if (seed !== undefined && files.size + Object.keys(fixed).length === operands.length) {
    throw new UsageError(`--seed has no effect: --input gives ${operands.map(keyOf).join(" and ")}`);
  }
  const sources = operands.map((operand) => sourceOf(operand, files.get(operand), loaded, seed));
  const given = operands.flatMap((operand, k) => {
    const value = sources[k]?.value;
    return value === undefined ? [] : [[keyOf(operand), asHost(keyOf(operand), value)] as const];
  });
  return {
    given: Object.fromEntries(given),
    ...defined({ seed }),
    origin: sources.map(({ origin }) => origin).join(" and "),
  };
}

/**
 * Returns the file of each operand that an entry of `--input` names, by key or by name. Throws a UsageError
 * if two entries name one operand.
 */
function filesOf(operands: readonly Operand[], entries: readonly string[]): ReadonlyMap<Operand, string> {
  const keys = operands.map(keyOf);
  // A name in the text that is another's key is that other.
  const words = new Map(
    operands.flatMap((operand) =>
      [keyOf(operand), ...(keys.includes(operand.name) ? [] : [operand.name])].map(
        (word) => [word, operand] as const,
      ),
    ),
  );
  const files = new Map<Operand, string>();
  for (const [word, file] of fileAssignments(entries, "input", [...words.keys()])) {
    const operand = words.get(word);
    if (operand === undefined) continue;
    if (files.has(operand))
      throw new UsageError(`--input ${keyOf(operand)} and --input ${operand.name} name the same operand`);
    files.set(operand, file);
  }
  return files;
}

/**
 * Returns the value of an input: of its file, else of the flags, else of the program, else random. With a
 * seed, the values of the program are not used. Throws a CompileError (TC702) if the input has no value.
 */
function sourceOf(
  operand: Operand,
  file: string | undefined,
  { given = {}, inputs = {} }: LoadedProgram,
  seed: number | undefined,
): Source {
  const { name, type } = operand;
  const key = keyOf(operand);
  if (file !== undefined)
    return { value: matching(readNpy(readBytes(file), file), type, key, file), origin: file };
  const fixed = entryOf(given, name);
  if (fixed !== undefined) return { value: fixed(), origin: `${key} of the flags` };
  if (seed !== undefined) return { origin: `${key} at random, seed ${seed}` };
  const input = entryOf(inputs, name);
  if (input !== undefined)
    return { value: matching(input(), type, key, "the program"), origin: `the program's ${key}` };
  throw new CompileError([
    error("TC702", `${key} has no value`, {
      hint: `--input ${key}=file.npy, or --seed 1 for random inputs`,
    }),
  ]);
}
