/** All that a link to the page reproduces. */
import type { Sizes } from "../../ir/symbols/symbols.js";
import type { TensorValue } from "../../src/formats/tensor.js";

export const tabs = ["ir", "tile-ir", "wgsl", "pto", "timeline", "steps", "tune"] as const;
export type Tab = (typeof tabs)[number];

/** Tensors by the keys of operands. */
export type Inputs = Readonly<Record<string, TensorValue>>;

export interface PageState {
  /** The program as `.tir`. */
  readonly text: string;
  /** The function that the page shows; the first where it is absent, or no longer in the text. */
  readonly func?: string;
  /** Of the program's symbols, in elements, by name. */
  readonly sizes: Sizes;
  readonly tab: Tab;
  /** Of the inputs that are not given. */
  readonly seed: number;
  /** What came with a program, by the names of its functions. */
  readonly inputs: Readonly<Record<string, Inputs>>;
}

export const emptyState: PageState = { text: "", sizes: {}, tab: "ir", seed: 1, inputs: {} };

/** Characters of a program that a link may hold. */
export const maxText = 200_000;

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
