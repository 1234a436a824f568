/**
 * Builders with StableHLO's arguments. Each throws a CompileError (TC1xx) where the specification's
 * constraints are broken.
 */
import { stablehloGather } from "../../ir/ops/stablehlo.js";
import { stablehloScatter } from "../../ir/ops/stablehlo-scatter.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of stablehlo.gather: the dimension numbers, `sliceSizes`, and `oob`, which is `clamp` in
 * StableHLO. Omitted lists are empty.
 */
export type StablehloGatherArguments = BuilderArguments<typeof stablehloGather, "sliceSizes">;

/**
 * Builds stablehlo.gather. Output shape: the extents of start_indices without dim `indexVectorDim`, with the
 * slice extents inserted at `offsetDims`.
 */
export const gather = builder(stablehloGather, "sliceSizes");

/**
 * The dimension numbers, `updateComputation`, default `set`, and `oob`, default `skip`. Lists that are left
 * out are empty.
 */
export type StablehloScatterArguments = BuilderArguments<typeof stablehloScatter>;

/** Output shape: that of the input. */
export const scatter = builder(stablehloScatter);
