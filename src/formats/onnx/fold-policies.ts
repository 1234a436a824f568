/**
 * `cost`: what takes fewer cycles, one launch a kernel included. `always`: as few kernels as the target takes. `never`: each gather
 * alone.
 */
export const foldPolicies = ["cost", "always", "never"] as const;
/** Policy that decides whether the nodes around a gather are merged into its program. */
export type FoldPolicy = (typeof foldPolicies)[number];
