/** Requests of the page to its workers, and their answers. */
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

/** Options in the page's drop-down lists: operators of each dialect, targets and out-of-range policies. */
export interface Vocabulary {
  readonly dialects: readonly { readonly name: string; readonly ops: readonly string[] }[];
  readonly targets: readonly { readonly name: string; readonly title: string }[];
  readonly policies: readonly string[];
}

/** Input operand in the program form of the page: the key, and the type as text. */
export interface FormInput {
  readonly key: string;
  /** Type of the operand as text, for example `f32[64,80]`. */
  readonly text: string;
}

/** Operator attribute in the program form of the page: key, help text, permitted words and current value. */
export interface FormAttribute {
  readonly key: string;
  readonly help: string;
  /** Permitted words; absent if any integer is permitted. */
  readonly words?: readonly string[];
  readonly text: string;
}

/** Operator call in the program form of the page: dialect, operator, attributes and out-of-range policy. */
export interface Form {
  readonly dialect: string;
  readonly op: string;
  readonly attributes: readonly FormAttribute[];
  readonly policy: string;
}

/**
 * Schedule change that the page suggests for a refused schedule. The change is given as command-line flags
 * and as schedule entries, with the estimated cycles if known.
 */
export interface Suggestion {
  /** Schedule flags in the syntax of the command line. */
  readonly flags: string;
  readonly entries: readonly ScheduleText[];
  readonly cycles?: number;
}

/**
 * Row of the page's list of schedules: the current schedule or an alternative, with flags and estimated
 * cycles.
 */
export interface Compared {
  /** Reason why the schedule is listed, or its difference from the schedule that is shown. */
  readonly why: string;
  /** Schedule flags in the syntax of the command line; empty for the schedule that is shown. */
  readonly flags: string;
  readonly entries: readonly ScheduleText[];
  readonly cycles: number;
}

/**
 * Legality result of a function with a schedule: legal or refused, with diagnostics, an explanation and
 * suggested schedules.
 */
export interface Verdict {
  readonly legal: boolean;
  /** Result in words, with the main number: the cycles, or the bytes above the limit. */
  readonly headline: string;
  /** Code of the first error; empty if there is none. */
  readonly code: string;
  readonly diagnostics: readonly Diagnostic[];
  /** Explanation of the result; absent if the text is not a valid program, as `diagnostics` then says. */
  readonly explained?: Pick<
    Explanation,
    "schedule" | "judgedTile" | "map" | "rules" | "sizes" | "footprint" | "traffic" | "cycles"
  > & {
    /** The line that says how the verdict turns under PyPTO's pages; absent where it does not. */
    readonly turned?: string;
    /** Cycles of the schedule relative to the lower bound, in words. */
    readonly standing: string;
    /** Pipe, or global memory, that is busy longest, and its share of the cycles, in words. */
    readonly bottleneck: string;
    /** The arithmetic where no tile at all is legal. */
    readonly infeasible?: string;
  };
  /** The nearest legal schedules first; ways out where no tile is legal. */
  readonly suggestions: readonly Suggestion[];
}

/**
 * Content that the page displays for one function of a module: types, schedule, operator call and legality
 * result. `names` has the names of all functions of the module.
 */
export interface Shown {
  readonly names: readonly string[];
  readonly name?: string;
  readonly level?: Level;
  readonly target?: string;
  /** Schedule as written in the program text. */
  readonly schedule: Schedule;
  readonly inputs: readonly FormInput[];
  /** Extents that the schedule splits into tiles: the output of a gather, or the domain of a scatter. */
  readonly extents: Shape;
  readonly symbols: readonly Sym[];
  readonly form?: Form;
  readonly verdict: Verdict;
  /** Absent where the schedule is none, and for a tile program. */
  readonly stops?: Stops;
  /** Everything that legal tiles depend on. */
  readonly space: string;
}

/** Diagnostic with the range in the program text, and a fix (a text replacement) if there is one. */
export interface Problem {
  readonly diagnostic: Diagnostic;
  readonly range: TextRange;
  readonly fix?: { readonly title: string; readonly range: TextRange; readonly text: string };
}

/** Completion that the editor offers: the text to insert and a short description. */
export interface Completion {
  readonly label: string;
  readonly detail: string;
}

/**
 * Rectangular region of a tensor or a buffer that a statement accesses. `write` is true for a write and false
 * for a read. Offsets and sizes are in elements, one per dim.
 */
export interface Box {
  readonly name: string;
  readonly offsets: readonly number[];
  readonly sizes: readonly number[];
  readonly write: boolean;
}

