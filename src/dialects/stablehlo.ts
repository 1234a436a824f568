/**
 * Builders with StableHLO's arguments. Each throws a CompileError (TC1xx) where the specification's
 * constraints are broken.
 */
import { stablehloGather } from "../../ir/ops/stablehlo.js";
import { stablehloScatter } from "../../ir/ops/stablehlo-scatter.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of {@link gather}, stablehlo.gather: inputs, dimension numbers and `sliceSizes`. Omitted lists of
 * dims are empty. `oob`: policy for indices out of range; the default is `clamp`, as in StableHLO.
 */
export type StablehloGatherArguments = BuilderArguments<typeof stablehloGather, "sliceSizes">;

/**
 * Builds the source program of stablehlo.gather. The output has the dims of start_indices without
 * `indexVectorDim`, with the dims of a slice inserted at `offsetDims`.
 */
export const gather = builder(stablehloGather, "sliceSizes");

/**
 * Arguments of {@link scatter}, stablehlo.scatter: inputs and dimension numbers. `updateComputation`:
 * combination of an update with the old element; default `set`. `oob`: policy for indices out of range,
 * default `skip`.
 */
export type StablehloScatterArguments = BuilderArguments<typeof stablehloScatter>;

/**
 * Builds the source program of stablehlo.scatter. The output is a copy of the input in which updates replace,
 * or are combined with, the indexed elements.
 */
export const scatter = builder(stablehloScatter);
