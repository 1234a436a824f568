/** Builders with the arguments of jax.numpy. Each throws a CompileError (TC1xx) where its rules are broken. */
import { jaxTake, jaxTakeAlongAxis } from "../../ir/ops/jax.js";
import { builder, type BuilderArguments } from "./builder.js";

/** `axis`: absent, the array counts as flat; `mode`: `fill`, `clip` or `wrap`, default `fill`; `fillValue`: a whole number. */
export type JaxTakeArguments = BuilderArguments<typeof jaxTake>;
/** `axis`, default -1; `mode`: `fill`, `clip` or `promise_in_bounds`, default `fill`; `fillValue`: a whole number. */
export type JaxTakeAlongAxisArguments = BuilderArguments<typeof jaxTakeAlongAxis>;

/** jax.numpy.take(a, indices, axis, mode, fill_value). Output shape: a[:axis] + indices + a[axis+1:]. */
export const take = builder(jaxTake);

/** jax.numpy.take_along_axis(arr, indices, axis, mode, fill_value). Output shape: both broadcast, the length of indices along axis. */
export const takeAlongAxis = builder(jaxTakeAlongAxis);
