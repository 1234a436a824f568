/** What the page asks of its workers, and what they answer. */
import type { Step } from "../../../ir/clock/execution.js";
import type { Diagnostic, DType, Level, Schedule, Shape, Sym } from "../../../ir/index.js";
import type { BackendName, Explanation } from "../../../src/index.js";
import type { TextRange } from "../../../src/lsp/analysis.js";
import type { Timeline } from "../../../src/report/index.js";
import type { TuneResult, Objective } from "../../../src/tune/result.js";
import type { Inputs } from "../page-state.js";
import type { ScheduleText } from "./flags.js";
import type { Asked, Change } from "./program.js";
import type { Stops } from "./stops.js";

/** Names that forms offer and the editor completes. */
export interface Vocabulary {
  readonly dialects: readonly { readonly name: string; readonly ops: readonly string[] }[];
  readonly targets: readonly { readonly name: string; readonly title: string }[];
  readonly policies: readonly string[];
}

export interface FormInput {
  readonly key: string;
  /** `f32[64,80]` */
  readonly text: string;
}

export interface FormAttribute {
  readonly key: string;
  readonly help: string;
  /** Absent: any whole number. */
  readonly words?: readonly string[];
  readonly text: string;
}

/** A source program as a form. */
export interface Form {
  readonly dialect: string;
  readonly op: string;
  readonly attributes: readonly FormAttribute[];
  readonly policy: string;
}

export interface Suggestion {
  /** As the command line takes it. */
  readonly flags: string;
  readonly entries: readonly ScheduleText[];
  readonly cycles?: number;
}

/** A schedule beside the one that the page shows. */
export interface Compared {
  /** Why it is listed, or what is other in it. */
  readonly why: string;
  /** As the command line takes it; empty for the schedule that is shown. */
  readonly flags: string;
  readonly entries: readonly ScheduleText[];
  readonly cycles: number;
}

export interface Verdict {
  readonly legal: boolean;
  /** Of the first error; empty where there is none. */
  readonly code: string;
  readonly diagnostics: readonly Diagnostic[];
  /** Absent where the program is none: the diagnostics say why. */
  readonly explained?: Pick<
    Explanation,
    "schedule" | "judgedTile" | "map" | "rules" | "sizes" | "footprint" | "traffic" | "cycles"
  > & {
    /** The line that says how the verdict turns under PyPTO's pages; absent where it does not. */
    readonly turned?: string;
    /** How its cycles stand to the least, in words. */
    readonly standing: string;
    /** What is busy longest, and for which share of the cycles, in words. */
    readonly bottleneck: string;
    /** The arithmetic where no tile at all is legal. */
    readonly infeasible?: string;
  };
  /** The nearest legal schedules first; ways out where no tile is legal. */
  readonly suggestions: readonly Suggestion[];
}

/** What the page shows of one function of a text. */
export interface Shown {
  readonly names: readonly string[];
  readonly name?: string;
  readonly level?: Level;
  readonly target?: string;
  /** As it is written. */
  readonly schedule: Schedule;
  readonly inputs: readonly FormInput[];
  readonly output: Shape;
  readonly symbols: readonly Sym[];
  readonly form?: Form;
  readonly verdict: Verdict;
  /** Absent where the schedule is none, and for a tile program. */
  readonly stops?: Stops;
  /** Everything that legal tiles depend on. */
  readonly space: string;
}

/** A diagnostic at its place in the text. */
export interface Problem {
  readonly diagnostic: Diagnostic;
  readonly range: TextRange;
  readonly fix?: { readonly title: string; readonly range: TextRange; readonly text: string };
}

export interface Completion {
  readonly label: string;
  readonly detail: string;
}

/** A box of a tensor or a buffer, in elements. */
export interface Box {
  readonly name: string;
  readonly offsets: readonly number[];
  readonly sizes: readonly number[];
  readonly write: boolean;
}

export interface RunStep {
  readonly op: Step["op"];
  /** From 0. */
  readonly task: number;
  readonly text: string;
  /** Values of the loop variables. */
  readonly loops: readonly (readonly [name: string, value: number])[];
  readonly boxes: readonly Box[];
  /** What the gather makes, as a box of the output tensor. */
  readonly made?: Pick<Box, "offsets" | "sizes">;
}

export interface StepTensor {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
  readonly space: "gm" | "ub";
  /** One text an element, of tensors small enough to be read. */
  readonly values?: readonly string[];
}

export interface Steps {
  readonly steps: readonly RunStep[];
  /** Whether the program has more. */
  readonly more: boolean;
  readonly tensors: readonly StepTensor[];
}

