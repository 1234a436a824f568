/** Builders for mixtures of experts. Each throws a CompileError (TC1xx) where a rule is broken. */
import { moeCombine } from "../../ir/ops/moe.js";
import { builder, type BuilderArguments } from "./builder.js";

/** `x[N, H]` are rows of the experts, `inverse[T, K]` names those of each token, `weights[T, K]` are f32, f16 or bf16. `oob`: default `error`. */
export type MoeCombineArguments = BuilderArguments<typeof moeCombine>;

/** The weighted sum of each token's rows, in f32 with k ascending. Output: [T, H] of x's type. */
export const combine = builder(moeCombine);
