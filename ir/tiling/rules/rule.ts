/** What a rule of tiling is. */
import type { Code } from "../../codes.js";
import type { DiagnosticData } from "../../diagnostic.js";
import type { ExactWidth } from "../../values/exact-width.js";
import type { Tiling } from "../tiling.js";

/** A rule's name in diagnostics and explanations. */
export type RuleId =
  "schedule-shape" | "device-limits" | "residency" | "packed-tile" | "full-load" | "ub-budget";

/** One line of a rule's judgement, with its numbers and where the rule is written. */
export interface RuleVerdict {
  readonly rule: string;
  readonly pass: boolean;
  readonly detail: string;
  readonly source: string;
  /** The figures of `exact-width`. */
  readonly width?: ExactWidth;
}

/** A fault of a schedule's form, as its own diagnostic. */
export interface ShapeVerdict extends RuleVerdict {
  readonly code: Code;
  readonly hint?: string;
  readonly data?: DiagnosticData;
}

/** A tiling rule: where it is written, and its verdict over a tiling. */
export interface Rule {
  readonly id: RuleId;
  /** Of the diagnostics that refuse by it. */
  readonly code: Code;
  /** One verdict for each part of the rule, with its numbers; whether the rule holds is whether all do. */
  readonly judge: (tiling: Tiling) => readonly RuleVerdict[];
}
