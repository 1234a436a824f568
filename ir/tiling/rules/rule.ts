/** Interfaces of a tiling rule and its verdicts. */
import type { Code } from "../../codes.js";
import type { DiagnosticData } from "../../diagnostic.js";
import type { ExactWidth } from "../../values/exact-width.js";
import type { Tiling } from "../tiling.js";

/** Name of a tiling rule in diagnostics and explanations. */
export type RuleId =
  "schedule-shape" | "device-limits" | "residency" | "packed-tile" | "full-load" | "ub-budget";

/** Result of a tiling rule for one aspect of a tiling. `detail`: the compared numbers as text. */
export interface RuleVerdict {
  readonly rule: string;
  readonly pass: boolean;
  readonly detail: string;
  readonly source: string;
  /** Meaning of a failing verdict in words, with the dim that it is about; undefined if `detail` says it. */
  readonly meaning?: string | undefined;
  /** Condition under which the program runs although the rule passes; absent if there is none. */
  readonly condition?: string;
  /** The figures of `exact-width`. */
  readonly width?: ExactWidth;
}

/**
 * Fault in the entries of a schedule, with the code of the diagnostic. {@link shapeFaults} returns a list of
 * faults.
 */
export interface ShapeVerdict extends RuleVerdict {
  readonly code: Code;
  readonly hint?: string;
  readonly data?: DiagnosticData;
}

/**
 * Tiling rule: the rule's identifier, the code of the diagnostics, and a function that returns the results
 * for a tiling.
 */
export interface Rule {
  readonly id: RuleId;
  /** Code of the diagnostics that refuse by this rule. */
  readonly code: Code;
  /** One verdict for each part of the rule, with its numbers; whether the rule holds is whether all do. */
  readonly judge: (tiling: Tiling) => readonly RuleVerdict[];
}