/** Executed statement of a tile program, with the regions that the statement reads and writes. */
export interface RunStep {
  readonly op: Step["op"];
  /** Number of the task, from 0. */
  readonly task: number;
  readonly text: string;
  /** Values of the loop variables. */
  readonly loops: readonly (readonly [name: string, value: number])[];
  readonly boxes: readonly Box[];
  /** Region of the output tensor that the gather makes. */
  readonly made?: Pick<Box, "offsets" | "sizes">;
}

/** Tensor in global memory (`gm`) or buffer in the unified buffer (`ub`), for the Steps tab. */
export interface StepTensor {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
  readonly space: "gm" | "ub";
  /** Elements as texts; absent if the tensor has too many to be shown. */
  readonly values?: readonly string[];
}

/**
 * Trace of a tile program for the Steps tab: the first statements in execution order, and the program's
 * tensors and buffers.
 */
export interface Steps {
  readonly steps: readonly RunStep[];
  /** True if the program has more steps. */
  readonly more: boolean;
  readonly tensors: readonly StepTensor[];
}

/**
 * Origin of one output element of a gather: the index values that select the data element, and the
 * coordinates of the data element.
 */
export interface Picked {
  readonly out: readonly number[];
  readonly sites: readonly {
    readonly table: string;
    readonly at: readonly number[];
    readonly value: string;
  }[];
  /** Coordinates in the data; absent if the out-of-range policy selects no element. */
  readonly from?: readonly number[];
}

/** Result of a run of a program on one backend: done, refused with diagnostics, or absent (no device). */
export interface BackendAnswer {
  readonly backend: BackendName;
  readonly status: "done" | "refused" | "absent";
  /** Machine that ran the kernel for this backend. */
  readonly on: string;
  /** Milliseconds of the call. */
  readonly ms?: number;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Result of a run of a program on the reference, the simulator and WebGPU, with a comparison of the outputs.
 */
export interface RunAnswer {
  readonly backends: readonly BackendAnswer[];
  /** True if all backends that ran gave the same bits, or rejected the same index. */
  readonly sameBits: boolean;
  readonly inputs: string;
  readonly output: { readonly type: string; readonly first: readonly string[]; readonly more: boolean };
  readonly times?: {
    readonly tilec: number;
    readonly plain: number;
    /** Description of the clock that measured both times of a launch, which are in nanoseconds. */
    readonly clock: string;
  };
}

/**
 * Program text and input tensors of an opened file or gallery example. `inputs`: input tensors by function
 * name. `func`: name of the function whose input an opened array file sets; absent for any other file and for
 * an example.
 */
export interface Opened {
  readonly text: string;
  readonly func?: string;
  readonly inputs: Readonly<Record<string, Inputs>>;
  /** Notes on the actions taken, and on the parts of the file that were left out. */
  readonly notes: readonly string[];
}

/**
 * Request for work on a program with input tensors. Inputs that are not given have random values from `seed`.
 */
export interface WithInputs extends Asked {
  readonly inputs: Inputs;
  readonly seed: number;
}

/**
 * Formats in which the page copies a program: `tilec explain` command line (`cli`), library code, conformance
 * case, or `.tir` text.
 */
export const copyForms = ["cli", "library", "case", "tir"] as const;
/** Format in which the page copies a program; see {@link copyForms}. */
export type CopyForm = (typeof copyForms)[number];

/** Result of a schedule search from the Tune tab: the best schedule as text and as command-line flags. */
export interface Tuned {
  readonly result: TuneResult;
  /** Best schedule, in the text form. */
  readonly schedule: string;
  /** Cycles of the best schedule relative to the lower bound, in words. */
  readonly standing: string;
  /** Flags that lead from the current schedule to the best one. */
  readonly flags: string;
}

/** Map from the kind of a worker request to the types of the request (`ask`) and the result (`answer`). */
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

/**
 * Context of a worker request: a signal that aborts the request, and a callback that reports progress in
 * steps.
 */
export interface Context {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number, label: string) => void;
}

/** Kind of a request to a worker; see {@link Work}. */
export type Kind = keyof Work;

/** Message to a worker: a new request with an id, or the order to stop the request with that id. */
export type ToWorker =
  | { readonly id: number; readonly kind: Kind; readonly ask: unknown }
  | { readonly id: number; readonly kind: "stop" };

/**
 * Message from a worker about the request with an id: the result, the progress, or the reason why the request
 * failed.
 */
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
