/** The gathers of a model as `run` lists them: shape, verdict, default schedule, cycles. */
import {
  defined,
  clockVersion,
  cyclesOf,
  formatType,
  inputsOf,
  outputOf,
  type Diagnostic,
  type Schedule,
} from "../../ir/index.js";
import { tryCompile, type CompileOptions, type Kernel } from "../api/compile.js";
import { withText } from "../api/try-text.js";
import { scheduleFlags, tiledExtents } from "../report/schedule-flags.js";
import { table } from "../report/table.js";
import type { FoldCycles, OnnxNode } from "../formats/onnx/index.js";
import { gatherFaults } from "./gather-faults.js";
import type { ModelGather } from "./load-model.js";
import type { LoadedProgram } from "./loaded-program.js";
import { targeting, type ProgramFlags, type ProjectFlags } from "./options.js";

/**
 * Entry of the list of a model's gathers: name, operator and verdict. A legal gather also has a schedule and
 * estimated cycles.
 */
export interface ListedGather {
  readonly name: string;
  /** ONNX's name of the operator. */
  readonly op: string;
  readonly node: OnnxNode;
  /** `f32[8,8] by i32[4] to f32[4,8]`; absent where a shape is not known. */
  readonly shape?: string;
  /** Verdict on the gather. `open`: a shape of the gather is not known. */
  readonly verdict: "legal" | "refused" | "open";
  /** Code of the diagnostic that says why the gather is not legal. */
  readonly code?: string;
  readonly schedule?: Schedule;
  /** The flags that give it. */
  readonly flags?: string;
  readonly cycles?: number;
  /** Nodes that the program does at once. */
  readonly nodes?: readonly OnnxNode[];
  /** The same in words: `Transpose "t"`. */
  readonly folds?: readonly string[];
  /** The tensors of the model that such a program reads, by the keys of its inputs. */
  readonly reads?: Readonly<Record<string, string>>;
  /** Cycles of a program that folds several nodes into one kernel, and of those nodes as separate kernels. */
  readonly fold?: FoldCycles;
  /** Nodes next to the gather that are not folded, and why. */
  readonly kept?: readonly string[];
  /** Cycles of a fold that was not taken, and of its nodes as separate kernels, which take less. */
  readonly unfolded?: FoldCycles;
  readonly loaded?: LoadedProgram;
  /** Compiled kernel of a legal gather. */
  readonly kernel?: Kernel;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Compiles each gather of a model, under the schedule of the flags or else the default schedule. Returns each
 * gather with its verdict.
 */
export function listGathers(
  gathers: readonly ModelGather[],
  flags: ProgramFlags & ProjectFlags,
  pipeline: Pick<CompileOptions, "passes">,
): readonly ListedGather[] {
  const options = {
    ...pipeline,
    ...targeting(flags),
  };
  return gathers.map(({ loaded, diagnostics, without, ...rest }): ListedGather => {
    const refused = (verdict: "refused" | "open", why: readonly Diagnostic[]): ListedGather => {
      const { code } = why.find(({ severity }) => severity === "error") ?? why[0] ?? {};
      return { ...rest, verdict, diagnostics: why, ...defined({ code }) };
    };
    if (without === "uncompiled")
      return refused(
        "refused",
        diagnostics.map((diagnostic) => ({ ...diagnostic, severity: "warning" })),
      );
    if (loaded === undefined) return refused(without ?? "open", diagnostics);
    const shape = shapeOf(loaded);
    // What is thrown, as over options that do not fit the program, is one gather's refusal.
    try {
      const result = withText(tryCompile(loaded.func, options));
      if (!result.ok) return { ...refused("refused", result.diagnostics), shape, loaded };
      const { kernel } = result;
      const { tile, target } = kernel;
      const { schedule } = tile;
      const { cycles } = cyclesOf(tile, target);
      const flags = scheduleFlags(schedule, tiledExtents(kernel), { buffers: 1 });
      return { ...rest, shape, verdict: "legal", schedule, flags, cycles, loaded, kernel, diagnostics };
    } catch (thrown) {
      return { ...refused("refused", gatherFaults(thrown, rest.name)), shape, loaded };
    }
  });
}

const shapeOf = ({ func }: LoadedProgram): string => {
  const [data, ...indices] = inputsOf(func).map(({ type }) => formatType(type));
  return `${data ?? ""} by ${indices.join(", ")} to ${formatType(outputOf(func).type)}`;
};

/**
 * Returns a table as text, with one row for each gather of a model. `outcome` is the last column: the result
 * of running the gather.
 */
export const gatherTable = (gathers: readonly (ListedGather & { readonly outcome: string })[]): string =>
  table(
    ["gather", "operator", "shape", "verdict", "schedule", `cycles, clock ${clockVersion}`, "run"],
    gathers.map(({ name, op, shape = "", verdict, code, flags = "", cycles, outcome, folds }) => [
      name,
      folds?.join(", ") ?? op,
      shape,
      code === undefined ? verdict : `${verdict} ${code}`,
      flags,
      cycles === undefined ? "" : cycles.toLocaleString("en"),
      outcome,
    ]),
  );