/** Where one element of the output comes from. */
export interface Picked {
  readonly out: readonly number[];
  readonly sites: readonly {
    readonly table: string;
    readonly at: readonly number[];
    readonly value: string;
  }[];
  /** In the data; absent where the policy gives no element. */
  readonly from?: readonly number[];
}

export interface BackendAnswer {
  readonly backend: BackendName;
  readonly status: "done" | "refused" | "absent";
  /** What ran it. */
  readonly on: string;
  /** Milliseconds of the call. */
  readonly ms?: number;
  readonly diagnostics: readonly Diagnostic[];
}

export interface RunAnswer {
  readonly backends: readonly BackendAnswer[];
  /** Whether all that ran agree, bit for bit; an index that all refuse alike is an agreement too. */
  readonly sameBits: boolean;
  readonly inputs: string;
  readonly output: { readonly type: string; readonly first: readonly string[]; readonly more: boolean };
  readonly times?: {
    readonly tilec: number;
    readonly plain: number;
    /** Of a launch: both nanoseconds by the same clock. */
    readonly clock: string;
  };
}

export interface Opened {
  readonly text: string;
  readonly func?: string;
  readonly inputs: Readonly<Record<string, Inputs>>;
  /** What was done, and what of the file was left out. */
  readonly notes: readonly string[];
}

export interface WithInputs extends Asked {
  readonly inputs: Inputs;
  readonly seed: number;
}

export const copyForms = ["cli", "library", "case", "tir"] as const;
export type CopyForm = (typeof copyForms)[number];

export interface Tuned {
  readonly result: TuneResult;
  /** Of the best, as the text has it. */
  readonly schedule: string;
  /** How the cycles of the best stand to the least, in words. */
  readonly standing: string;
  /** What leads to it from the schedule at hand. */
  readonly flags: string;
}

/** By name: what is asked, and what is answered. */
export interface Work {
  readonly vocabulary: { readonly ask: null; readonly answer: Vocabulary };
  readonly show: { readonly ask: Asked; readonly answer: Shown };
  readonly edit: {
    readonly ask: Asked & { readonly change: Change };
    readonly answer: { readonly text: string; readonly shown: Shown };
  };
  readonly problems: { readonly ask: { readonly text: string }; readonly answer: readonly Problem[] };
  readonly complete: {
    readonly ask: { readonly text: string; readonly line: number; readonly column: number };
    readonly answer: { readonly from: number; readonly options: readonly Completion[] } | null;
  };
  readonly hover: {
    readonly ask: { readonly text: string; readonly line: number; readonly column: number };
    readonly answer: string | null;
  };
  readonly example: { readonly ask: { readonly id: string }; readonly answer: Opened };
  readonly passes: { readonly ask: Asked; readonly answer: string };
  readonly code: {
    readonly ask: Asked & { readonly form: "tile-ir" | "wgsl" | "pto" };
    readonly answer: string;
  };
  readonly copy: { readonly ask: WithInputs & { readonly form: CopyForm }; readonly answer: string };
  readonly timeline: { readonly ask: Asked; readonly answer: Timeline };
  /** By cycles, the fewest first; empty where nothing compares. */
  readonly compared: { readonly ask: Asked; readonly answer: readonly Compared[] };
  readonly space: { readonly ask: Asked; readonly answer: TuneResult };
  readonly steps: { readonly ask: WithInputs; readonly answer: Steps };
  readonly picks: {
    readonly ask: WithInputs & { readonly box: Pick<Box, "offsets" | "sizes"> };
    readonly answer: readonly Picked[];
  };
  readonly run: { readonly ask: WithInputs; readonly answer: RunAnswer };
  readonly tune: {
    readonly ask: WithInputs & { readonly objective: Objective; readonly budget: number };
    readonly answer: Tuned;
  };
  readonly open: {
    readonly ask: Asked & {
      readonly name: string;
      readonly bytes: Uint8Array;
      readonly inputs: Readonly<Record<string, Inputs>>;
    };
    readonly answer: Opened;
  };
}

/** What work that may take long is given. */
export interface Context {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number, label: string) => void;
}

export type Kind = keyof Work;

export type ToWorker =
  | { readonly id: number; readonly kind: Kind; readonly ask: unknown }
  | { readonly id: number; readonly kind: "stop" };

export type FromWorker =
  | { readonly id: number; readonly state: "done"; readonly answer: unknown }
  | {
      readonly id: number;
      readonly state: "progress";
      readonly done: number;
      readonly total: number;
      readonly label: string;
    }
  | { readonly id: number; readonly state: "stopped" }
  | { readonly id: number; readonly state: "refused"; readonly diagnostics: readonly Diagnostic[] }
  /** A bug of ours. */
  | { readonly id: number; readonly state: "failed"; readonly message: string };
