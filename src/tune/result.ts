/**
 * Result of a search over schedules: every candidate with its figures, or the reason why it has none. The
 * values are plain, so that records, pictures and pages are functions of them.
 */
import type {
  AccessFunc,
  Code,
  Diagnostic,
  Func,
  ResolvedSchedule,
  SearchedEntry,
  Roofline,
  Target,
} from "../../ir/index.js";

/**
 * Names of the quantities that a search can minimize. `cycles`: cycles estimated by the cost model. `bytes`:
 * bytes moved to and from global memory. `ms`: measured milliseconds.
 */
export const objectives = ["cycles", "bytes", "ms"] as const;
/** Quantity that a search minimizes; see {@link objectives}. */
export type Objective = (typeof objectives)[number];

/**
 * Backend that runs the candidates of a search with the objective `ms`: the fast executor, a GPU, or a
 * command of the user.
 */
export type TuneBackend = "sim" | "webgpu" | "command";

/** Names of the possible outcomes of a candidate in a search. */
export const candidateStatuses = [
  "measured",
  "estimated",
  "pruned",
  "refused",
  "timeout",
  "wrong",
  "error",
] as const;
/** Outcome of a candidate in a search. */
export type CandidateStatus = (typeof candidateStatuses)[number];

/**
 * Properties of a legal schedule that are known before its full cost: id, roughly estimated cycles
 * (`estimate`), bytes moved and number of tasks.
 */
export interface CandidateFacts {
  /** Id of the chosen schedule: the first 16 hexadecimal digits of a hash. */
  readonly id: string;
  /** Schedule that ran: the chosen schedule after the user's passes. */
  readonly schedule: ResolvedSchedule;
  /** Chosen schedule, before the user's passes; absent if equal to `schedule`. */
  readonly given?: ResolvedSchedule;
  /** Rough estimate of the cycles, which ranks candidates before the cost model is used. */
  readonly estimate: number;
  /**
   * True if the tile is off the grid of entries: it has a whole number beside an entry of one of the best
   * tiles.
   */
  readonly beside: boolean;
  /** Bytes that cross between global memory and the cores. */
  readonly bytes: number;
  /**
   * Bytes of unified buffer, second buffers and padding included: of the kernel once it is costed, of its
   * tile before that.
   */
  readonly ubBytes: number;
  readonly tasks: number;
  /** Elements of one output tile. */
  readonly elements: number;
}

/** Properties of a candidate with the results of the cost model: cycles, idle cores and roofline. */
export interface CostFacts extends CandidateFacts, Roofline {
  readonly cycles: number;
  /** Cores that have nothing to do while the others run their last task. */
  readonly idleCores: number;
}

/**
 * Measured times of one candidate on one device. `phase` says where the times are from: the search, the
 * run-off (final round-robin comparison), or a measurement outside tilec.
 */
export interface CandidateRun {
  /** Device that ran the candidate. Milliseconds are comparable on one device only. */
  readonly device: string;
  /**
   * `search`: during the search. `run-off`: in the final round-robin comparison with the default. `given`:
   * measured outside tilec.
   */
  readonly phase: "search" | "run-off" | "given";
  /** Identifier of the run-off, so that its rounds are compared only with each other. */
  readonly race?: string;
  /** Nanoseconds of each run, in the order in which the runs were made; of a run-off, one for each round. */
  readonly nanoseconds: readonly number[];
}

/** Candidate that a search costed: estimated by the cost model, measured, or failed when run. */
export type Candidate =
  | (CostFacts & { readonly status: "estimated" })
  | (CostFacts & {
      readonly status: "measured";
      /** Median time in milliseconds: of the run-off if the candidate took part, else of the search. */
      readonly ms: number;
      readonly runs: readonly CandidateRun[];
    })
  | (CostFacts & {
      /**
       * `timeout`: longer than its limit. `wrong`: its output is not the operator's. `error`: it did not run.
       */
      readonly status: "timeout" | "wrong" | "error";
      readonly code: Code;
      readonly reason: string;
    });

/** Legal schedule that a search did not cost, with the reason. */
export interface PrunedCandidate extends CandidateFacts {
  readonly status: "pruned";
  readonly reason: string;
}

/**
 * Smallest refused tile for one view, residency and number of buffers. Every tile that is at least as large
 * along each dim is refused too.
 */
export interface RefusedTiles extends Pick<ResolvedSchedule, Exclude<SearchedEntry, "order">> {
  readonly status: "refused";
  readonly code: Code;
  /** Rule that the tile breaks, with its numbers, as text. */
  readonly reason: string;
  /** Bytes of the unified buffer that the tile would need; `budget` has the bytes that are available. */
  readonly ubBytes: number;
  readonly budget: number;
}

/**
 * Result of a run-off, the final comparison of a measured search. The six fastest candidates and the default
 * schedule run in turns, for several rounds.
 */
export interface RunOff {
  readonly rounds: number;
  /** Candidate ids in ascending order of median time. */
  readonly order: readonly string[];
  /** Number of rounds in which the fastest candidate was faster than the default schedule. */
  readonly won: number;
  /**
   * Probability that chance alone wins `won` rounds or more, by a sign test for the number of candidates in
   * the run-off.
   */
  readonly chance: number;
  /** True if the fastest is not the default, and chance gives that result in fewer than 1 of 20 cases. */
  readonly significant: boolean;
}

/** Result of a search: the best schedule, the default schedule, and the outcome of every candidate. */
export interface TuneResult {
  readonly name: string;
  /** Program that the caller passed to the search. */
  readonly program: Func;
  /** Gather whose schedules were searched. Its schedule has the entries that the user fixed. */
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
  /** Candidate that the compiler chooses without a search; with `refusal`, under residency `auto`. */
  readonly default: Candidate;
  /**
   * Error by which the compiler refuses the program without a residency: the program has no default then.
   * Absent if the compiler does not refuse it.
   */
  readonly refusal?: Diagnostic;
  /** True if `best` is better than `default`; by milliseconds, significantly better. */
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
    /**
     * True if entries were left out because there are too many tiles. Entries around the best tiles are
     * searched nevertheless.
     */
    readonly thinned: boolean;
  };
  readonly runOff?: RunOff;
  /** False for a search that was aborted or ran out of time. */
  readonly complete: boolean;
}
