/** Builders for mixtures of experts. Each throws a CompileError (TC1xx) where a rule is broken. */
import { moeCombine } from "../../ir/ops/moe.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of {@link combine}. `x[N, H]` holds the output rows of all experts. `inverse[T, K]` holds the K
 * row indices into `x` for each of T tokens. `weights[T, K]` are f32, f16 or bf16. `oob`, the policy for row
 * indices out of range, is `error` by default.
 */
export type MoeCombineArguments = BuilderArguments<typeof moeCombine>;

/**
 * Builds the source program that adds the weighted expert rows of each token, as in a mixture of experts. The
 * sum is computed in f32 in ascending order of k. The output has shape [T, H] and the type of `x`.
 */
export const combine = builder(moeCombine);
