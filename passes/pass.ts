/** A pass is a pure function from a function to a function, with what it requires and ensures spelled out. */
import type { Diagnostic } from "../ir/diagnostic.js";
import type { Func } from "../ir/func.js";
import type { Target } from "../ir/target.js";
import { Tilings } from "../ir/tiling/index.js";
import type { Property } from "../ir/verify/property.js";

/** What a pass may read and where it reports. */
export interface PassContext {
  readonly target: Target;
  /** Passes report here; an error stops the pipeline after the pass. */
  readonly report: (diagnostic: Diagnostic) => void;
  /** What a gather means under its schedule: tiles, footprint, loops, traffic. */
  readonly tilings: Tilings;
}

/** A context of its own, for passes that are run one by one. */
export const contextFor = (target: Target, report: PassContext["report"] = () => undefined): PassContext => ({
  target,
  report,
  tilings: new Tilings(target),
});

/** A pure function over functions, with what it requires and ensures. */
export interface Pass {
  readonly name: string;
  /** One line for `tilec opt --help` and the docs. */
  readonly summary: string;
  readonly requires: readonly Property[];
  readonly ensures: readonly Property[];
  /** Of a pass that was loaded: the file it comes from, and the text by which records tell its versions apart. */
  readonly origin?: { readonly file: string; readonly text: string };
  /** The function after the pass; its argument when there is nothing to do. */
  run(func: Func, context: PassContext): Func;
}

/** Whether a value from outside TypeScript's sight is a pass. */
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

/** Freezes the declaration; exists so that a pass file reads as one sentence. */
export const definePass = (pass: Pass): Pass => Object.freeze(pass);
