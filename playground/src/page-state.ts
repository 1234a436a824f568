/** All that a link to the page reproduces. */
import type { Sizes } from "../../ir/symbols/symbols.js";
import type { TensorValue } from "../../src/formats/tensor.js";

/** Names of the result tabs, in display order. */
export const tabs = ["ir", "tile-ir", "wgsl", "pto", "timeline", "steps", "tune"] as const;
/** Name of a result tab; see {@link tabs}. */
export type Tab = (typeof tabs)[number];

/** Input tensors of one function, by operand key, for example `data` or `indices`. */
export type Inputs = Readonly<Record<string, TensorValue>>;

/**
 * State of the playground page that a link stores: program text, shown function, symbol sizes, result tab and
 * inputs.
 */
export interface PageState {
  /** Program text (`.tir`). */
  readonly text: string;
  /** Name of the shown function. If absent or not in the text, the page shows the first function. */
  readonly func?: string;
  /** Sizes of the program's symbols in elements, by name. */
  readonly sizes: Sizes;
  readonly tab: Tab;
  /** Seed of the inputs that are not given. */
  readonly seed: number;
  /** Inputs that came with a program, by the names of its functions. */
  readonly inputs: Readonly<Record<string, Inputs>>;
}

/** Page state without a program. Its values are also the defaults for fields that a link lacks. */
export const emptyState: PageState = { text: "", sizes: {}, tab: "ir", seed: 1, inputs: {} };

/** Maximum length of a program text in a link or of a dropped `.tir` file, in characters. */
export const maxText = 200_000;

/** True if the value is an object, but neither null nor an array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
