/**
 * Names of the policies for merging the nodes around a gather into its program. `cost`: merges nodes if this
 * takes fewer cycles, with one launch for each kernel. `always`: makes as few kernels as the target accepts.
 * `never`: compiles each gather alone.
 */
export const foldPolicies = ["cost", "always", "never"] as const;
/** Policy that decides whether the nodes around a gather are merged into its program. */
export type FoldPolicy = (typeof foldPolicies)[number];
