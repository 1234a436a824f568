/** Builders for mixtures of experts. Each throws a CompileError (TC1xx) where a rule is broken. */
import { moeCombine } from "../../ir/ops/moe.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of {@link combine}: expert outputs `x[N, H]`, row indices `inverse[T, K]` into `x` for each of T
 * tokens, and `weights[T, K]`. `oob`: policy for row indices out of range, default `error`.
 */
export type MoeCombineArguments = BuilderArguments<typeof moeCombine>;

/**
 * Builds the source program that adds the weighted expert rows of each token, as in a mixture of experts. The
 * output has shape [T, H] and the type of `x`; sums are computed in f32.
 */
export const combine = builder(moeCombine);
