/** The tensors that a run gets: what was given where it fits the program, random ones elsewhere. */
import {
  byteCount,
  CompileError,
  entryOf,
  error,
  formatType,
  inputsOf,
  keyOf,
  unscheduled,
  type Func,
} from "../../../ir/index.js";
import type { HostValue } from "../../../backends/index.js";
import { compile, type Kernel } from "../../../src/api/compile.js";
import { asHost } from "../../../src/formats/tensor.js";
import { randomValue } from "../../../src/testing/random.js";
import type { Inputs } from "../page-state.js";

/** Bytes of all tensors that a page takes of a machine that is not ours. */
const mostBytes = 2 ** 29;

/**
 * Returns the values of a kernel's inputs, by operand key. A tensor in `given` is used if the type fits the
 * operand; other inputs are random. Throws a CompileError (TC502) if the kernel's operands exceed 512 MiB in
 * total.
 */
export function inputsFor(
  { source, tile }: Kernel,
  given: Inputs,
  seed: number,
): Readonly<Record<string, HostValue>> {
  const types = source ?? tile;
  const bytes = types.operands.reduce((sum, { type }) => sum + byteCount(type), 0);
  if (bytes > mostBytes) {
    const message = `the tensors take ${bytes} B; this page runs up to ${mostBytes} B`;
    throw new CompileError([
      error("TC502", message, { hint: "run it with the command: copy as command line" }),
    ]);
  }
  return Object.fromEntries(
    inputsOf(types).map((operand) => {
      const key = keyOf(operand);
      const own = entryOf(given, key);
      const fits = own !== undefined && formatType(own.type) === formatType(operand.type);
      return [key, asHost(key, fits ? own : randomValue(operand, tile, seed))];
    }),
  );
}

/** Returns a text that lists the inputs of a kernel as given or random, with the seed. */
export function describeInputs({ source, tile }: Kernel, given: Inputs, seed: number): string {
  const words = inputsOf(source ?? tile).map((operand) => {
    const key = keyOf(operand);
    const own = entryOf(given, key);
    if (own === undefined) return `${key} random from seed ${seed}`;
    if (formatType(own.type) === formatType(operand.type)) return `${key} given`;
    return `${key} random from seed ${seed}, as the given ${formatType(own.type)} does not fit`;
  });
  return words.join("; ");
}

/**
 * Returns the values of a program's inputs, by operand key. A tensor in `given` is used if the type fits the
 * operand; other inputs are random. Throws a CompileError if the program does not compile, or if the operands
 * exceed 512 MiB in total (TC502).
 */
export const definedInputs = (
  program: Func,
  given: Inputs,
  seed: number,
): Readonly<Record<string, HostValue>> =>
  inputsFor(compile({ ...unscheduled(program), target: "webgpu" }), given, seed);
