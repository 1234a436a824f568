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
 * Fault in the form of a schedule, found by {@link shapeFaults}: a failing result with the code of its
 * diagnostic.
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
  /** Returns one result for each part of the rule, with its numbers. The rule holds if all results pass. */
  readonly judge: (tiling: Tiling) => readonly RuleVerdict[];
}
