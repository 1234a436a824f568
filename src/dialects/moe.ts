/** Builders for mixtures of experts. Each throws a CompileError (TC1xx) where a rule is broken. */
import { moeCombine } from "../../ir/ops/moe.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of {@link combine}. `x[N, H]` are the rows of the experts, and `inverse[T, K]` holds the K row
 * numbers of each token. `weights[T, K]` are f32, f16 or bf16. `oob` is `error` by default.
 */
export type MoeCombineArguments = BuilderArguments<typeof moeCombine>;

/**
 * Builds the weighted sum of each token's rows, in f32 and with k ascending. Output: [T, H] of the type of x.
 */
export const combine = builder(moeCombine);
