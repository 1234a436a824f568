/** Kernels, as callers hand them over: compiled, or with a tile program of their own. */
import { unbound } from "../ir/symbols/bind.js";
import { CompileError, error, throwIfErrors } from "../ir/diagnostic.js";
import type { AccessFunc, TileFunc } from "../ir/func.js";
import { isVerified } from "../ir/verify/verify-once.js";
import { checkFields, isObject, shownValue } from "./fields.js";
import { bodyField } from "./ir-fields.js";

const kernelParts = { tile: "a tile program", target: "a target" } as const;

/** Throws a CompileError (TC702) for what is no kernel: it lacks a part that is needed. */
export function checkKernel(
  kernel: unknown,
  needs: readonly (keyof typeof kernelParts)[] = ["tile", "target"],
): void {
  const missing = needs.filter((part) => !(isObject(kernel) && isObject(kernel[part])));
  if (missing.length === 0) {
    checkTile((kernel as { readonly tile: TileFunc }).tile);
    return;
  }
  const without = missing.map((part) => kernelParts[part]).join(" and ");
  throw new CompileError([
    error("TC702", `the kernel is ${shownValue(kernel)}, without ${without}`, {
      hint: "compile(program) makes a kernel",
    }),
  ]);
}

/** The same of a kernel that is about to run, which leaves no size open (TC107). */
export function checkRunnable(kernel: unknown, needs?: readonly (keyof typeof kernelParts)[]): void {
  checkKernel(kernel, needs);
  const { access } = kernel as { readonly access?: AccessFunc };
  if (access === undefined || looked.has(access)) return;
  throwIfErrors(unbound(access));
  looked.add(access);
}

/** Programs never change: one look is enough. */
const looked = new WeakSet();

/** Throws a CompileError (TC702) for what is no tile program. */
export function checkTile(tile: TileFunc): void {
  if (isVerified(tile) || looked.has(tile)) return;
  throwIfErrors(checkFields("the tile program", tile, { body: bodyField }, { open: true, needs: ["body"] }));
  looked.add(tile);
}
