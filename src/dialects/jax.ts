/**
 * Builders with the arguments of jax.numpy and of `x.at[…]`. Each throws a CompileError (TC1xx) where its
 * rules are broken.
 */
import { jaxTake, jaxTakeAlongAxis } from "../../ir/ops/jax.js";
import { jaxAtAdd, jaxAtMax, jaxAtMin, jaxAtMul, jaxAtSet } from "../../ir/ops/subscript-scatter.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of {@link take}. Without `axis`, the array is read as flat. `mode` is `fill`, `clip` or `wrap`,
 * default `fill`. `fillValue` is a whole number.
 */
export type JaxTakeArguments = BuilderArguments<typeof jaxTake>;
/**
 * Arguments of {@link takeAlongAxis}. `axis` is -1 by default. `mode` is `fill`, `clip` or
 * `promise_in_bounds`, default `fill`. `fillValue` is a whole number.
 */
export type JaxTakeAlongAxisArguments = BuilderArguments<typeof jaxTakeAlongAxis>;

/**
 * Builds jax.numpy.take(a, indices, axis, mode, fill_value). Output shape: a[:axis] + indices + a[axis+1:].
 */
export const take = builder(jaxTake);

/**
 * Builds jax.numpy.take_along_axis(arr, indices, axis, mode, fill_value). Output shape: the broadcast shape
 * of both inputs, with the extent of indices along axis.
 */
export const takeAlongAxis = builder(jaxTakeAlongAxis);

/**
 * `subscript`: what stands in the brackets, of the arrays `i0`, `i1`, …; `mode`: `drop`, `fill`, `clip` or `promise_in_bounds`, default `drop`.
 */
export type JaxAtArguments = BuilderArguments<typeof jaxAtSet>;

/** x.at[subscript].set(y). Output shape: that of x. */
export const atSet = builder(jaxAtSet);

/** x.at[subscript].add(y). Output shape: that of x. */
export const atAdd = builder(jaxAtAdd);

/** x.at[subscript].mul(y). Output shape: that of x. */
export const atMul = builder(jaxAtMul);

/** x.at[subscript].min(y). Output shape: that of x. */
export const atMin = builder(jaxAtMin);

/** x.at[subscript].max(y). Output shape: that of x. */
export const atMax = builder(jaxAtMax);
