/** A kernel that tilec did not write, held to the definition of a program: a test for each draw of inputs. */
import { inputsOf, keyOf, targets, type Func } from "../../../ir/index.js";
import type { Backend, HostValue } from "../../../backends/index.js";
import { compile } from "../../api/compile.js";
import type { CheckResult } from "../check-case.js";
import { compareDraw } from "../compare.js";
import { definitionOf, drawsOf, inputsInWords, type Draw } from "../draws.js";
import type { Test } from "../run-tests.js";

/** Draws of each seed have other data and other indices. */
const seeds = 3;

/**
 * Program against which a caller's kernel is tested, with the file of the program. `given` has the inputs
 * that the caller supplies, by key.
 */
export interface JudgedProgram {
  readonly func: Func;
  readonly file: string;
  readonly given: Readonly<Record<string, HostValue>>;
}

/**
 * Returns the tests of a caller's kernel. Each test compares the kernel with the definition of the program on
 * one set of inputs. The sets are the given inputs, if complete, and random inputs from `seed` and the next
 * two integers.
 *
 * Rejects with a CompileError if the program breaks a rule of the dialect, and with the kernel's error if the
 * kernel cannot be prepared.
 */
export async function foreignTests(
  { func, file, given }: JudgedProgram,
  backend: Backend,
  seed: number,
): Promise<readonly Test[]> {
  // Whatever its own schedule: the reference has none.
  const kernel = compile(func.level === "tile" ? func : { ...func, schedule: {} }, {
    target: targets.webgpu,
  });
  (await backend.prepare(kernel)).release();
  const types = kernel.source ?? kernel.tile;
  const program = definitionOf(kernel);
  const isComplete = inputsOf(types).every((operand) => Object.hasOwn(given, keyOf(operand)));
  const draws: readonly Draw[] = [
    ...(isComplete ? [{ indices: "as given" as const, inputs: given }] : []),
    ...Array.from({ length: seeds }, (_, k) => [
      ...drawsOf(types, program, seed + k, isComplete ? {} : given, { ofOthers: true }),
    ]).flat(),
  ];
  return draws.map((draw) => {
    const id = `${file}: ${inputsInWords(draw) ?? "its own inputs"}`;
    const judge = async (): Promise<Pick<CheckResult, "status" | "code" | "message">> => {
      const { difference, rejected } = await compareDraw(kernel, {
        program,
        draw,
        backends: [{ backend, options: {} }],
      });
      if (difference !== undefined)
        return {
          status: "fail",
          code: difference.code,
          message: [difference.message, ...(difference.notes ?? [])].join("; "),
        };
      if (rejected === undefined) return { status: "pass" };
      const message = `the program rejects an index, which a kernel of one's own has no way to: ${rejected.message}`;
      return { status: "skip", code: rejected.code, message };
    };
    return {
      id,
      file,
      line: func.span?.line ?? 1,
      begin: () => async () => [{ id, backend: backend.name, ...(await judge()) }],
    };
  });
}
