/**
 * Builders with the arguments of jax.numpy and of `x.at[…]`. Each throws a CompileError (TC1xx) where its
 * rules are broken.
 */
import { jaxTake, jaxTakeAlongAxis } from "../../ir/ops/jax.js";
import { jaxAtAdd, jaxAtMax, jaxAtMin, jaxAtMul, jaxAtSet } from "../../ir/ops/subscript-scatter.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of {@link take}; without `axis`, the array is flattened. `mode`: policy for indices out of range,
 * `fill` (default), `clip` or `wrap`. `fillValue`: integer given for indices out of range under `fill`; the
 * default depends on the element type.
 */
export type JaxTakeArguments = BuilderArguments<typeof jaxTake>;
/**
 * Arguments of {@link takeAlongAxis}; `axis` defaults to -1. `mode`: policy for indices out of range, `fill`
 * (default), `clip` or `promise_in_bounds`. `fillValue`: integer given for indices out of range under `fill`;
 * the default depends on the element type.
 */
export type JaxTakeAlongAxisArguments = BuilderArguments<typeof jaxTakeAlongAxis>;

/**
 * Builds the source program of jax.numpy.take(a, indices, axis, mode, fill_value). Output shape:
 * a.shape[:axis] + indices.shape + a.shape[axis+1:].
 */
export const take = builder(jaxTake);

/**
 * Builds the source program of jax.numpy.take_along_axis(arr, indices, axis, mode, fill_value). The output
 * has the broadcast shape of the two inputs, with the extent of `indices` along `axis`.
 */
export const takeAlongAxis = builder(jaxTakeAlongAxis);

/**
 * Arguments of JAX's indexed updates, for example {@link atSet}. `subscript`: text in the brackets, with
 * `i0`, `i1`, … for the index arrays. `mode`: policy for indices out of range, `drop` (default), `fill`,
 * `clip` or `promise_in_bounds`.
 */
export type JaxAtArguments = BuilderArguments<typeof jaxAtSet>;

/**
 * Builds the source program of JAX's x.at[subscript].set(y), a copy of x in which the indexed elements are
 * replaced by y.
 */
export const atSet = builder(jaxAtSet);

/**
 * Builds the source program of JAX's x.at[subscript].add(y), a copy of x in which y is added to the indexed
 * elements.
 */
export const atAdd = builder(jaxAtAdd);

/**
 * Builds the source program of JAX's x.at[subscript].mul(y), a copy of x in which the indexed elements are
 * multiplied by y.
 */
export const atMul = builder(jaxAtMul);

/**
 * Builds the source program of JAX's x.at[subscript].min(y), a copy of x in which each indexed element is
 * replaced by the minimum of the element and y.
 */
export const atMin = builder(jaxAtMin);

/**
 * Builds the source program of JAX's x.at[subscript].max(y), a copy of x in which each indexed element is
 * replaced by the maximum of the element and y.
 */
export const atMax = builder(jaxAtMax);
