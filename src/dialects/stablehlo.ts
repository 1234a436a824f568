/**
 * Builders with StableHLO's arguments. Each throws a CompileError (TC1xx) where the specification's
 * constraints are broken.
 */
import { stablehloGather } from "../../ir/ops/stablehlo.js";
import { stablehloScatter } from "../../ir/ops/stablehlo-scatter.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of {@link gather}, stablehlo.gather: the inputs, the dimension numbers and `sliceSizes`. Omitted
 * lists of dims are empty. `oob` is the policy for indices out of range; the default is `clamp`, as in
 * StableHLO.
 */
export type StablehloGatherArguments = BuilderArguments<typeof stablehloGather, "sliceSizes">;

/**
 * Builds the source program of stablehlo.gather. Its output has the dims of start_indices without
 * `indexVectorDim`, with the dims of a slice inserted at `offsetDims`.
 */
export const gather = builder(stablehloGather, "sliceSizes");

/**
 * Arguments of {@link scatter}, stablehlo.scatter: the inputs and the dimension numbers. Omitted lists of
 * dims are empty. `updateComputation` combines an update with the old element; the default `set` replaces the
 * element. `oob`, the policy for indices out of range, is `skip` by default.
 */
export type StablehloScatterArguments = BuilderArguments<typeof stablehloScatter>;

/**
 * Builds the source program of stablehlo.scatter. Its output is a copy of the input in which updates replace
 * the indexed elements or are combined with them.
 */
export const scatter = builder(stablehloScatter);
