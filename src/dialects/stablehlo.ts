/** The builder with StableHLO's arguments. It throws a CompileError (TC1xx) where the specification's constraints are broken. */
import { stablehloGather } from "../../ir/ops/stablehlo.js";
import { builder, type BuilderArguments } from "./builder.js";

/** The dimension numbers, `sliceSizes`, and `oob`: StableHLO says `clamp`. Lists that are left out are empty. */
export type StablehloGatherArguments = BuilderArguments<typeof stablehloGather, "sliceSizes">;

/** Output shape: the sizes of start_indices without `indexVectorDim`, those of slices put between them at `offsetDims`. */
export const gather = builder(stablehloGather, "sliceSizes");
