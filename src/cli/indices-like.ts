/** explain --indices-like: the indices that it names, and what they move. */
import { CompileError, inputsOf, keyOf } from "../../ir/index.js";
import { indexInputs, type HostInputs } from "../../backends/index.js";
import type { Kernel } from "../api/compile.js";
import type { IndexPattern } from "../explain/index-patterns.js";
import { indicesLike, movementBy, type Movement } from "../explain/movement.js";
import { readBytes } from "../formats/files.js";
import { readNpy } from "../formats/npy.js";
import { asHost } from "../formats/tensor.js";
import { readInputs, type LoadedProgram } from "./loaded-program.js";
import { matching } from "./matching.js";
import { printWarnings } from "./terminal.js";
import { UsageError } from "./usage-error.js";

const forms = "uniform, sorted, runs:8, zipf:1.1, same or FILE.npy";

/**
 * Parses the value of `--indices-like` as an index pattern, for example `runs:8`. Undefined for the name of a
 * .npy file. Throws a UsageError for any other text.
 */
function parsePattern(text: string): IndexPattern | undefined {
  const [, kind = "", amount] = /^(uniform|sorted|same|runs|zipf)(?::(.+))?$/.exec(text) ?? [];
  const value = Number(amount);
  if ((kind === "uniform" || kind === "sorted" || kind === "same") && amount === undefined) return { kind };
  if (kind === "runs" && Number.isSafeInteger(value) && value >= 1) return { kind, length: value };
  if (kind === "zipf" && value > 0 && value < Infinity) return { kind, exponent: value };
  if (text.endsWith(".npy")) return undefined;
  throw new UsageError(`--indices-like ${text} is not a distribution of indices`, forms);
}

/**
 * Returns the bytes and bursts that a kernel moves for given index values. `text`: value of `--indices-like`,
 * a pattern such as `runs:8` or the name of a .npy file.
 */
export function movementLike(kernel: Kernel, text: string): Movement {
  const pattern = parsePattern(text);
  return movementBy(kernel, pattern === undefined ? indicesIn(text, kernel) : indicesLike(kernel, pattern));
}

/**
 * Returns the bytes and bursts that a kernel moves for the index pattern of a Spatter benchmark
 * configuration; undefined for a program from any other source. If counting fails, prints a warning and
 * returns undefined.
 */
export function movementByPattern(kernel: Kernel, { given, result }: LoadedProgram): Movement | undefined {
  // Of a file of Spatter's: other files of indices are counted where they are asked for.
  if (given === undefined || result === undefined) return undefined;
  try {
    return movementBy(kernel, readInputs(kernel.source ?? kernel.tile, given));
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown;
    printWarnings(thrown.diagnostics);
    return undefined;
  }
}

/**
 * Returns the indices of a kernel's only index input, read from a .npy file. Throws a UsageError if the
 * kernel does not have exactly one input of indices.
 */
function indicesIn(file: string, { source, tile }: Kernel): HostInputs {
  const [input, ...others] = indexInputs(tile).map(keyOf);
  if (input === undefined || others.length > 0) {
    const holds = input === undefined ? "no input" : [input, ...others].join(", ");
    throw new UsageError(
      `${file} holds the indices of one input, and @${tile.name} has indices in ${holds}`,
      "--indices-like uniform draws all of them",
    );
  }
  return Object.fromEntries(
    inputsOf(source ?? tile).flatMap((operand) => {
      const key = keyOf(operand);
      if (key !== input) return [];
      return [[key, asHost(key, matching(readNpy(readBytes(file), file), operand.type, key, file))] as const];
    }),
  );
}
