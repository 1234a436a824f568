/**
 * Names of the policies for merging the nodes around a gather into one kernel. `cost` merges nodes if the
 * estimated cycles decrease, `always` merges as much as the target accepts, and `never` compiles each gather
 * alone.
 */
export const foldPolicies = ["cost", "always", "never"] as const;
/** Policy that decides whether the nodes around a gather are merged into one kernel with the gather. */
export type FoldPolicy = (typeof foldPolicies)[number];
