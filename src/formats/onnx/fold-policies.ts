/**
 * `cost`: what takes fewer cycles, one launch a kernel included. `always`: as few kernels as the target takes. `never`: each gather
 * alone.
 */
export const foldPolicies = ["cost", "always", "never"] as const;
/** Policy for folding a gather with the nodes around it. */
export type FoldPolicy = (typeof foldPolicies)[number];
