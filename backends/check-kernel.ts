/** Kernels, as callers hand them over: compiled, or with a tile program of their own. */
import { unbound } from "../ir/symbols/bind.js";
import { CompileError, error, throwIfErrors } from "../ir/diagnostic.js";
import type { AccessFunc, TileFunc } from "../ir/func.js";
import { isVerified } from "../ir/verify/verify-once.js";
import { checkFields, isObject, shownValue } from "./fields.js";
import { bodyField } from "./ir-fields.js";

const kernelFields = { tile: "a tile program", target: "a target" } as const;

/**
 * Throws a CompileError (TC702) if a value is not a compiled kernel with the fields in `needs`, or if the
 * tile program is malformed.
 */
export function checkKernel(
  kernel: unknown,
  needs: readonly (keyof typeof kernelFields)[] = ["tile", "target"],
): void {
  const missing = needs.filter((field) => !(isObject(kernel) && isObject(kernel[field])));
  if (missing.length === 0) {
    checkTile((kernel as { readonly tile: TileFunc }).tile);
    return;
  }
  const without = missing.map((field) => kernelFields[field]).join(" and ");
  throw new CompileError([
    error("TC702", `the kernel is ${shownValue(kernel)}, without ${without}`, {
      hint: "compile(program) makes a kernel",
    }),
  ]);
}

/**
 * Throws a CompileError if a value is not a kernel that can run: TC702 for a missing field, TC107 for dynamic
 * sizes.
 */
export function checkRunnable(kernel: unknown, needs?: readonly (keyof typeof kernelFields)[]): void {
  checkKernel(kernel, needs);
  const { access } = kernel as { readonly access?: AccessFunc };
  if (access === undefined || checked.has(access)) return;
  throwIfErrors(unbound(access));
  checked.add(access);
}

/** Programs never change: one look is enough. */
const checked = new WeakSet();

/** Throws a CompileError (TC702) if a value is not a tile program. */
export function checkTile(tile: TileFunc): void {
  if (isVerified(tile) || checked.has(tile)) return;
  throwIfErrors(
    checkFields("the tile program", tile, { body: bodyField }, { allowsOthers: true, needs: ["body"] }),
  );
  checked.add(tile);
}
