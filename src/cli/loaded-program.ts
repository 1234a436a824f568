/** A program that the command line names, and what its flags make of it. */
import {
  defined,
  entryOf,
  inputsOf,
  keyOf,
  outOfBoundsPolicies,
  withPolicy,
  type Diagnostic,
  type Func,
  type Sizes,
} from "../../ir/index.js";
import type { HostInputs } from "../../backends/index.js";
import { asHost, type TensorValue } from "../formats/tensor.js";
import { scheduleOf, type ProgramFlags } from "./options.js";
import { UsageError } from "./usage-error.js";

/** Program that the file argument or the flags of a command name, with inputs from the file. */
export interface LoadedProgram {
  readonly func: Func;
  /** Program before `--bind` was applied, and the sizes of `--bind`. */
  readonly unbound?: { readonly func: Func; readonly sizes: Sizes };
  /** Name of the program for `--case`, if it is not a valid name of the text form. */
  readonly id?: string;
  /** Inputs that came with the program, by input name: tensors of a test case, or constants of a model. */
  readonly inputs?: Readonly<Record<string, () => TensorValue>>;
  /**
   * Inputs whose values flags gave, by name: positions of a mask, indices of a file. A seed draws none of
   * them.
   */
  readonly given?: Readonly<Record<string, () => TensorValue>>;
  /**
   * Makes of the program's output what the program stands for leaves: fewer rows. Absent: the output itself.
   */
  readonly result?: (output: TensorValue) => TensorValue;
  /** Entries of `--input` that supply the values in `given`. */
  readonly taken?: readonly string[];
}

/**
 * Reads the inputs of a program that have an entry in `readers`, by input name. Returns the values by operand
 * key. Throws a CompileError for values that no executor takes.
 */
export const readInputs = (func: Func, readers: NonNullable<LoadedProgram["inputs"]>): HostInputs =>
  Object.fromEntries(
    inputsOf(func).flatMap((operand) => {
      const read = entryOf(readers, operand.name);
      return read === undefined ? [] : [[keyOf(operand), asHost(keyOf(operand), read())] as const];
    }),
  );

/**
 * Callback that receives the diagnostics of a file's rejected programs. At least one diagnostic is an error.
 */
export type Refuse = (diagnostics: readonly Diagnostic[]) => void;

/** Returns the diagnostics with a note that names a program. */
export const ofProgram = (name: string, diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.map((diagnostic) => ({
    ...diagnostic,
    notes: [...(diagnostic.notes ?? []), `program @${name}`],
  }));

/**
 * Returns a program with the schedule entries and the out-of-range policy (`--oob`) of the flags. Throws a
 * UsageError for `--oob` with a tile program.
 */
export function withFlags(func: Func, flags: ProgramFlags): Func {
  const scheduled = { ...func, schedule: { ...func.schedule, ...scheduleOf(flags) } };
  const oob = outOfBoundsPolicies.find((policy) => policy === flags.oob);
  if (oob === undefined) return scheduled;
  switch (scheduled.level) {
    case "source":
      return { ...scheduled, attrs: { ...scheduled.attrs, oob } };
    case "access": {
      const { symbolic } = scheduled;
      return {
        ...scheduled,
        map: withPolicy(scheduled.map, oob),
        ...defined({ symbolic: symbolic && { ...symbolic, map: withPolicy(symbolic.map, oob) } }),
      };
    }
    case "tile":
      throw new UsageError(
        `--oob ${oob} cannot be used with the tile program @${func.name}`,
        "write oob = … in its gather statement",
      );
  }
}
