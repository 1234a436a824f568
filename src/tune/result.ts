/**
 * What a search over schedules found: every candidate with its figures or the reason why it has none. Plain values, so that
 * records, pictures and pages are functions of them.
 */
import type {
  AccessFunc,
  Code,
  Func,
  ResolvedSchedule,
  SearchedEntry,
  Roofline,
  Target,
} from "../../ir/index.js";

/** `cycles`: of the clock. `bytes`: of global memory. `ms`: measured. */
export const objectives = ["cycles", "bytes", "ms"] as const;
/** What a search makes small. */
export type Objective = (typeof objectives)[number];

/** What runs the candidates of a measured search: the fast executor, a GPU, or a command of the user's. Without `ms` nothing runs. */
export type TuneBackend = "sim" | "webgpu" | "command";

/** What can come of a candidate. */
export const candidateStatuses = [
  "measured",
  "estimated",
  "pruned",
  "refused",
  "timeout",
  "wrong",
  "error",
] as const;
/** What came of a candidate. */
export type CandidateStatus = (typeof candidateStatuses)[number];

/** What is known of a legal schedule before its clock is read. */
export interface CandidateFacts {
  /** Content hash of the schedule that was chosen, in hexadecimal. */
  readonly id: string;
  /** The schedule that ran. */
  readonly schedule: ResolvedSchedule;
  /** The schedule that was chosen, of which the passes of the search made the one that ran; absent where they are one. */
  readonly given?: ResolvedSchedule;
  /** Cycles, roughly: what ranks candidates before any is costed. */
  readonly estimate: number;
  /** Whether its tile is off the grid: a whole number beside an entry of one of the best tiles. */
  readonly beside: boolean;
  /** Bytes that cross between global memory and the cores. */
  readonly bytes: number;
  /** Bytes of unified buffer, second buffers and padding included: of the kernel once it is costed, of its tile before that. */
  readonly ubBytes: number;
  readonly tasks: number;
  /** Of one output tile. */
  readonly elements: number;
}

/** Figures of the one clock. */
export interface CostFacts extends CandidateFacts, Roofline {
  readonly cycles: number;
  /** Cores that have nothing to do while the others run their last task. */
  readonly idleCores: number;
}

/** Where, when and how long one candidate ran. */
export interface CandidateRun {
  /** What ran it. Milliseconds compare over one device only. */
  readonly device: string;
  /** `search`: when it was found. `run-off`: in turns with the best few and the default. `given`: measured elsewhere. */
  readonly phase: "search" | "run-off" | "given";
  /** Of a run-off: which one, so that its rounds are compared with each other. */
  readonly race?: string;
  /** Of each run, in the order in which they were made; of a run-off, one for each round. */
  readonly nanoseconds: readonly number[];
}

/** A candidate that was costed, and perhaps run. */
export type Candidate =
  | (CostFacts & { readonly status: "estimated" })
  | (CostFacts & {
      readonly status: "measured";
      /** Median of the run-off where there was one, else of the search. */
      readonly ms: number;
      readonly runs: readonly CandidateRun[];
    })
  | (CostFacts & {
      /** `timeout`: longer than its limit. `wrong`: its output is not the operator's. `error`: it did not run. */
      readonly status: "timeout" | "wrong" | "error";
      readonly code: Code;
      readonly reason: string;
    });

/** A legal schedule that was not costed, and why. */
export interface PrunedCandidate extends CandidateFacts {
  readonly status: "pruned";
  readonly reason: string;
}

/** Tiles that no rule takes: one of the smallest. Footprints grow with entries, so it stands for all that are as large along each dim. */
export interface RefusedTiles extends Pick<ResolvedSchedule, Exclude<SearchedEntry, "order">> {
  readonly status: "refused";
  readonly code: Code;
  /** The arithmetic. */
  readonly reason: string;
  /** What it would need of the unified buffer, and what there is. */
  readonly ubBytes: number;
  readonly budget: number;
}

/** The best six and the default in turns. */
export interface RunOff {
  readonly rounds: number;
  /** Ids, the fastest median first. */
  readonly order: readonly string[];
  /** Rounds in which the fastest was faster than the default. */
  readonly won: number;
  /** How likely chance alone gives so many, in a sign test for the number of candidates in the run-off. */
  readonly chance: number;
  /** Whether the fastest is another than the default and chance gives that in fewer than 1 of 20. */
  readonly significant: boolean;
}

/** The best schedule, the default, and an account of every candidate. */
export interface TuneResult {
  readonly name: string;
  /** The program as it was given. */
  readonly program: Func;
  /** The gather as it was searched: its schedule holds what was pinned. */
  readonly gather: AccessFunc;
  readonly target: Target;
  readonly objective: Objective;
  /** The passes by which candidates were compiled, in order; absent for the built-in pipeline. */
  readonly passes?: readonly string[];
  /** Absent where nothing ran. */
  readonly backend?: TuneBackend;
  readonly seed: number;
  /** The default itself where nothing beats it. */
  readonly best: Candidate;
  /** What the compiler chooses without a search. */
  readonly default: Candidate;
  /** Whether `best` is better than `default`; by milliseconds, significantly. */
  readonly beatsDefault: boolean;
  /** One sentence: what was found, against the default. */
  readonly verdict: string;
  readonly counts: Readonly<Record<CandidateStatus, number>>;
  /** Costed candidates, the best first; those without a figure last. */
  readonly candidates: readonly Candidate[];
  /** The rest of the space, the most promising first. */
  readonly pruned: readonly PrunedCandidate[];
  readonly refused: readonly RefusedTiles[];
  readonly space: {
    readonly tiles: number;
    readonly schedules: number;
    /** Whether entries were left out because there are too many tiles; those around the best are searched all the same. */
    readonly thinned: boolean;
  };
  readonly runOff?: RunOff;
  /** False for a search that was aborted or ran out of time. */
  readonly complete: boolean;
}
