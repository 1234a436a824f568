/** A pass is a pure function from a function to a function, with what it requires and ensures spelled out. */
import type { Diagnostic } from "../ir/diagnostic.js";
import type { Func } from "../ir/func.js";
import type { Target } from "../ir/target.js";
import { Tilings } from "../ir/tiling/index.js";
import type { Property } from "../ir/verify/property.js";

/**
 * Data that the pipeline passes to each pass: the target, the function that reports diagnostics, and a cache
 * of tilings.
 */
export interface PassContext {
  readonly target: Target;
  /** Reports a diagnostic; an error stops the pipeline after the pass. */
  readonly report: (diagnostic: Diagnostic) => void;
  /** Tilings of gathers under their schedules: tiles, footprint, loops, traffic. */
  readonly tilings: Tilings;
}

/**
 * Returns a new context for passes outside a pipeline. Diagnostics go to `report`; the default discards
 * diagnostics.
 */
export const contextFor = (target: Target, report: PassContext["report"] = () => undefined): PassContext => ({
  target,
  report,
  tilings: new Tilings(target),
});

/**
 * Compiler pass: a pure function that transforms a program function. `requires` lists the properties of the
 * input, and `ensures` the properties of the result.
 */
export interface Pass {
  readonly name: string;
  /** One line for `tilec opt --help` and the docs. */
  readonly summary: string;
  readonly requires: readonly Property[];
  readonly ensures: readonly Property[];
  /** Origin of a pass that was loaded: its file, and the text by which records tell its versions apart. */
  readonly origin?: { readonly file: string; readonly text: string };
  /** The function after the pass; its argument when there is nothing to do. */
  run(func: Func, context: PassContext): Func;
}

/** True if a value of unknown type has the members of a pass. The check does not run the pass. */
export function isPass(value: unknown): value is Pass {
  const pass = value as Partial<Pass> | null;
  return (
    typeof pass === "object" &&
    typeof pass?.name === "string" &&
    typeof pass.run === "function" &&
    Array.isArray(pass.requires) &&
    Array.isArray(pass.ensures)
  );
}

/** Freezes and returns a pass object. */
export const definePass = (pass: Pass): Pass => Object.freeze(pass);
