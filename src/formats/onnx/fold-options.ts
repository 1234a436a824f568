/** Options for folding the gathers of a model, and prices of the folded programs on a target. */
import { defined, cyclesOf, type AccessFunc, type Target } from "../../../ir/index.js";
import { tryCompile, type CompileResult } from "../../api/compile.js";
import { withText } from "../../api/try-text.js";
import type { FoldPrice } from "./fold.js";
import type { FoldPolicy } from "./fold-policies.js";

/**
 * Options for merging the nodes around a gather into the program of the gather. Without `target` and
 * `compile`, as many nodes are merged as the access maps allow.
 */
export interface FoldOptions {
  /** Policy for merging nodes; default: `cost`. */
  readonly fold?: FoldPolicy;
  /** Target for which costs are estimated: a target, or the name of a built-in target. */
  readonly target?: Target | string;
  /**
   * Compiles a program in the way in which the caller will compile the result. Default: `tryCompile` for the
   * target, under its default schedule.
   */
  readonly compile?: (program: AccessFunc) => CompileResult;
}

/**
 * Returns a function that gives the estimated cost of a program as one kernel, or the reason why the target
 * refuses the program. Returns undefined if the options have neither `target` nor `compile`.
 */
export function pricesOf({
  fold = "cost",
  target,
  compile,
}: FoldOptions): ((program: AccessFunc) => FoldPrice) | undefined {
  if (target === undefined && compile === undefined) return undefined;
  const compiled = compile ?? ((program) => withText(tryCompile(program, defined({ target }))));
  return (program) => {
    const result = compiled(program);
    if (!result.ok) {
      const error = result.diagnostics.find(({ severity }) => severity === "error");
      return { refused: error?.message ?? "it does not compile" };
    }
    const { tile, target: machine } = result.kernel;
    const cycles = cyclesOf(tile, machine).cycles + machine.launchCycles;
    return { cycles, weight: fold === "always" ? 1 : cycles };
  };
}
